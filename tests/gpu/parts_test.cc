// Tensors of which a launch sees parts only: the results of a device whose launches see all.
#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

/** A device whose launches see so many bytes of a buffer. */
class ShortSighted : public Device {
 public:
  ShortSighted(Device& device, size_t max_binding_bytes) : device_(device), traits_(device.traits()) {
    traits_.max_binding_bytes = max_binding_bytes;
  }
  const DeviceTraits& traits() const override { return traits_; }
  std::string identity(std::string_view kernel) const override { return device_.identity(kernel); }
  std::unique_ptr<Buffer> allocate(size_t bytes) override { return device_.allocate(bytes); }
  std::shared_ptr<const Kernel> load(const KernelSpec& spec, std::span<const std::byte> binary) override {
    return device_.load(spec, binary);
  }
  std::unique_ptr<CommandList> record(std::vector<Launch> launches) override {
    for (const Launch& launch : launches) {
      for (const Binding& binding : launch.bindings) EXPECT_LE(binding.range.bytes, traits_.max_binding_bytes);
    }
    return device_.record(std::move(launches));
  }
  std::unique_ptr<Queue> create_queue(bool timed) override { return device_.create_queue(timed); }

 private:
  Device& device_;
  DeviceTraits traits_;
};

class Parts : public testing::TestWithParam<NamedDevice> {
 protected:
  /** The node is taken, and gives the same from parts. */
  void expect_parts(const TestNode& node, const std::vector<NodeInput>& inputs, float tolerance = 1e-4f) {
    EXPECT_EQ(refusal_of(parts_, node, inputs), "");
    expect_near(run_node(parts_, node, inputs)[0], run_node(whole_, node, inputs)[0], 1e-5f, tolerance);
  }
  /** The same for inputs and for constants. */
  void expect_products(const TestNode& node, const Tensor& a, const Tensor& b) {
    expect_parts(node, {{a}, {b}});
    expect_parts(node, {{a}, constant(b)});
    expect_parts(node, {constant(a), {b}});
  }

  std::string too_long(int64_t bytes) const {
    return "its tensor 'in' has " + std::to_string(bytes) + " bytes; a launch on the device sees at most " +
           std::to_string(most_seen_);
  }

  Device& whole_ = *GetParam().device;
  // Parts begin where memory can be bound: the farther apart that is, the larger is all.
  const int64_t scale_ = std::max<int64_t>(1, static_cast<int64_t>(whole_.traits().offset_alignment) / 64);
  const int64_t most_seen_ = 12288 * scale_;
  ShortSighted parts_{whole_, static_cast<size_t>(most_seen_)};
};

TEST_P(Parts, OfTheRightOperand) {
  const Tensor a = random_floats({3, 8}, 1), b = random_floats({8, 503 * scale_}, 2);
  expect_parts({"MatMul"}, {{a}, constant(b)});
  expect_parts({"Gemm", {{"transB", int64_t{1}}}}, {{a}, {random_floats({503 * scale_, 8}, 3)}});
  EXPECT_EQ(refusal_of(parts_, {"MatMul"}, {{a}, {b}}), too_long(503 * scale_ * 8 * 4));
}

TEST_P(Parts, OfTheLeftOperand) {
  expect_products({"MatMul"}, random_floats({503 * scale_, 8}, 1), random_floats({8, 5}, 2));
}

TEST_P(Parts, OfTheResult) {
  expect_products({"MatMul"}, random_floats({70 * scale_, 4}, 1), random_floats({4, 103}, 2));
  expect_parts({"MatMul"}, {{random_floats({1, 2}, 1)}, constant(random_floats({2, 4003 * scale_}, 2))});
}

TEST_P(Parts, OfStacks) {
  expect_products({"MatMul"}, random_floats({6, 40 * scale_, 8}, 1), random_floats({6, 8, 60}, 2));
  expect_products({"MatMul"}, random_floats({2, 1, 40 * scale_, 8}, 1), random_floats({1, 5, 8, 60}, 2));
  expect_products({"MatMul"}, random_floats({7, 101 * scale_, 8}, 1), random_floats({8, 17}, 2));
}

TEST_P(Parts, OfHalves) {
  auto halves = [](Shape shape, unsigned seed) {
    return floats(shape, random_floats(shape, seed).floats(), ElementType::kFloat16);
  };
  for (auto [m, n] : {std::pair<int64_t, int64_t>{5, 1003 * scale_}, {90 * scale_, 203}}) {
    const Tensor a = halves({m, 6}, 1), b = halves({6, n}, 2);
    expect_parts({"MatMul"}, {{a}, {b}}, 2e-2f);
    expect_parts({"MatMul"}, {{a}, constant(b)}, 2e-2f);
  }
}

TEST_P(Parts, OfWhatGemmAdds) {
  const Tensor a = random_floats({70 * scale_, 8}, 1), b = random_floats({103, 8}, 2);
  for (const Shape& shape : {Shape{70 * scale_, 103}, {103}, {70 * scale_, 1}, {1}}) {
    expect_parts({"Gemm", {{"transB", int64_t{1}}, {"beta", 0.5f}}}, {{a}, constant(b), {random_floats(shape, 3)}});
  }
}

TEST_P(Parts, OfWhatStepsRead) {
  Graph graph = graph_of({"MatMul"}, {{random_floats({70 * scale_, 8}, 1)}, {random_floats({8, 103}, 2)}}, 1);
  std::vector<Tensor> given = {random_floats({70 * scale_, 8}, 1), random_floats({8, 103}, 2)};
  int last = graph.outputs[0];
  for (const Shape& shape : {Shape{103}, {70 * scale_, 103}}) {
    const int operand = static_cast<int>(graph.values.size());
    given.push_back(random_floats(shape, 7));
    graph.inputs.push_back(operand);
    graph.values.push_back({"operand", ElementType::kFloat, shape, {}});
    graph.values.push_back({"out", ElementType::kUndefined, {}, {}});
    graph.nodes.push_back(
        {"step", "", graph.nodes.size() == 1 ? "Mul" : "Add", kNewest, {}, {last, operand}, {operand + 1}, {}});
    last = operand + 1;
  }
  graph.outputs = {last};
  GraphRun whole = run_graph(whole_, graph, given), parts = run_graph(parts_, graph, given);
  expect_near(parts.outputs[0], whole.outputs[0], 1e-5f, 1e-4f);
  EXPECT_GT(parts.launches, whole.launches);
}

TEST_P(Parts, SumsThatAreTooLongAreRefused) {
  const Tensor a = random_floats({1, 4096 * scale_}, 1), b = random_floats({4096 * scale_, 3}, 2);
  EXPECT_EQ(refusal_of(parts_, {"MatMul"}, {{a}, {b}}), too_long(4096 * scale_ * 4));
}

TEST_P(Parts, OfATable) {
  std::vector<int64_t> at;
  for (int64_t i = 0; i < 6; i++) at.push_back(i * 67 % 300 - (i % 2) * 300);
  for (ElementType type : kTypesBySize) {
    const Tensor x = numbered({300 * scale_, 3, 67}, type);
    for (ElementType index : {ElementType::kInt32, ElementType::kInt64}) {
      const Tensor rows = integers({2, 3}, at, index), row = integers({}, {-3}, index);
      for (const std::vector<NodeInput>& inputs :
           {std::vector<NodeInput>{{x}, {rows}}, {constant(x), {rows}}, {{x}, constant(row)}}) {
        EXPECT_EQ(refusal_of(parts_, {"Gather"}, inputs), "");
        expect_same(run_node(parts_, {"Gather"}, inputs)[0], run_node(whole_, {"Gather"}, inputs)[0]);
      }
    }
  }
}

TEST_P(Parts, OutsideOfATable) {
  const Tensor x = random_floats({300 * scale_, 67}, 1);
  EXPECT_EQ(error_of([&] {
              run_node(parts_, {"Gather"}, {{x}, {integers({2}, {299, 300 * scale_})}});
            }),
            "node 'n' (Gather): an index is outside of axis 0 of size " + std::to_string(300 * scale_));
  EXPECT_EQ(refusal_of(parts_, {"Gather", {{"axis", int64_t{1}}}}, {{x}, {integers({1}, {3})}}),
            too_long(300 * scale_ * 67 * 4));
}

INSTANTIATE_TEST_SUITE_P(Devices, Parts, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
