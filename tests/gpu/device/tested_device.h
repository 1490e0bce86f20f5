// The devices that the tests run on, and the kernel that they run: softmax, with its reference.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gpu/device/device.h"

namespace ortolan::gpu {

/** A test device of some order and vector width, CUDA's on the stand-in driver, or OpenCL's first device on a driver's
 * two threads. */
struct TestedDevice {
  std::string name;
  std::unique_ptr<Device> (*open)();  // throws kNoDevice
};

/** All of them. */
std::vector<TestedDevice> tested_devices();

/** A device with a queue. Tests are skipped where no driver brings the device. */
class DeviceTest : public ::testing::TestWithParam<TestedDevice> {
 protected:
  void SetUp() override;
  void use(std::unique_ptr<Device> device);
  void open_or_skip(std::unique_ptr<Device> (*open)());

  std::unique_ptr<Buffer> upload(const std::vector<float>& values);
  std::vector<float> download(const BufferRange& range);
  std::vector<float> download(Buffer& buffer) { return download({&buffer, 0, buffer.bytes()}); }

  std::unique_ptr<Device> device_;
  std::unique_ptr<Queue> queue_;
};

/** An error of this kind, and the text that it must have. */
::testing::AssertionResult throws(ErrorKind kind, const std::string& part, auto&& body) {
  try {
    body();
  } catch (const Error& error) {
    std::string text = error.what();
    if (error.kind() == kind && !part.empty() && text.find(part) != std::string::npos) {
      return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "kind " << static_cast<int>(error.kind()) << ", text " << text;
  }
  return ::testing::AssertionFailure() << "nothing was thrown";
}

inline BufferRange whole(Buffer& buffer) { return {&buffer, 0, buffer.bytes()}; }
/** A part of an external buffer, or all of one of so many bytes. */
inline Binding external(int position, size_t bytes, size_t offset = 0) { return {{nullptr, offset, bytes}, position}; }

/** The spec of softmax with groups of that many items. */
KernelSpec softmax_spec(int items);
/** A launch over rows of `cols` elements. */
Launch softmax_launch(std::shared_ptr<const Kernel> kernel, int rows, int cols, Binding x, Binding y);
/** In double precision. */
std::vector<float> softmax_reference(const std::vector<float>& x, int cols);
std::vector<float> random_floats(size_t count);
void expect_near(const std::vector<float>& actual, const std::vector<float>& expected, float tolerance = 1e-6f);

}  // namespace ortolan::gpu
