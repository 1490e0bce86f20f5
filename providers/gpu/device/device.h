// A device that runs kernels: what a backend provides and the core uses. Names no API.
//
// All failures are gpu::Error. Devices are thread-safe; a queue or a command list is used by one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gpu/device/error.h"

namespace ortolan::gpu {

/** Which algorithms suit a device. */
enum class DeviceClass {
  kWide,   // a CPU as an OpenCL device: one item a group, wide vectors, no use of shared memory
  kLanes,  // a CPU as a Vulkan device: items are lanes of a vector, large tiles in registers
  kGpu,    // many items a group, fast shared memory
};

enum class DeviceType { kGpu, kCpu, kAccelerator };

/** Matrices that units take whole (K_MATRIX_MULTIPLY): rows x depth by depth x columns, shared by so many items, a row
 * of a group. */
struct UnitMatrices {
  int rows = 0, columns = 0, depth = 0;  // multiples of 8; the depth divides 32
  int items = 0;                         // 0: units do not take matrices so
};

/** Units that multiply small matrices, by the factors that they take; sums have 32 bits. Where they do not take
 * matrices whole, groups have 32 items a row (K_HAS_MATRIX_UNITS). */
struct MatrixUnits {
  bool half = false;    // 16-bit floats
  bool tf32 = false;    // floats rounded to 11 bits of mantissa
  bool bfloat = false;  // floats rounded to 8 bits of mantissa
  bool bytes = false;   // signed bytes, whose sums have 32 bits and wrap
  UnitMatrices whole = {};
};

inline constexpr uint32_t kMostGroups = 0x7fffffff;  // of a launch

struct DeviceTraits {
  DeviceType type = DeviceType::kGpu;
  std::string name;  // of the device, as its driver says
  std::string vendor;
  std::string driver;  // its version: a compiled kernel is good for one device, driver and text
  DeviceClass kind = DeviceClass::kGpu;
  int vector_width = 4;       // floats in the kernels' fv (K_VW): 1, 4, 8 or 16
  int vector_registers = 32;  // of a processor that makes items lanes of a vector
  int max_group_items = 1;    // work-items a group may have
  // Groups of a launch by axis. Where one has a limit, every kernel's parameters end with the counts of its groups,
  // three numbers; constant FOLDED says that the launch has them in another shape (kernels/README.md).
  std::array<uint32_t, 3> max_groups = {kMostGroups, kMostGroups, kMostGroups};
  bool limits_groups() const { return max_groups != std::array{kMostGroups, kMostGroups, kMostGroups}; }
  // Rounds of loops, of all together, after which a driver ends an item's loops without a word. Launches whose items
  // loop along data say their rounds (KernelCall::rounds).
  int64_t max_rounds = INT64_MAX;
  size_t shared_bytes = 0;              // shared memory of a group
  size_t memory_bytes = 0;              // of the device
  size_t max_buffer_bytes = 0;          // of one buffer
  size_t max_binding_bytes = SIZE_MAX;  // of one buffer that a launch sees; at most max_buffer_bytes
  size_t offset_alignment = 256;        // of offsets into buffers in bindings, in bytes; a power of two
  int compute_units = 1;
  bool has_int64 = false;            // 64-bit integers in kernels
  bool has_half_arithmetic = false;  // 16-bit floats in kernels (K_HAS_HALF), rounded to nearest, with infinities
  MatrixUnits matrix_units = {};
};

/** A block of device memory. It may end while queued work uses it: the backend keeps the memory until that is done. */
class Buffer {
 public:
  virtual ~Buffer() = default;
  size_t bytes() const { return bytes_; }

 protected:
  explicit Buffer(size_t bytes) : bytes_(bytes) {}

 private:
  size_t bytes_;
};

/** Part of a buffer. Kernels see exactly these bytes. */
struct BufferRange {
  Buffer* buffer = nullptr;
  size_t offset = 0;  // a multiple of the device's offset_alignment where it is bound to a kernel
  size_t bytes = 0;
};

struct KernelConstant {
  std::string_view name;  // of a K_CONST of the text, or of the dialect: WGX, WGY (the group's size), FOLDED
  int value;
  bool operator==(const KernelConstant&) const = default;
};

/** A kernel text with its constants: what is compiled. */
struct KernelSpec {
  std::string_view name;
  std::vector<KernelConstant> constants;  // WGX and WGY first
  bool operator==(const KernelSpec&) const = default;
};

/** A compiled kernel. Belongs to its device, which must outlive it. */
class Kernel {
 public:
  virtual ~Kernel() = default;
  /** What the device can load again without compiling; empty where it knows no such thing. May take as long as
   * compiling. Some devices finish compiling at the first launch: after one, this holds that work too. */
  virtual std::vector<std::byte> binary() const { return {}; }
  /** Whether its text was compiled: no binary was given, or the one given did not load. */
  virtual bool was_compiled() const { return true; }
};

/** A stack of `count` products C = alpha A B + beta C. A matrix lies in rows that do not overlap, `row` elements from
 * one to the next; matrices of a stack are `stack` elements apart, and A or B may be the same for all, with 0. */
struct LibraryProduct {
  struct Matrix {
    int64_t first = 0;  // the element where the first matrix begins
    int64_t row = 0, stack = 0;
    bool turned = false;  // it lies as its transpose does; not C
  };
  int64_t m = 0, n = 0, k = 0;  // A has m x k elements, B k x n: at least 1 each
  int64_t count = 1;
  Matrix a, b, c;
  float alpha = 1, beta = 0;  // C is not read where beta is 0
  bool is_half = false;       // elements are 16-bit floats; sums have 32 bits all the same
  bool is_rounded = false;    // factors of floats may be rounded to 11 bits, as the device's fast units want them
};

/** Products by a library of the device's vendor, or of others who tuned it for the device. What it allocates inside of
 * itself, also while lists run, is its own affair. Thread-safe. */
class ProductLibrary {
 public:
  virtual ~ProductLibrary() = default;
  /** With its version. */
  virtual const std::string& name() const = 0;
  /** Whether it is tuned for this device, and the product is large enough, that nobody need ask for it. */
  virtual bool suits(const LibraryProduct& product) const = 0;
  /** The product as a kernel with the bindings A, B and C, in one group without parameters; NULL where the library does
   * not do it. May take as long as compiling. */
  virtual std::shared_ptr<const Kernel> load(const LibraryProduct& product) = 0;
};

/** What a kernel's buffer argument stands for in a recorded list. */
struct Binding {
  BufferRange range;  // the memory; for an external one the part of it: offset and bytes, without a buffer
  int external = -1;  // position among the ranges given at each run; -1: `range` is the memory
};

/** A kernel's start. */
struct Launch {
  std::shared_ptr<const Kernel> kernel;
  std::array<uint32_t, 3> groups = {1, 1, 1};  // each at least 1, at most max_groups
  std::vector<Binding> bindings;               // in the order of the kernel's bindings
  std::vector<std::byte> params;               // the kernel's parameter block, at most 128 bytes
  bool after_barrier = true;                   // reads or overwrites what a launch since the last barrier used
};

/** Launches that are prepared once and run many times. The buffers bound in it must outlive it. */
class CommandList {
 public:
  virtual ~CommandList() = default;
};

/** When a launch ran: nanoseconds of std::chrono::steady_clock. */
struct LaunchTime {
  int64_t begin = 0, end = 0;
};

/** The times of a run's launches. */
class LaunchTimes {
 public:
  virtual ~LaunchTimes() = default;
  /** In the list's order. To be called once the queue has passed them. */
  virtual std::vector<LaunchTime> read() = 0;
};

/** A point in a queue. */
class Mark {
 public:
  virtual ~Mark() = default;
  /** Waits for the work before it. */
  virtual void wait() = 0;
};

/** A number that another API or program and this device raise, and wait for. Work that uses it holds it. */
class Semaphore {
 public:
  virtual ~Semaphore() = default;
};

/** Work in order. Nothing need start before flush, wait or finish. The end of a queue waits for its work. */
class Queue {
 public:
  virtual ~Queue() = default;
  /** Copies to.bytes bytes. `from` must stay as it is until the queue has passed this point. */
  virtual void write(const BufferRange& to, const void* from) = 0;
  /** Has `make` write all of the range, in the device's memory itself where host and device share it, and waits. */
  virtual void make(const BufferRange& to, const std::function<void(std::span<std::byte>)>& make) {
    std::vector<std::byte> bytes(to.bytes);
    make(bytes);
    write(to, bytes.data());
    finish();
  }
  /** Copies from.bytes bytes; they are there when the queue has passed this point. */
  virtual void read(void* to, const BufferRange& from) = 0;
  /** Copies from.bytes bytes on the device. The ranges must not overlap. */
  virtual void copy(const BufferRange& to, const BufferRange& from) = 0;
  /** Runs a list. Without allocation where `externals` has the buffers and offsets of the list's last run. */
  virtual void run(CommandList& list, std::span<const BufferRange> externals) = 0;
  /** The same, and when each launch ran; NULL where the queue takes no times. */
  virtual std::shared_ptr<LaunchTimes> run_timed(CommandList& list, std::span<const BufferRange> externals) {
    run(list, externals);
    return nullptr;
  }
  virtual std::shared_ptr<Mark> mark() = 0;
  /** What follows in this queue starts after a mark of another queue of the same device. */
  virtual void wait_for(const Mark& mark) = 0;
  /** What follows starts when the semaphore has reached the value. Who is to raise it must not wait for this queue. */
  virtual void wait_for(const std::shared_ptr<Semaphore>&, uint64_t) { fail_semaphore(); }
  /** The semaphore gets the value, which must be more than it has, when the work before is done. */
  virtual void raise(const std::shared_ptr<Semaphore>&, uint64_t) { fail_semaphore(); }
  virtual void flush() = 0;
  /** Waits for all work; from any thread. */
  virtual void finish() = 0;

 private:
  [[noreturn]] static void fail_semaphore() {
    throw Error(ErrorKind::kInternal, "a queue was given a semaphore that its device did not import");
  }
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const DeviceTraits& traits() const = 0;
  /** Names all that decides what a kernel's text compiles to, but its constants: device, driver, the text. */
  virtual std::string identity(std::string_view kernel) const = 0;
  /** At least one byte. The contents are undefined. */
  virtual std::unique_ptr<Buffer> allocate(size_t bytes) = 0;
  /** Whether memory of others can be imported by file descriptors. */
  virtual bool imports_memory() const { return false; }
  /** Memory of another API or program, all `bytes` of it, which the descriptor stands for; that stays the caller's. Its
   * work and this device's must not use it at once. Throws kInvalid where the driver does not take it. */
  virtual std::unique_ptr<Buffer> import_memory(int file, size_t bytes) {
    throw Error(ErrorKind::kInvalid, "device '" + traits().name + "' imports no memory: descriptor " +
                                         std::to_string(file) + " of " + std::to_string(bytes) + " bytes");
  }
  /** Whether semaphores of others can be imported by file descriptors. */
  virtual bool imports_semaphores() const { return false; }
  /** A timeline semaphore of Vulkan's that the descriptor stands for; that stays the caller's. Throws kInvalid where
   * the driver does not take it. */
  virtual std::shared_ptr<Semaphore> import_semaphore(int file) {
    throw Error(ErrorKind::kInvalid,
                "device '" + traits().name + "' imports no semaphores: descriptor " + std::to_string(file));
  }
  /** `binary` is what a kernel of the same spec, device and driver gave; where it does not load, the text is compiled.
   */
  virtual std::shared_ptr<const Kernel> load(const KernelSpec& spec, std::span<const std::byte> binary) = 0;
  /** Lives as long as the device; NULL where there is none. The first call may take as long as loading the library. */
  virtual ProductLibrary* product_library() { return nullptr; }
  virtual std::unique_ptr<CommandList> record(std::vector<Launch> launches) = 0;
  /** A queue that takes times may be slower; not every device can. */
  virtual std::unique_ptr<Queue> create_queue(bool timed = false) = 0;
};

}  // namespace ortolan::gpu
