// The test device as a provider library, TestDeviceExecutionProvider. The variable ORTOLAN_TEST_DEVICE chooses it: a
// class (wide, lanes, gpu), a width of vectors (1, 4, 16), an order and whether it has 16-bit arithmetic (fp16 or not),
// as in "gpu 4 7 fp16", which is the default. Its library of products makes those that it is asked for.
#include <cstdlib>
#include <sstream>

#include "gpu/epkit/exports.h"
#include "gpu/testdevice/test_device.h"

namespace ortolan::gpu::test {
namespace {

TestDeviceOptions chosen_options() {
  TestDeviceOptions options;
  options.order = 7;
  options.library_suits_from = INT64_MAX;
  const char* chosen = std::getenv("ORTOLAN_TEST_DEVICE");
  if (chosen == nullptr) return options;
  std::istringstream words(chosen);
  std::string kind, half;
  words >> kind >> options.vector_width >> options.order >> half;
  options.has_half_arithmetic = half == "fp16";
  options.kind = kind == "wide" ? DeviceClass::kWide : kind == "lanes" ? DeviceClass::kLanes : DeviceClass::kGpu;
  return options;
}

class TestBackend : public epkit::Backend {
 public:
  const char* provider() const override { return "TestDeviceExecutionProvider"; }
  const char* memory() const override { return "TestDevice"; }
  const char* version() const override { return "1.0.0"; }
  const char* half_feature() const override { return "fp16"; }
  std::vector<DeviceTraits> list_devices() override { return {TestDevice(chosen_options()).traits()}; }
  std::unique_ptr<Device> open(size_t) override {
    auto device = std::make_unique<TestDevice>(chosen_options());
    opened_ = device.get();
    return device;
  }
  /** The device that was opened last, which must live. */
  TestDevice& opened() const { return *opened_; }

 private:
  std::atomic<TestDevice*> opened_{nullptr};
};

TestBackend& test_backend() {
  static auto* one = new TestBackend;
  return *one;
}

epkit::Backend& backend() { return test_backend(); }

}  // namespace
}  // namespace ortolan::gpu::test

/** Tells a test what the device opened last has done: bytes written, read and copied, lists recorded, groups run. */
extern "C" ORT_EXPORT void TestDeviceWork(int64_t* counts) {
  const ortolan::gpu::test::Work& work = ortolan::gpu::test::test_backend().opened().work();
  for (const std::atomic<int64_t>* count :
       {&work.bytes_written, &work.bytes_read, &work.bytes_copied, &work.lists, &work.groups}) {
    *counts++ = *count;
  }
}

/** Lets the library's next product fail on the device opened last. */
extern "C" ORT_EXPORT void TestDeviceFailProduct() {
  ortolan::gpu::test::test_backend().opened().faults().products_to_failure = 0;
}

ORTOLAN_EXPORT_PROVIDER(ortolan::gpu::test::backend)
