// The devices of the machine that execution providers may use: its CPU, GPUs and NPUs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/key_values.h"

namespace ortolan::runtime {

/** Numbers are those of OrtHardwareDeviceType. */
enum class HardwareType : int { kCpu = 0, kGpu = 1, kNpu = 2 };

/** A device, of the machine or made up by a plugin. */
struct HardwareDevice {
  HardwareType type = HardwareType::kCpu;
  uint32_t vendor = 0;  // on PCI the PCI number
  uint32_t id = 0;      // of the model, not of the device among its like
  std::string vendor_name;
  base::KeyValues metadata;  // "card_idx" or "accel_idx", "pci_bus_id", "Discrete" (0 or 1) where they are known
};

/** The machine's devices, the CPU first, then GPUs, then NPUs. Found at the first call, never destroyed. */
std::span<const HardwareDevice> machine_devices();

/** The same for a machine whose /proc and /sys are below `root`. */
std::vector<HardwareDevice> find_devices(const std::string& root);

}  // namespace ortolan::runtime
