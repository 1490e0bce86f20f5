// A test device that notes what the list that was recorded last launches.
#pragma once

#include "gpu/testdevice/launch.h"
#include "gpu/testdevice/test_device.h"

namespace ortolan::gpu::test {

class NotingDevice : public TestDevice {
 public:
  using Constants = std::map<std::string, int, std::less<>>;

  explicit NotingDevice(MatrixUnits units) : TestDevice(options(units)) {}
  std::unique_ptr<CommandList> record(std::vector<Launch> launches) override {
    noted_.clear();
    for (const Launch& launch : launches) noted_[runnable_of(launch).name()] = runnable_of(launch).constants();
    return TestDevice::record(std::move(launches));
  }
  bool launches(const std::string& kernel) const { return noted_.count(kernel) > 0; }
  const Constants& constants(const std::string& kernel) const { return noted_.at(kernel); }

 private:
  static TestDeviceOptions options(MatrixUnits units) {
    TestDeviceOptions options;
    options.order = 3;
    options.matrix_units = units;
    return options;
  }
  std::map<std::string, Constants> noted_;
};

}  // namespace ortolan::gpu::test
