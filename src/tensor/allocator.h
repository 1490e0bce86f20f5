// Where memory is and who hands it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ortolan::tensor {

/** Numbers are those of OrtMemType. */
enum class MemoryType : int8_t { kCpuInput = -2, kCpuOutput = -1, kDefault = 0 };
/** Numbers are those of OrtMemoryInfoDeviceType. */
enum class DeviceType : int8_t { kCpu = 0, kGpu = 1, kFpga = 2, kNpu = 3 };

/** A device; two are the same only when type, vendor and id all are. */
struct Device {
  DeviceType type = DeviceType::kCpu;
  uint32_t vendor = 0;
  int32_t id = 0;
  bool operator==(const Device&) const = default;
};

/** What a block of memory is: the allocator's name, kind of allocator, device, and whether the CPU can read it. */
struct MemoryInfo {
  std::string name = "Cpu";
  int allocator_type = 1;  // OrtAllocatorType: 0 device, 1 arena
  MemoryType memory_type = MemoryType::kDefault;
  Device device;
  bool host_accessible = true;
  size_t alignment = 0;
  bool operator==(const MemoryInfo&) const = default;
  bool on_cpu() const { return device.type == DeviceType::kCpu || host_accessible; }
};

/** The one equal to `info` that lives as long as the process: what tensors and allocators refer to. */
const MemoryInfo& interned(const MemoryInfo& info);

/** What an allocator has done since it was made; bytes. */
struct AllocatorStats {
  int64_t in_use = 0;
  int64_t max_in_use = 0;
  int64_t limit = 0;
  int64_t allocations = 0;
  int64_t arena_extensions = 0;
  int64_t arena_shrinkages = 0;
  int64_t reserves = 0;
  int64_t total_allocated = 0;
  int64_t max_allocation = 0;
};

class Stream;

/** Hands out blocks aligned to 64 bytes. All calls may come from any thread. */
class Allocator {
 public:
  virtual ~Allocator() = default;
  /** A block of at least `bytes`; NULL for 0. Throws std::bad_alloc or Error when there is none. */
  virtual void* allocate(size_t bytes) = 0;
  /** Like allocate, for blocks that live as long as a session. */
  virtual void* reserve(size_t bytes) { return allocate(bytes); }
  /** Like allocate, for work that goes into `stream`, a queue of the allocator's own device. */
  virtual void* allocate_on(Stream& stream, size_t bytes) { return allocate(bytes); }
  virtual void free(void* block) noexcept = 0;
  virtual const MemoryInfo& info() const = 0;
  virtual AllocatorStats stats() const { return {}; }
  /** Gives unused memory back to the system. */
  virtual void shrink() {}
};

/** The process's plain CPU allocator; never destroyed. */
const std::shared_ptr<Allocator>& cpu_allocator();

}  // namespace ortolan::tensor
