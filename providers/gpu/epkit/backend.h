// What a provider library is made of: a backend with its names.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gpu/device/device.h"
#include "gpu/epkit/options.h"

namespace ortolan::gpu::epkit {

/** A provider's names and its devices. Lives as long as the process. */
class Backend {
 public:
  virtual ~Backend() = default;
  virtual const char* provider() const = 0;  // "OpenCLExecutionProvider"
  virtual const char* memory() const = 0;    // name of its memory, "OpenCL"
  virtual const char* version() const = 0;
  virtual const char* half_feature() const = 0;  // what a driver calls DeviceTraits::has_half_arithmetic, "cl_khr_fp16"
  /** Whose number the memory has: devices are shown under a number of our own, as what a driver shows need not be on a
   * bus; memory that others share has theirs. */
  virtual uint32_t memory_vendor() const { return kOwnVendor; }
  static constexpr uint32_t kOwnVendor = 0x4F52;
  virtual std::span<const ProviderOption> options() const { return {}; }
  /** What the machine has. Throws kNoDevice, with what to install, where that is nothing. */
  virtual std::vector<DeviceTraits> list_devices() = 0;
  /** Opens device i of that list. */
  virtual std::unique_ptr<Device> open(size_t i) = 0;
};

/** A backend whose devices kFind lists as records with `traits`, and kOpen opens. */
template <auto kFind, auto kOpen>
class FindingBackend : public Backend {
 public:
  std::vector<DeviceTraits> list_devices() override {
    found_ = kFind();
    std::vector<DeviceTraits> traits;
    for (const auto& device : found_) traits.push_back(device.traits);
    return traits;
  }
  std::unique_ptr<Device> open(size_t i) override { return kOpen(found_.at(i)); }

 private:
  decltype(kFind()) found_;
};

}  // namespace ortolan::gpu::epkit
