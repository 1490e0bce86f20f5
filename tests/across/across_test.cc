// Nodes that are alike compute in one model what each computes alone: however the model is loaded, by any number of
// threads, in either order of execution, again, in two sessions at once, by several callers of one, and where packed
// weights are shared.
#include <gtest/gtest.h>
#include <tuple>

#include <cstdlib>
#include <cstring>
#include <latch>
#include <map>
#include <random>
#include <thread>

#include "alike_models.h"
#include "base/cpu_features.h"
#include "base/threads/processor_count.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::across {
namespace {

constexpr size_t kWaysOfPair = 1, kWaysOfAll = 6;

/** Of how many places a model comes from one: tiles may be emulated, and sanitizers are slow. */
size_t places_apart() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return 12;
#else
  return cpu::kernels::kernels().split_f32 != nullptr ? 6 : 1;
#endif
}

// Files in which weights are aligned, and others.
constexpr Place kPlaces[] = {{Source::kGraph},        {Source::kBytes},           {Source::kBytes, 1},
                             {Source::kBytesInPlace}, {Source::kBytesInPlace, 1}, {Source::kFile},
                             {Source::kFile, 1},      {Source::kFile, 2},         {Source::kFile, 3},
                             {Source::kExternalFile}, {Source::kExternalFile, 2}, {Source::kOrtFormat},
                             {Source::kPrepared},     {Source::kPrepared, 1}};

/** Printed, so that a failure can be repeated; ORTOLAN_TEST_SEED sets it. */
uint32_t seed() {
  const char* text = std::getenv("ORTOLAN_TEST_SEED");
  const auto value = text != nullptr ? static_cast<uint32_t>(std::strtoul(text, nullptr, 10)) : std::random_device{}();
  std::printf("ORTOLAN_TEST_SEED=%u\n", value);
  return value;
}

/** What decides results besides the model, as rewriting and less exact products may round otherwise. */
struct Arithmetic {
  RewriteLevel level = RewriteLevel::kNone;
  std::string precision = "default";
  auto operator<=>(const Arithmetic&) const = default;
};

/** A way of running. */
struct Way {
  int threads = 1;
  bool parallel = false, shares_packed = false;
  Arithmetic arithmetic = {};

  SessionOptions options() const {
    SessionOptions options;
    options.mode = parallel ? ExecutionMode::kParallel : ExecutionMode::kSequential;
    options.intra_op_threads = threads;
    options.inter_op_threads = 2;
    options.level = arithmetic.level;
    options.config["ortolan.cpu.fp32_precision"] = arithmetic.precision;
    return options;
  }
  std::string name() const {
    return join(threads, parallel ? " threads, parallel" : " threads", shares_packed ? ", packed weights shared" : "",
                ", level ", arithmetic.level, ", precision ", arithmetic.precision);
  }
};

std::vector<Way> all_ways() {
  std::vector<Way> ways;
  for (int threads : {1, 2, 16}) {
    for (bool parallel : {false, true}) {
      for (bool shares : {false, true}) {
        for (RewriteLevel level : {RewriteLevel::kNone, RewriteLevel::kAll}) {
          for (const char* precision : {"default", "exact"})
            ways.push_back({threads, parallel, shares, {level, precision}});
        }
      }
    }
  }
  return ways;
}

/** Runs models and compares their results with those of each node alone. */
class AcrossTest : public testing::Test {
 protected:
  void SetUp() override {
    const char* wanted = std::getenv("ORTOLAN_CPU_ISA");
    if (wanted != nullptr && base::named_isa(wanted) != base::cpu_features().isa) {
      GTEST_SKIP() << "this processor has no " << wanted;
    }
  }
  void TearDown() override {
    std::printf("%zu models, %zu combinations of model, place and way of running, %zu sessions\n", models_,
                combinations_, sessions_);
  }

  /** The places, each in `ways` ways that are drawn; models after another begin with other places. */
  void check(const AlikeModel& model, size_t ways) {
    for (size_t p = models_++ % places_apart(); p < std::size(kPlaces); p += places_apart()) {
      const PlacedModel placed(model, kPlaces[p]);
      for (size_t i = 0; i < ways; ++i) check(model, placed, kPlaces[p], ways_[random_() % ways_.size()]);
    }
  }

  /** Callers of one session get what each gets alone, all with inputs of their own. */
  void check_callers(const AlikeModel& model) {
    constexpr uint32_t kCallers = 6;
    const auto session = PlacedModel(model, {Source::kGraph}).session(Way{.threads = 2}.options(), nullptr);
    std::vector<Tensor> expected;
    for (uint32_t i = 0; i < kCallers; ++i) expected.push_back(run(*session, model, i)[0]);
    std::string errors[kCallers];
    std::latch all_here(kCallers);
    std::vector<std::thread> callers;
    for (uint32_t i = 0; i < kCallers; ++i) {
      callers.emplace_back([&, i] {
        all_here.arrive_and_wait();
        errors[i] = difference_in(*session, model, i, expected[i]);
      });
    }
    for (std::thread& caller : callers) caller.join();
    for (const std::string& error : errors) EXPECT_EQ(error, "") << model.label();
    ++models_, ++sessions_;
  }

 private:
  void check(const AlikeModel& model, const PlacedModel& placed, const Place& place, const Way& way) {
    ++combinations_;
    std::vector<const Tensor*> expected;
    for (const AlikeNode& node : model.nodes) expected.push_back(&alone(node, way.arithmetic));
    std::string errors[2];
    const auto run_one = [&](size_t i) { errors[i] = difference(model, placed, way, expected); };
    std::thread other(run_one, 1);
    run_one(0);
    other.join();
    sessions_ += 2;
    for (const std::string& error : errors) {
      EXPECT_EQ(error, "") << model.label() << "\nfrom " << name_of(place) << ", " << way.name();
    }
  }

  /** What a caller of a session gets several times that is not expected. */
  static std::string difference_in(const Session& session, const AlikeModel& model, uint32_t variant,
                                   const Tensor& expected) {
    constexpr int kRuns = 4;
    try {
      for (int time = 0; time < kRuns; ++time) {
        if (!equal(run(session, model, variant)[0], expected)) return join("run ", time, " of caller ", variant);
      }
    } catch (const Error& error) {
      return error.text();
    }
    return "";
  }

  /** What two runs of a session give that is not expected. */
  std::string difference(const AlikeModel& model, const PlacedModel& placed, const Way& way,
                         const std::vector<const Tensor*>& expected) const {
    try {
      const auto session = placed.session(way.options(), way.shares_packed ? packed_ : nullptr);
      for (int time = 0; time < 2; ++time) {
        const std::vector<Tensor> results = run(*session, model);
        for (size_t n = 0; n < results.size(); ++n) {
          if (!equal(results[n], *expected[n])) {
            return join("run ", time, ", node ", n, " (", model.nodes[n].node->label(), ") differs");
          }
        }
      }
    } catch (const Error& error) {
      return error.text();
    }
    return "";
  }

  static bool equal(const Tensor& a, const Tensor& b) {
    return a.type() == b.type() && a.shape() == b.shape() && std::memcmp(a.raw(), b.raw(), a.byte_count()) == 0;
  }

  /** The result of the node as the only one of a graph, by one thread. */
  const Tensor& alone(const AlikeNode& node, const Arithmetic& arithmetic) {
    Tensor& result = alone_[{node.node, node.variant, arithmetic}];
    if (!result.defined()) {
      const AlikeModel model{{node}};
      result = run(*PlacedModel(model, {Source::kGraph}).session(Way{.arithmetic = arithmetic}.options(), nullptr),
                   model)[0];
    }
    return result;
  }

  const std::vector<Way> ways_ = all_ways();
  const std::shared_ptr<PackedWeightsCache> packed_ = std::make_shared<PackedWeightsCache>(WeightsKey::kContent);
  std::map<std::tuple<const OperatorCase*, uint32_t, Arithmetic>, Tensor> alone_;
  std::mt19937 random_{seed()};
  size_t models_ = 0, combinations_ = 0, sessions_ = 0;
};

bool have_equal_constants(const OperatorCase& a, const OperatorCase& b) {
  constexpr size_t kLeastBytes = 4096;
  for (const CaseInput& x : a.inputs) {
    if (x.kind != CaseInput::Kind::kConstant || bytes_for(x.type, x.shape.element_count()) < kLeastBytes) continue;
    for (const CaseInput& y : b.inputs) {
      if (y.kind == x.kind && y.type == x.type && y.shape == x.shape) return true;
    }
  }
  return false;
}

TEST_F(AcrossTest, TwoNodesOfOneOperator) {
  for (const OperatorCase& node : operator_cases()) {
    check({{{&node, 1}, {&node, 2}}}, kWaysOfPair);
    check({{{&node, 1}, {&node, 1}}}, kWaysOfPair);
    check({{{&node, 1}, {&node, 1}}, true}, kWaysOfPair);
  }
}

TEST_F(AcrossTest, CallersOfOneSession) {
  for (const int processors : {1, 2, 64}) {
    const base::PretendedProcessors pretended(processors);
    for (const OperatorCase& node : operator_cases()) check_callers({{{&node, 1}}});
  }
}

TEST_F(AcrossTest, NodesOfDifferentOperatorsShareWeights) {
  const auto& cases = operator_cases();
  for (size_t i = 0; i < cases.size(); ++i) {
    for (size_t j = 0; j < cases.size(); ++j) {
      if (i != j && have_equal_constants(cases[i], cases[j]))
        check({{{&cases[i], 1}, {&cases[j], 1}}, true}, kWaysOfPair);
    }
  }
}

TEST_F(AcrossTest, AllNodesInOneModel) {
  std::vector<AlikeNode> nodes;
  for (const OperatorCase& node : operator_cases()) {
    for (uint32_t variant : {1, 2}) nodes.push_back({&node, variant});
  }
  for (bool shares : {false, true}) check({nodes, shares}, kWaysOfAll);
}

}  // namespace
}  // namespace ortolan::across
