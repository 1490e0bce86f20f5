// The test device as a provider library, TestDeviceExecutionProvider. The variable ORTOLAN_TEST_DEVICE chooses it: a
// class (wide, lanes, gpu), a width of vectors (1, 4, 16) and an order, as in "gpu 4 7", which is the default.
#include <cstdlib>
#include <sstream>

#include "gpu/epkit/exports.h"
#include "gpu/testdevice/test_device.h"

namespace ortolan::gpu::test {
namespace {

TestDeviceOptions chosen_options() {
  TestDeviceOptions options;
  options.order = 7;
  const char* chosen = std::getenv("ORTOLAN_TEST_DEVICE");
  if (chosen == nullptr) return options;
  std::istringstream words(chosen);
  std::string kind;
  words >> kind >> options.vector_width >> options.order;
  options.kind = kind == "wide" ? DeviceClass::kWide : kind == "lanes" ? DeviceClass::kLanes : DeviceClass::kGpu;
  return options;
}

class TestBackend : public epkit::Backend {
 public:
  const char* provider() const override { return "TestDeviceExecutionProvider"; }
  const char* memory() const override { return "TestDevice"; }
  const char* version() const override { return "1.0.0"; }
  std::vector<DeviceTraits> list_devices() override { return {TestDevice(chosen_options()).traits()}; }
  std::unique_ptr<Device> open(size_t) override { return std::make_unique<TestDevice>(chosen_options()); }
};

epkit::Backend& backend() {
  static auto* one = new TestBackend;
  return *one;
}

}  // namespace
}  // namespace ortolan::gpu::test

ORTOLAN_EXPORT_PROVIDER(ortolan::gpu::test::backend)
