// Nodes of every operator with random types, shapes, values and attributes, most of them wrong: each ends in a result
// or an Error, in the same one however it is run. ORTOLAN_HOSTILE_SECONDS makes it a soak, ORTOLAN_HOSTILE_OPS draws
// only operators with one of these names (a comma between them), and ORTOLAN_HOSTILE_COUNT=1 with the seed that a
// report tells as ORTOLAN_TEST_SEED draws that node alone.
#include <cstdlib>

#include "hostile_draw.h"

namespace ortolan::test {
namespace {

std::vector<std::vector<const ops::SchemaRow*>> drawn_operators() {
  auto operators = all_operators();
  const char* wanted = std::getenv("ORTOLAN_HOSTILE_OPS");
  if (wanted == nullptr) return operators;
  std::string names = join(",", wanted, ",");
  std::erase_if(operators, [&](const auto& rows) { return names.find(join(",", rows[0]->name, ",")) == names.npos; });
  return operators;
}

TEST(HostileNodes, EndInAResultOrAnError) {
  auto operators = drawn_operators();
  ASSERT_FALSE(operators.empty());
  std::vector<int> drawn(operators.size()), ran(operators.size());
  uint32_t seed = test_seed();
  for (HostileTurns turns(12000); turns.next(); ++seed) {
    size_t i = seed % operators.size();
    HostileNode hostile = Draw(seed).node(operators[i]);
    hostile.seed = seed;
    ++drawn[i];
    ran[i] += run_hostile(hostile);
  }
  int total = 0;
  for (size_t i = 0; i < operators.size(); ++i) {
    total += ran[i];
    if (std::getenv("ORTOLAN_HOSTILE_TABLE") == nullptr) continue;
    std::printf("%s:%s ran %d of %d\n", operators[i][0]->domain, operators[i][0]->name, ran[i], drawn[i]);
  }
  report_hostile("random nodes", total, seed - test_seed());
}

}  // namespace
}  // namespace ortolan::test
