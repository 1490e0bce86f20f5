// Products on matrix units that take matrices whole: that their kernel makes them, on the test device for units of
// several sizes, and on Vulkan where a driver has such units.
#include <algorithm>
#include <functional>
#include <set>

#include "gpu/testdevice/test_device.h"
#include "gpu/unit_products.h"
#include "gpu/vulkan_device.h"

namespace ortolan::gpu::test {
namespace {

using Constants = std::map<std::string, int, std::less<>>;

constexpr const char* kKernel = "product_cooperative";

/** A device that notes the constants of the kernels that it loads. */
class LoadsNoted : public Device {
 public:
  explicit LoadsNoted(Device& real) : real_(real) {}
  const DeviceTraits& traits() const override { return real_.traits(); }
  std::string identity(std::string_view kernel) const override { return real_.identity(kernel); }
  std::unique_ptr<Buffer> allocate(size_t bytes) override { return real_.allocate(bytes); }
  std::shared_ptr<const Kernel> load(const KernelSpec& spec, std::span<const std::byte> binary) override {
    Constants& constants = loaded[std::string(spec.name)];
    for (const KernelConstant& each : spec.constants) constants[std::string(each.name)] = each.value;
    return real_.load(spec, binary);
  }
  std::unique_ptr<CommandList> record(std::vector<Launch> launches) override {
    return real_.record(std::move(launches));
  }
  std::unique_ptr<Queue> create_queue(bool timed) override { return real_.create_queue(timed); }

  std::map<std::string, Constants> loaded;

 private:
  Device& real_;
};

std::unique_ptr<Device> units_of(UnitMatrices whole) {
  TestDeviceOptions options;
  options.order = 3;
  options.matrix_units.half = true;
  options.matrix_units.whole = whole;
  return std::make_unique<TestDevice>(options);
}

struct Units {
  const char* name;
  std::function<std::unique_ptr<Device>()> open;  // NULL, or kNoDevice, where there is none
};
void PrintTo(const Units& units, std::ostream* to) { *to << units.name; }

class CooperativeTest : public testing::TestWithParam<Units> {
 protected:
  void SetUp() override {
    try {
      device_ = GetParam().open();
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::kNoDevice) throw;
    }
    if (device_ == nullptr) GTEST_SKIP() << "no driver here has matrix units (VK_KHR_cooperative_matrix)";
  }
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs, Precision precision = Precision::kFloat) {
    LoadsNoted noted(*device_);
    Engine engine(noted, {}, Tuning::kNone, Products::kAuto, precision);
    std::vector<Tensor> given;
    for (const NodeInput& input : inputs) {
      if (!input.missing && !input.constant) given.push_back(input.tensor);
    }
    Tensor result = run_graph(engine, graph_of(node, inputs, 1), given).outputs[0];
    is_on_units_ = noted.loaded.count(kKernel) > 0;
    constants_ = noted.loaded[kKernel];
    return result;
  }

  std::unique_ptr<Device> device_;
  bool is_on_units_ = false;
  Constants constants_;
};

TEST_P(CooperativeTest, HalvesOfAllSizesAndOrientations) {
  for (auto [m, n, k] : kSizes) {
    Tensor a = random_halves({m, k}, static_cast<unsigned>(m)), b = random_halves({k, n}, static_cast<unsigned>(n));
    for (bool turns_a : {false, true}) {
      for (bool turns_b : {false, true}) {
        SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k << ' ' << turns_a << turns_b);
        TestNode node{"Gemm", {{"transA", int64_t{turns_a}}, {"transB", int64_t{turns_b}}}, 13};
        Tensor c = run(node, {{turns_a ? turned(a) : a}, {turns_b ? turned(b) : b}});
        EXPECT_TRUE(is_on_units_);
        expect_product(c, a, b);
      }
    }
  }
}

TEST_P(CooperativeTest, FloatsAreMadeByOtherKernels) {
  Tensor a = random_floats({9, 40}, 1), b = random_floats({40, 11}, 2);
  for (Precision precision : {Precision::kFloat, Precision::kTf32, Precision::kBfloat}) {
    expect_product(run({"MatMul"}, {{a}, {b}}, precision), a, b);
    EXPECT_FALSE(is_on_units_);
  }
}

TEST_P(CooperativeTest, SumsHave32BitsInAnyPrecision) {
  Tensor row = halves({1, 3}, {2048, 1, -2048}), ones = halves({3, 1}, {1, 1, 1});
  for (Precision precision : {Precision::kFloat, Precision::kBfloat, Precision::kHalf}) {
    EXPECT_EQ(run({"MatMul"}, {{row}, {ones}}, precision).floats(), (std::vector<float>{1}));
    EXPECT_TRUE(is_on_units_);
  }
}

TEST_P(CooperativeTest, EightElementsAtOnceWhereTheyLieInOrder) {
  auto eights = [&](int64_t m, int64_t n, int64_t k, bool turns = false) {
    Tensor a = random_halves({m, k}, 1), b = random_halves({k, n}, 2);
    TestNode node{"Gemm", {{"transA", int64_t{turns}}, {"transB", int64_t{turns}}}, 13};
    expect_product(run(node, {{turns ? turned(a) : a}, {turns ? turned(b) : b}}), a, b);
    return std::pair(constants_.at("A_EIGHTS"), constants_.at("B_EIGHTS"));
  };
  EXPECT_EQ(eights(5, 24, 40), std::pair(1, 1));
  EXPECT_EQ(eights(5, 24, 20), std::pair(0, 1));
  EXPECT_EQ(eights(5, 12, 40), std::pair(1, 0));
  EXPECT_EQ(eights(16, 5, 40, true), std::pair(1, 1));
  EXPECT_EQ(eights(12, 5, 40, true), std::pair(0, 1));
  EXPECT_EQ(eights(16, 5, 20, true), std::pair(1, 0));
}

TEST_P(CooperativeTest, StacksWithAddendsAndSteps) {
  Tensor a = random_halves({3, 1, 19, 23}, 1), b = random_halves({2, 23, 21}, 2);
  const std::vector<float> c = run({"MatMul"}, {{a}, {b}}).floats();
  EXPECT_TRUE(is_on_units_);
  ASSERT_EQ(c.size(), 3u * 2 * 19 * 21);
  for (int64_t z = 0; z < 6; z++) {
    auto part = [](const Tensor& of, int64_t number, Shape shape) {
      const std::vector<float> all = of.floats();
      const int64_t count = element_count(shape);
      return halves(std::move(shape), {all.begin() + number * count, all.begin() + (number + 1) * count});
    };
    expect_product(part(halves({6, 19, 21}, c), z, {19, 21}), part(a, z / 2, {19, 23}), part(b, z % 2, {23, 21}));
  }
  expect_addend_and_step(
      [this](const TestNode& node, const std::vector<NodeInput>& inputs) { return run(node, inputs); });
  EXPECT_TRUE(is_on_units_);
}

TEST_P(CooperativeTest, ConvolutionsByOffsets) {
  Tensor x = random_halves({2, 3, 9, 10}, 1), w = random_halves({5, 3, 3, 3}, 2);
  const std::vector<float> image = x.floats(), weights = w.floats();
  const std::vector<float> y = run({"Conv", {}, 11}, {{x}, {w}}).floats();
  EXPECT_TRUE(is_on_units_);
  EXPECT_EQ(constants_.at("B_FORM"), 2);
  ASSERT_EQ(y.size(), 2u * 5 * 7 * 8);
  for (int64_t i = 0; i < static_cast<int64_t>(y.size()); i++) {
    const int64_t column = i % 8, row = i / 8 % 7, channel = i / 56 % 5, number = i / 280;
    double sum = 0;
    for (int64_t t = 0; t < 27; t++) {
      const int64_t from = ((number * 3 + t / 9) * 9 + row + t / 3 % 3) * 10 + column + t % 3;
      sum += static_cast<double>(image[from]) * weights[channel * 27 + t];
    }
    ASSERT_NEAR(y[i], sum, 0.001 + std::fabs(sum) * kHalfUnit) << i;
  }
}

TEST_P(CooperativeTest, NaNAndInfinityStay) {
  Tensor rows = halves({4, 3}, {1, NAN, 0, 0, -INFINITY, 1, INFINITY, -INFINITY, 0, 1, 2, 4});
  const std::vector<float> c = run({"MatMul"}, {{rows}, {halves({3, 1}, {1, 1, 1})}}).floats();
  EXPECT_TRUE(is_on_units_);
  EXPECT_TRUE(std::isnan(c[0]));
  EXPECT_EQ(c[1], -INFINITY);
  EXPECT_TRUE(std::isnan(c[2]));
  EXPECT_EQ(c[3], 7);
}

// Each size of a product has a tile of its own; sides are as many of the units' as these of 16. The largest needs 36
// KiB of shared memory where matrices are 16 x 16.
TEST_P(CooperativeTest, TilesBySize) {
  const UnitMatrices& unit = device_->traits().matrix_units.whole;
  std::set<std::vector<int>> tiles;
  for (auto [m, n] : {std::pair(250, 250), {250, 60}, {60, 60}, {30, 30}, {10, 250}, {250, 6}}) {
    Tensor a = random_halves({m * unit.rows / 16, 3}, 1), b = random_halves({3, n * unit.columns / 16}, 2);
    expect_product(run({"MatMul"}, {{a}, {b}}), a, b);
    tiles.insert({constants_.at("WGY"), constants_.at("DOWN"), constants_.at("TM"), constants_.at("TN")});
    EXPECT_EQ(constants_.at("WGX"), unit.items);
    EXPECT_EQ(constants_.at("UNIT_DEPTH"), unit.depth);
  }
  const bool has_room = unit.rows * unit.columns < 256 || device_->traits().shared_bytes >= size_t{36} << 10;
  EXPECT_EQ(tiles.size(), has_room ? 6u : 5u);
}

INSTANTIATE_TEST_SUITE_P(Units, CooperativeTest,
                         testing::Values(Units{"test_8x8x8",
                                               [] {
                                                 return units_of({8, 8, 8, 8});
                                               }},
                                         Units{"test_16x16x16",
                                               [] {
                                                 return units_of({16, 16, 16, 32});
                                               }},
                                         Units{"test_8x16x32",
                                               [] {
                                                 return units_of({8, 16, 32, 16});
                                               }},
                                         Units{"vulkan", open_vulkan_units}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
