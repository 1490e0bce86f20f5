// Products by the device's library: which they are, that they are right, and what becomes of one that fails.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "gpu/opencl_device.h"
#include "gpu/single_node.h"
#include "gpu/testdevice/test_device.h"

namespace ortolan::gpu::test {
namespace {

constexpr int64_t kNever = INT64_MAX;

TestDeviceOptions device_options(DeviceClass kind, int width, int64_t suits_from) {
  TestDeviceOptions options;
  options.kind = kind;
  options.vector_width = width;
  options.library_suits_from = suits_from;
  return options;
}

struct Outputs : GroupOutputs {
  explicit Outputs(Device& device) : device(device) {}
  BufferRange make(size_t, ElementType of, const Shape& shape) override {
    tensor = {of, shape, std::vector<std::byte>(static_cast<size_t>(element_count(shape)) * element_bytes(of))};
    buffer = device.allocate(tensor.bytes.size());
    return {buffer.get(), 0, buffer->bytes()};
  }
  Device& device;
  std::unique_ptr<Buffer> buffer;
  Tensor tensor;
};

/** What one run gave, and what was launched for it. */
struct Made {
  Tensor result;
  std::vector<std::string> kernels;
  int64_t count(const std::string& kernel) const { return std::count(kernels.begin(), kernels.end(), kernel); }
};

/** Each time in other memory. */
Made run_group(Device& device, CompiledGroup& group, const std::vector<Tensor>& inputs) {
  std::unique_ptr<Queue> queue = device.create_queue(true);
  WorkingMemory working(device);
  working.take_times(true);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<GroupInput> given;
  for (const Tensor& input : inputs) {
    buffers.push_back(device.allocate(std::max<size_t>(input.bytes.size(), 4)));
    queue->write({buffers.back().get(), 0, input.bytes.size()}, input.bytes.data());
    given.push_back({input.shape, {buffers.back().get(), 0, buffers.back()->bytes()}});
  }
  Outputs outputs(device);
  group.run(*queue, working, given, outputs);
  queue->read(outputs.tensor.bytes.data(), {outputs.buffer.get(), 0, outputs.tensor.bytes.size()});
  queue->finish();
  Made made{std::move(outputs.tensor), {}};
  for (const TimedLaunch& launch : working.timed()) {
    EXPECT_LT(launch.time.begin, launch.time.end);
    made.kernels.push_back(launch.kernel);
  }
  return made;
}

std::vector<Tensor> given_of(const std::vector<NodeInput>& inputs) {
  std::vector<Tensor> given;
  for (const NodeInput& input : inputs) {
    if (!input.constant) given.push_back(input.tensor);
  }
  return given;
}

Made run_node_with(Engine& engine, const TestNode& node, const std::vector<NodeInput>& inputs) {
  CompiledGroup group(engine, graph_of(node, inputs, 1));
  run_group(engine.device(), group, given_of(inputs));
  Made made = run_group(engine.device(), group, given_of(inputs));
  EXPECT_EQ(group.recordings(), 1u);
  return made;
}

TestNode fused(bool turns_a, bool turns_b, float alpha) {
  return {"FusedMatMul",
          {{"transA", int64_t{turns_a}}, {"transB", int64_t{turns_b}}, {"alpha", alpha}},
          1,
          "com.microsoft"};
}

TestNode gemm(bool turns_a, bool turns_b, float alpha, float beta) {
  return {"Gemm", {{"transA", int64_t{turns_a}}, {"transB", int64_t{turns_b}}, {"alpha", alpha}, {"beta", beta}}};
}

struct LibraryDevice {
  std::string name;
  Device* device;
  std::string library;
};

/** Devices whose library is told to make all that it can. */
std::vector<LibraryDevice> library_devices() {
  static std::deque<TestDevice> made;  // as long as the tests
  auto test_device = [](DeviceClass kind, int width) {
    return &made.emplace_back(device_options(kind, width, kNever));
  };
  std::vector<LibraryDevice> devices = {{"test_wide", test_device(DeviceClass::kWide, 16), ""},
                                        {"test_lanes", test_device(DeviceClass::kLanes, 4), ""},
                                        {"test_gpu", test_device(DeviceClass::kGpu, 4), ""}};
  for (const NamedDevice& named : all_devices()) {
    if (named.name == "opencl" && named.device->product_library() != nullptr)
      devices.push_back({"opencl", named.device, ""});
  }
  for (LibraryDevice& device : devices) device.library = device.device->product_library()->name();
  return devices;
}

class ByLibrary : public testing::TestWithParam<LibraryDevice> {
 protected:
  /** The library makes it in one launch, as our kernels do, beside `more` launches. */
  void expect_same(const TestNode& node, const std::vector<NodeInput>& inputs, size_t more = 0) {
    Engine with(*GetParam().device, {}, Tuning::kNone, Products::kLibrary);
    Engine without(*GetParam().device, {}, Tuning::kNone, Products::kOwn);
    Made library = run_node_with(with, node, inputs), own = run_node_with(without, node, inputs);
    expect_near(library.result, own.result, 1e-5f, 1e-4f);
    EXPECT_EQ(library.count(GetParam().library), 1);
    EXPECT_EQ(library.kernels.size(), 1 + more);
    EXPECT_EQ(own.count(GetParam().library), 0);
  }
  /** Our kernels make it all the same. */
  void expect_own(const TestNode& node, const std::vector<NodeInput>& inputs) {
    Engine engine(*GetParam().device, {}, Tuning::kNone, Products::kLibrary);
    EXPECT_EQ(run_node_with(engine, node, inputs).count(GetParam().library), 0);
  }
};

TEST_P(ByLibrary, SizesAndTurns) {
  struct {
    int64_t m, n, k;
  } const sizes[] = {{1, 1, 1}, {1, 33, 7}, {33, 1, 7}, {9, 17, 1}, {64, 48, 20}, {130, 67, 95}};
  for (auto [m, n, k] : sizes) {
    for (bool turns_a : {false, true}) {
      for (bool turns_b : {false, true}) {
        SCOPED_TRACE(testing::Message() << m << ' ' << n << ' ' << k << ' ' << turns_a << turns_b);
        Tensor a = random_floats(turns_a ? Shape{k, m} : Shape{m, k}, 1);
        Tensor b = random_floats(turns_b ? Shape{n, k} : Shape{k, n}, 2);
        expect_same(fused(turns_a, turns_b, 0.75f), {{a}, {b}});
        expect_same(fused(turns_a, turns_b, 1), {{a}, constant(b)});
      }
    }
  }
}

TEST_P(ByLibrary, Stacks) {
  const std::pair<Shape, Shape> shapes[] = {
      {{5, 3, 4}, {5, 4, 20}}, {{3, 4}, {2, 4, 20}}, {{5, 3, 4}, {4, 20}}, {{2, 3, 9, 4}, {2, 3, 4, 20}}};
  for (const auto& [left, right] : shapes) {
    expect_same({"MatMul"}, {{random_floats(left, 3)}, {random_floats(right, 4)}});
  }
  expect_same(fused(true, true, 1), {{random_floats({3, 40, 70}, 5)}, {random_floats({3, 90, 40}, 6)}});
}

TEST_P(ByLibrary, SumsArePreparedInTheResult) {
  for (const Shape& shape : {Shape{}, Shape{19}, Shape{1, 19}, Shape{11, 1}, Shape{11, 19}}) {
    SCOPED_TRACE(shape.size());
    expect_same(gemm(true, false, 0.5f, 2),
                {{random_floats({6, 11}, 1)}, {random_floats({6, 19}, 2)}, {random_floats(shape, 3)}}, 1);
  }
}

TEST_P(ByLibrary, StacksWithUnevenStepsAreOurs) {
  expect_own({"MatMul"}, {{random_floats({2, 1, 9, 4}, 1)}, {random_floats({1, 3, 4, 20}, 2)}});
}

TEST_P(ByLibrary, ClippedProductsAreOurs) {
  TestNode node{"FusedMatMulActivation", {{"activation", std::string("Relu")}}, 1, "com.microsoft"};
  expect_own(node, {{random_floats({9, 4}, 1)}, {random_floats({4, 20}, 2)}});
}

TEST_P(ByLibrary, SumsOfNothingAreOurs) { expect_own({"MatMul"}, {{floats({2, 0}, {})}, {floats({0, 3}, {})}}); }

INSTANTIATE_TEST_SUITE_P(Devices, ByLibrary, testing::ValuesIn(library_devices()),
                         [](const auto& info) { return info.param.name; });

class LibraryChoice : public testing::Test {
 protected:
  LibraryChoice() : device_(device_options(DeviceClass::kGpu, 4, 1000)) {}
  bool is_by_library(Engine& engine, int64_t side) {
    Tensor a = random_floats({side, side}, 1), b = random_floats({side, side}, 2);
    return run_node_with(engine, {"MatMul"}, {{a}, {b}}).count("test library") == 1;
  }
  TestDevice device_;
};

TEST_F(LibraryChoice, WhatSuitsItUnlessProductsAreToBeOurs) {
  Engine automatic(device_), own(device_, {}, Tuning::kNone, Products::kOwn);
  EXPECT_TRUE(is_by_library(automatic, 10));
  EXPECT_FALSE(is_by_library(automatic, 9));
  EXPECT_FALSE(is_by_library(own, 10));
}

TEST_F(LibraryChoice, OnGpusAlone) {
  for (DeviceClass kind : {DeviceClass::kWide, DeviceClass::kLanes}) {
    TestDevice device(device_options(kind, 4, 0));
    Engine automatic(device), all(device, {}, Tuning::kNone, Products::kLibrary);
    EXPECT_FALSE(is_by_library(automatic, 10));
    EXPECT_TRUE(is_by_library(all, 10));
  }
}

TEST_F(LibraryChoice, WithoutLibraryProductsAreOurs) {
  TestDevice device({});
  Engine all(device, {}, Tuning::kNone, Products::kLibrary);
  EXPECT_FALSE(is_by_library(all, 10));
}

TEST_F(LibraryChoice, TheFasterOfBothWhereTheDeviceIsTuned) {
  for (int64_t cost : {10, 1000}) {
    TestDevice device(device_options(DeviceClass::kGpu, 4, 1000));
    device.set_cost([=](const std::string& kernel, const auto&, const auto&) -> int64_t {
      return kernel == "test library" ? cost : 100;
    });
    Engine engine(device, {}, Tuning::kFast);
    EXPECT_EQ(is_by_library(engine, 10), cost < 100);
    EXPECT_EQ(engine.tuner().measured(), 2u);  // our tiles, then the library
    EXPECT_FALSE(is_by_library(engine, 9));
  }
}

TEST_F(LibraryChoice, AProductThatFailsIsAnErrorAndTheNextOneRuns) {
  Engine engine(device_);
  std::vector<NodeInput> inputs = {{random_floats({10, 10}, 1)}, {random_floats({10, 10}, 2)}};
  CompiledGroup group(engine, graph_of({"MatMul"}, inputs, 1));
  Made before = run_group(device_, group, given_of(inputs));
  device_.faults().products_to_failure = 0;
  try {
    run_group(device_, group, given_of(inputs));
    FAIL() << "it ran";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::kInternal);
    EXPECT_STREQ(error.what(), "test device: product of the library: it fails as told");
  }
  EXPECT_TRUE(run_group(device_, group, given_of(inputs)).result.bytes == before.result.bytes);
}

TEST_F(LibraryChoice, AProductThatFailsIsNotChosen) {
  Engine engine(device_, {}, Tuning::kFast);
  device_.faults().products_to_failure = 0;
  EXPECT_FALSE(is_by_library(engine, 10));
}

}  // namespace
}  // namespace ortolan::gpu::test
