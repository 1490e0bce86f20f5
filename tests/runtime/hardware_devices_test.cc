// The machine's devices, from folders made up as /proc and /sys are.
#include "runtime/providers/hardware_devices.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace ortolan::runtime {
namespace {

namespace fs = std::filesystem;

/** A machine of files; removed at the end. */
class Machine {
 public:
  Machine() : root_(fs::temp_directory_path() / ("ortolan_machine_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  ~Machine() { fs::remove_all(root_); }

  void write(const fs::path& file, const std::string& text) {
    fs::create_directories((root_ / file).parent_path());
    std::ofstream(root_ / file) << text;
  }
  void pci(const std::string& address, const char* device_class, const char* vendor, const char* device) {
    fs::path folder = "sys/devices/pci0000:00/" + address;
    write(folder / "class", std::string(device_class) + "\n");
    write(folder / "vendor", std::string(vendor) + "\n");
    write(folder / "device", std::string(device) + "\n");
    link("sys/bus/pci/devices/" + address, folder);
  }
  void link(const fs::path& from, const fs::path& to) {
    fs::create_directories((root_ / from).parent_path());
    fs::create_directory_symlink(root_ / to, root_ / from);
  }
  std::vector<HardwareDevice> find() const { return find_devices(root_); }

 private:
  fs::path root_;
};

std::string entry(const HardwareDevice& device, const char* key) {
  const std::string* value = device.metadata.find(key);
  return value == nullptr ? "none" : *value;
}

TEST(HardwareDevices, ACpuIsAlwaysThere) {
  auto devices = Machine().find();
  ASSERT_EQ(devices.size(), 1u);
  EXPECT_EQ(devices[0].type, HardwareType::kCpu);
  EXPECT_EQ(devices[0].vendor, 0u);
}

TEST(HardwareDevices, TheCpuHasAMaker) {
  Machine machine;
  machine.write("proc/cpuinfo", "processor\t: 0\nvendor_id\t: GenuineIntel\n");
  EXPECT_EQ(machine.find()[0].vendor, 0x8086u);
  EXPECT_EQ(machine.find()[0].vendor_name, "Intel");
  machine.write("proc/cpuinfo", "processor : 0\nCPU implementer\t: 0x99\n");
  EXPECT_EQ(machine.find()[0].vendor_name, "0x99");
}

TEST(HardwareDevices, AreFoundOnce) {
  Machine machine;
  machine.pci("0000:00:02.0", "0x030000", "0x8086", "0x46a6");
  machine.pci("0000:01:00.0", "0x030200", "0x10de", "0x2335");
  machine.pci("0000:00:0b.0", "0x120000", "0x8086", "0x7d1d");
  machine.pci("0000:00:1f.0", "0x060100", "0x8086", "0x1234");
  machine.link("sys/class/drm/card1/device", "sys/devices/pci0000:00/0000:00:02.0");
  machine.link("sys/class/drm/card1-HDMI-A-1/device", "sys/devices/pci0000:00/0000:00:02.0");
  machine.link("sys/class/drm/renderD128/device", "sys/devices/pci0000:00/0000:00:02.0");
  machine.link("sys/class/accel/accel0/device", "sys/devices/pci0000:00/0000:00:0b.0");
  auto devices = machine.find();
  ASSERT_EQ(devices.size(), 4u);
  EXPECT_EQ(devices[1].type, HardwareType::kGpu);
  EXPECT_EQ(devices[1].id, 0x46a6u);
  EXPECT_EQ(entry(devices[1], "card_idx"), "1");
  EXPECT_EQ(entry(devices[1], "pci_bus_id"), "0000:00:02.0");
  EXPECT_EQ(entry(devices[1], "Discrete"), "none");
  EXPECT_EQ(devices[2].vendor_name, "NVIDIA");
  EXPECT_EQ(entry(devices[2], "Discrete"), "1");
  EXPECT_EQ(entry(devices[2], "card_idx"), "none");
  EXPECT_EQ(devices[3].type, HardwareType::kNpu);
  EXPECT_EQ(entry(devices[3], "accel_idx"), "0");
}

TEST(HardwareDevices, BrokenEntriesAreLeftOut) {
  Machine machine;
  machine.pci("0000:00:02.0", "0x030000", "unknown", "0x1");
  machine.pci("0000:00:03.0", "0x03zz", "0x8086", "");
  machine.link("sys/class/drm/card0/device", "sys/devices/missing");
  machine.write("sys/class/drm/card", "no folder");
  EXPECT_EQ(machine.find().size(), 1u);
}

}  // namespace
}  // namespace ortolan::runtime
