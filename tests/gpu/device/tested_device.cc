// Opens the tested devices.
#include "tested_device.h"

#include <cmath>
#include <cstring>
#include <random>

#include "gpu/cuda_device.h"
#include "gpu/opencl_device.h"
#include "gpu/testdevice/test_device.h"
#include "gpu/vulkan_device.h"

namespace ortolan::gpu {
namespace {

template <unsigned kOrder, int kVectorWidth>
std::unique_ptr<Device> open_test_device() {
  test::TestDeviceOptions options;
  options.order = kOrder;
  options.vector_width = kVectorWidth;
  options.max_buffer_bytes = size_t{1} << 24;
  return std::make_unique<test::TestDevice>(options);
}

}  // namespace

std::vector<TestedDevice> tested_devices() {
  return {{"forward", open_test_device<0, 4>},
          {"backward", open_test_device<1, 1>},
          {"shuffled", open_test_device<7, 16>},
          {"shuffled_backward", open_test_device<12, 4>},
          {"cuda", open_cuda},
          {"opencl", open_opencl},
          {"vulkan", open_vulkan}};
}

void DeviceTest::SetUp() { open_or_skip(GetParam().open); }

void DeviceTest::open_or_skip(std::unique_ptr<Device> (*open)()) {
  try {
    use(open());
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNoDevice) throw;
    GTEST_SKIP() << error.what();
  }
}

void DeviceTest::use(std::unique_ptr<Device> device) {
  device_ = std::move(device);
  queue_ = device_->create_queue();
}

std::unique_ptr<Buffer> DeviceTest::upload(const std::vector<float>& values) {
  std::unique_ptr<Buffer> buffer = device_->allocate(values.size() * sizeof(float));
  queue_->write(whole(*buffer), values.data());
  queue_->finish();
  return buffer;
}

std::vector<float> DeviceTest::download(const BufferRange& range) {
  std::vector<float> values(range.bytes / sizeof(float));
  queue_->read(values.data(), range);
  queue_->finish();
  return values;
}

KernelSpec softmax_spec(int items) { return {"softmax", {{"WGX", items}, {"WGY", 1}}}; }

Launch softmax_launch(std::shared_ptr<const Kernel> kernel, int rows, int cols, Binding x, Binding y) {
  const int params[] = {cols, 1};
  Launch launch{std::move(kernel), {static_cast<uint32_t>(rows), 1, 1}, {x, y}, {}, true};
  launch.params.resize(sizeof params);
  std::memcpy(launch.params.data(), params, sizeof params);
  return launch;
}

std::vector<float> softmax_reference(const std::vector<float>& x, int cols) {
  std::vector<float> y(x.size());
  for (size_t row = 0; row < x.size(); row += cols) {
    double largest = x[row], sum = 0;
    for (int i = 0; i < cols; i++) largest = std::max<double>(largest, x[row + i]);
    for (int i = 0; i < cols; i++) sum += std::exp(x[row + i] - largest);
    for (int i = 0; i < cols; i++) y[row + i] = static_cast<float>(std::exp(x[row + i] - largest) / sum);
  }
  return y;
}

std::vector<float> random_floats(size_t count) {
  static std::mt19937 random(1);
  std::uniform_real_distribution<float> distribution(-4.0f, 4.0f);
  std::vector<float> values(count);
  for (float& value : values) value = distribution(random);
  return values;
}

void expect_near(const std::vector<float>& actual, const std::vector<float>& expected, float tolerance) {
  ASSERT_EQ(actual.size(), expected.size());
  for (size_t i = 0; i < actual.size(); i++) ASSERT_NEAR(actual[i], expected[i], tolerance) << "element " << i;
}

}  // namespace ortolan::gpu
