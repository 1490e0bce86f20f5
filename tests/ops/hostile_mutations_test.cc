// The nodes that the other tests ran, with a few things changed in each: every one ends in a result or an Error, in the
// same one however it is run. What the program's filter leaves out is not varied; ORTOLAN_HOSTILE_SECONDS makes it a
// soak. With ORTOLAN_TEST_VERSIONS, the opsets in which the tests ran each operator are printed.
#include <algorithm>
#include <map>
#include <set>

#include "hostile_mutation.h"

namespace ortolan::test {
namespace {

constexpr int64_t kMostElements = 4096;
constexpr size_t kCasesKept = 12;  // of one operator

int64_t size_of(const NodeCase& node) {
  int64_t count = 0;
  for (const auto& input : node.inputs) count += input && input->is_tensor() ? input->tensor().element_count() : 0;
  return count;
}

/** Keeps what the tests run, and varies it when all have ended. */
class Mutations : public ::testing::Environment {
 public:
  void SetUp() override {
    set_case_observer([this](const NodeCase& node, size_t outputs, bool deterministic) {
      auto& cases = cases_[join(node.domain, ":", node.op)];
      versions_[join(node.domain, ":", node.op)].insert(node.opset);
      if (size_of(node) > kMostElements) return;
      HostileNode kept{node, outputs, deterministic};
      if (cases.size() < kCasesKept) return cases.push_back(std::move(kept));
      cases[seen_++ % kCasesKept] = std::move(kept);
    });
  }

  void TearDown() override {
    set_case_observer({});
    for (const auto& [name, versions] : versions_) {
      if (std::getenv("ORTOLAN_TEST_VERSIONS") == nullptr) break;
      std::printf("tested %s", name.c_str());
      for (int version : versions) std::printf(" %d", version);
      std::printf("\n");
    }
    std::vector<const std::vector<HostileNode>*> varied;
    int64_t kept = 0, drawn = 0, ran = 0;
    for (const auto& [name, cases] : cases_) {
      if (!cases.empty()) varied.push_back(&cases);
      kept += static_cast<int64_t>(cases.size());
    }
    uint32_t seed = test_seed();
    for (HostileTurns turns(std::min<int64_t>(8000, 16 * kept)); kept > 0 && turns.next();) {
      const std::vector<HostileNode>& cases = *varied[drawn++ % varied.size()];
      ++seed;
      ran += run_hostile(mutated(cases[seed % cases.size()], seed));
    }
    if (drawn > 0) report_hostile("mutated nodes", ran, drawn);
  }

 private:
  std::map<std::string, std::vector<HostileNode>> cases_;
  std::map<std::string, std::set<int>> versions_;
  size_t seen_ = 0;
};

const auto* const kMutations = ::testing::AddGlobalTestEnvironment(new Mutations);

}  // namespace
}  // namespace ortolan::test
