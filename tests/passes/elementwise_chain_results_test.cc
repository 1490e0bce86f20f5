// What chains of elementwise operators compute: the bits that the operators compute alone.
#include <limits>

#include "../thrown_text.h"
#include "base/cpu_features.h"
#include "cpu/kernels/kernel_table.h"
#include "pass_test.h"

namespace ortolan::test {
namespace {

const std::vector<std::string> kUnary = {
    "Abs",  "Ceil",      "Celu", "Clip", "Cos",       "Elu",        "Erf",  "Exp",      "Floor",   "HardSigmoid",
    "Mish", "HardSwish", "Log",  "Neg",  "LeakyRelu", "Reciprocal", "Relu", "Round",    "Sigmoid", "ThresholdedRelu",
    "Sign", "Sin",       "Sqrt", "Tanh", "Softplus",  "Softsign",   "Gelu", "QuickGelu"};
const std::vector<std::string> kBinary = {"Add", "Sub", "Mul", "Div", "Min", "Max", "Sum", "Pow"};
const std::vector<float> kPowers = {2, 3, 1, -1, 0.5f, 0, 1.7f};
const std::vector<Shape> kShapes = {{},          {1},       {5},           {0, 3},       {3, 1, 7}, {2, 3, 64},
                                    {1, 700},    {3, 1100}, {2, 3, 17, 9}, {2, 40, 130}, {7, 1500}, {3, 4, 40, 41},
                                    {30, 8, 200}};

/** A random model of elementwise operators with the values of its inputs; the same for the same seed. */
class RandomChain {
 public:
  explicit RandomChain(uint32_t seed) : generator_(seed) {
    shape_ = one_of(kShapes);
    known_ = below(3) != 0;
    model_->ir_version = 8;
    model_->context->opsets = {{"", 20}, {"com.microsoft", 1}};
    model_->graph = std::make_unique<Graph>(model_->context);
    model_->graph->name = "g";
    TestGraph graph(*model_->graph);
    build(graph);
  }
  std::unique_ptr<Model> take_model() { return std::move(model_); }
  const std::vector<Value>& inputs() const { return inputs_; }

 private:
  size_t below(size_t n) { return generator_() % n; }
  template <class T>
  const T& one_of(const std::vector<T>& items) {
    return items[below(items.size())];
  }

  Tensor tensor(const Shape& shape) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const std::vector<float> special = {0.0f,  -0.0f,   kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(),
                                        1e30f, -9000.f, 1e-40f,    90.0f,      1.0f};
    Tensor values = random_tensor<float>(shape, static_cast<uint32_t>(generator_()), -3, 3);
    for (float& value : values.mutable_span<float>()) {
      if (below(50) == 0) value = one_of(special);
    }
    return values;
  }

  /** A shape that broadcasts to the chain's, or that shape. */
  Shape part_of_shape() {
    if (below(3) == 0) return shape_;
    Shape part = shape_;
    while (part.rank() > 0 && below(3) == 0) part = Shape(std::span(part.begin() + 1, part.end()));
    size_t kept = part.rank() > 0 ? below(part.rank() + 1) : 0;
    for (size_t i = 0; i < part.rank(); ++i) part[i] = i == kept || below(4) == 0 ? part[i] : 1;
    return part;
  }

  ValueInfo* leaf(TestGraph& g, const Shape& shape) {
    Tensor values = tensor(shape);
    std::string name = join("leaf", next_++);
    if (below(2) == 0) return g.constant(name, std::move(values));
    DimVector dims;
    for (int64_t dim : shape) dims.push_back(known_ ? Dim(dim) : Dim());
    inputs_.emplace_back(std::move(values));
    return g.input(name, dims);
  }

  ValueInfo* unary(TestGraph& g, ValueInfo* x) {
    const std::string& op = one_of(kUnary);
    std::vector<ValueInfo*> inputs = {x};
    if (op == "Clip") inputs.push_back(g.scalar(join("low", next_++), -0.5f));
    return g.node(op, inputs, join("v", next_++), {}, op == "QuickGelu" ? "com.microsoft" : "");
  }

  ValueInfo* binary(TestGraph& g, ValueInfo* x) {
    const std::string& op = one_of(kBinary);
    if (op == "Pow") {
      return g.node(op, {x, g.scalar(join("power", next_++), one_of(kPowers))}, join("v", next_++));
    }
    ValueInfo* other = below(3) == 0 ? one_of(values_) : leaf(g, part_of_shape());
    if (below(5) == 0) other = unary(g, other);
    bool swap = below(2) == 0;
    return g.node(op, {swap ? other : x, swap ? x : other}, join("v", next_++));
  }

  void build(TestGraph& g) {
    values_.push_back(leaf(g, shape_));
    for (size_t i = 0, count = 2 + below(10); i < count; ++i) {
      ValueInfo* x = below(4) == 0 ? one_of(values_) : values_.back();
      values_.push_back(below(2) == 0 ? unary(g, x) : binary(g, x));
      if (below(12) == 0) g.output(values_.back());
    }
    if (!values_.back()->is_output) g.output(values_.back());
  }

  std::mt19937 generator_;
  Shape shape_;
  bool known_;
  int next_ = 0;
  std::unique_ptr<Model> model_ = std::make_unique<Model>();
  std::vector<ValueInfo*> values_;
  std::vector<Value> inputs_;
};

std::vector<Value> run(uint32_t seed, RewriteLevel level, int threads) {
  RandomChain chain(seed);
  SessionOptions options;
  options.level = level;
  options.intra_op_threads = threads;
  return run_model(chain.take_model(), chain.inputs(), options);
}

void expect_same_bits(uint32_t seed) {
  auto plain = run(seed, RewriteLevel::kNone, 1);
  for (int threads = 1; threads <= 4; ++threads) {
    auto chained = run(seed, RewriteLevel::kAll, threads);
    ASSERT_EQ(chained.size(), plain.size());
    for (size_t i = 0; i < plain.size(); ++i) {
      ASSERT_TRUE(same_value(chained[i], plain[i])) << "seed " << seed << ", " << threads << " threads, output " << i;
    }
  }
}

class ChainsAtEachIsa : public ::testing::TestWithParam<base::IsaLevel> {
 protected:
  void SetUp() override {
    if (!cpu::kernels::use_isa(GetParam())) GTEST_SKIP() << "this processor has no " << base::isa_name(GetParam());
  }
  void TearDown() override { cpu::kernels::use_isa(base::cpu_features().isa); }
};

TEST_P(ChainsAtEachIsa, GiveTheBitsOfTheirNodes) {
  uint32_t first = test_seed() * 1000;
  for (uint32_t i = 0; i < 150 && !HasFatalFailure(); ++i) expect_same_bits(first + i);
}

std::vector<base::IsaLevel> levels_with_loops() {
  std::vector<base::IsaLevel> levels;
  const cpu::kernels::VectorF32Kernels* loops = nullptr;
  for (const cpu::kernels::KernelTable& table : cpu::kernels::kernel_tables()) {
    if (table.vector != loops) levels.push_back(table.isa);
    loops = table.vector;
  }
  return levels;
}

INSTANTIATE_TEST_SUITE_P(All, ChainsAtEachIsa, ::testing::ValuesIn(levels_with_loops()));

/** y = exp(x) + u * v, every dimension unknown before the run. */
std::unique_ptr<Model> sum_of_unknown() {
  auto model = std::make_unique<Model>();
  model->context->opsets[""] = 17;
  model->graph = std::make_unique<Graph>(model->context);
  TestGraph g(*model->graph);
  ValueInfo* product = g.node("Mul", {g.input("u", {Dim(), Dim()}), g.input("v", {Dim(), Dim()})}, "product");
  g.output(g.node("Add", {g.node("Exp", {g.input("x", {Dim(), Dim()})}, "power"), product}, "y"));
  return model;
}

std::vector<Value> run_sum(const Shape& u, const Shape& v, const Shape& x, RewriteLevel level) {
  SessionOptions options;
  options.level = level;
  std::vector<Value> inputs;
  for (const Shape& shape : {u, v, x}) inputs.emplace_back(random_tensor<float>(shape, 7));
  return run_model(sum_of_unknown(), inputs, options);
}

TEST(ElementwiseChainResults, OfShapesKnownInTheRun) {
  const Shape cases[][3] = {{{3, 4}, {3, 4}, {3, 4}},       {{3, 1}, {1, 4}, {3, 4}},         {{3, 1}, {3, 1}, {3, 4}},
                            {{1, 4}, {1, 4}, {3, 1}},       {{1, 1}, {1, 1}, {1, 1}},         {{0, 4}, {1, 4}, {1, 1}},
                            {{300, 1}, {1, 500}, {1, 500}}, {{300, 1}, {300, 1}, {300, 500}}, {{1, 0}, {5, 1}, {5, 0}}};
  for (const auto& [u, v, x] : cases) {
    auto plain = run_sum(u, v, x, RewriteLevel::kNone), chained = run_sum(u, v, x, RewriteLevel::kAll);
    EXPECT_TRUE(same_value(chained[0], plain[0])) << join(u, v, x);
  }
}

TEST(ElementwiseChainResults, ErrorsNameTheNodeThatTheStepWas) {
  EXPECT_EQ(error_of([] {
              run_sum({3, 4}, {3, 4}, {2, 4}, RewriteLevel::kAll);
            }),
            "node 'y' (ElementwiseChain): node 'y' (Add): shapes [2,4] and [3,4]: dimensions 2 and 3 differ and "
            "neither is 1, so the shapes do not broadcast");
  EXPECT_TRUE(throws("node 'product' (Mul): shapes [3,5] and [3,4]", [] {
    run_sum({3, 5}, {3, 4}, {3, 4}, RewriteLevel::kAll);
  }));
}

}  // namespace
}  // namespace ortolan::test
