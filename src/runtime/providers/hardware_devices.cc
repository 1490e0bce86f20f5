// The devices of the machine, as /proc and /sys show them.
#include "runtime/providers/hardware_devices.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>

namespace ortolan::runtime {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kNvidia = 0x10de;

struct Vendor {
  uint32_t number;
  const char* name;
};
constexpr Vendor kVendors[] = {{0x1022, "AMD"},      {0x1002, "AMD"},          {0x8086, "Intel"}, {kNvidia, "NVIDIA"},
                               {0x5143, "Qualcomm"}, {0x106b, "Apple"},        {0x13b5, "ARM"},   {0x1414, "Microsoft"},
                               {0x19e5, "Huawei"},   {0x1d1d, "Moore Threads"}};

std::string vendor_name(uint32_t number) {
  auto found = std::ranges::find(kVendors, number, &Vendor::number);
  return found == std::end(kVendors) ? "" : found->name;
}

/** What the maker of a CPU calls itself in /proc/cpuinfo. */
struct CpuVendor {
  std::string_view text;
  uint32_t number;
};
constexpr CpuVendor kCpuVendors[] = {{"GenuineIntel", 0x8086}, {"AuthenticAMD", 0x1022}, {"0x41", 0x13b5}};

std::string first_line(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  return line;
}

/** A number as "0x10de". */
std::optional<uint32_t> hex_number(const fs::path& file) {
  std::string text = first_line(file);
  uint32_t number = 0;
  if (!text.starts_with("0x")) return std::nullopt;
  auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), number, 16);
  return error == std::errc() ? std::optional(number) : std::nullopt;
}

HardwareDevice find_cpu(const fs::path& root) {
  HardwareDevice cpu;
  std::ifstream stream(root / "proc/cpuinfo");
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("vendor_id") && !line.starts_with("CPU implementer")) continue;
    size_t colon = line.find(": ");
    if (colon == std::string::npos) break;
    cpu.vendor_name = line.substr(colon + 2);
    auto known = std::ranges::find(kCpuVendors, cpu.vendor_name, &CpuVendor::text);
    if (known == std::end(kCpuVendors)) break;
    cpu.vendor = known->number;
    cpu.vendor_name = vendor_name(known->number);
    break;
  }
  return cpu;
}

/** The number at the end of "card0"; none for other names, as "card0-HDMI-A-1". */
std::optional<std::string> number_after(const std::string& name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size()) return std::nullopt;
  std::string digits = name.substr(prefix.size());
  bool number = std::ranges::all_of(digits, [](char c) { return c >= '0' && c <= '9'; });
  return number ? std::optional(digits) : std::nullopt;
}

/** Walks the places where Linux shows devices; a device that shows in several counts once. */
class Search {
 public:
  explicit Search(fs::path root) : root_(std::move(root)) {}

  std::vector<HardwareDevice> find() {
    devices_.push_back(find_cpu(root_));
    list_class("drm", "card", HardwareType::kGpu, "card_idx");
    list_pci(0x03, HardwareType::kGpu);
    list_class("accel", "accel", HardwareType::kNpu, "accel_idx");
    list_pci(0x12, HardwareType::kNpu);
    return std::move(devices_);
  }

 private:
  static std::vector<fs::path> entries(const fs::path& folder) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      found.push_back(at->path());
    }
    std::ranges::sort(found);
    return found;
  }

  void list_class(const char* name, std::string_view prefix, HardwareType type, const char* index_key) {
    for (const fs::path& entry : entries(root_ / "sys/class" / name)) {
      auto index = number_after(entry.filename(), prefix);
      if (!index) continue;
      std::error_code error;
      fs::path device = fs::canonical(entry / "device", error);
      if (HardwareDevice* added = error ? nullptr : add(device, type)) added->metadata.set(index_key, *index);
    }
  }

  /** Devices of one class of PCI, for machines whose driver has no entry in /sys/class. */
  void list_pci(uint32_t device_class, HardwareType type) {
    for (const fs::path& entry : entries(root_ / "sys/bus/pci/devices")) {
      auto number = hex_number(entry / "class");
      std::error_code error;
      fs::path device = fs::canonical(entry, error);
      if (!error && number && *number >> 16 == device_class) add(device, type);
    }
  }

  HardwareDevice* add(const fs::path& device, HardwareType type) {
    auto vendor = hex_number(device / "vendor");
    auto id = hex_number(device / "device");
    if (!vendor || !id || !seen_.insert(device).second) return nullptr;
    HardwareDevice& added = devices_.emplace_back(HardwareDevice{type, *vendor, *id, vendor_name(*vendor), {}});
    std::string address = device.filename();
    if (std::ranges::count(address, ':') == 2) added.metadata.set("pci_bus_id", address);
    if (type == HardwareType::kGpu && *vendor == kNvidia) added.metadata.set("Discrete", "1");
    return &added;
  }

  fs::path root_;
  std::set<fs::path> seen_;
  std::vector<HardwareDevice> devices_;
};

}  // namespace

std::vector<HardwareDevice> find_devices(const std::string& root) { return Search(root).find(); }

std::span<const HardwareDevice> machine_devices() {
  static const auto& devices = *new std::vector<HardwareDevice>(find_devices("/"));
  return devices;
}

}  // namespace ortolan::runtime
