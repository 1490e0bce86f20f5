// The test device's memory, kernels and queues.
#include "gpu/testdevice/test_device.h"

#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <mutex>

#include "gpu/testdevice/launch.h"
#include "gpu/testdevice/number_in_file.h"
#include "gpu/testdevice/test_library.h"

namespace ortolan::gpu::test {
namespace {

/** Counts down to a fault; true when it is due. */
bool is_due(std::atomic<int64_t>& count) { return count.load() >= 0 && count.fetch_sub(1) == 0; }

}  // namespace

class TestBuffer : public Buffer {
 public:
  TestBuffer(TestDevice& device, size_t bytes) : TestBuffer(device, bytes, fresh_memory(bytes)) {}
  TestBuffer(TestDevice& device, size_t bytes, std::shared_ptr<std::byte> memory)
      : Buffer(bytes), device_(device), memory_(std::move(memory)) {
    device_.bytes_in_use_ += bytes;
  }
  ~TestBuffer() override { device_.bytes_in_use_ -= bytes(); }
  /** Queued work holds it. */
  std::shared_ptr<std::byte> memory() const { return memory_; }

 private:
  static std::shared_ptr<std::byte> fresh_memory(size_t bytes) {
    auto words = std::make_shared<std::vector<uint32_t>>((bytes + 3) / 4, 0x7fc0deadu);
    return {words, reinterpret_cast<std::byte*>(words->data())};
  }

  TestDevice& device_;
  std::shared_ptr<std::byte> memory_;
};

namespace {

Argument argument_of(const BufferRange& range) {
  if (range.buffer == nullptr || range.offset > range.buffer->bytes() ||
      range.bytes > range.buffer->bytes() - range.offset) {
    throw Error(ErrorKind::kInternal, "test device: bytes " + std::to_string(range.offset) + " to " +
                                          std::to_string(range.offset + range.bytes) + " are outside of their buffer");
  }
  auto memory = static_cast<TestBuffer*>(range.buffer)->memory();
  return {memory.get() + range.offset, range.bytes};
}

class TestCommandList : public CommandList {
 public:
  explicit TestCommandList(std::vector<Launch> launches) : launches_(std::move(launches)) {}
  const std::vector<Launch>& launches() const { return launches_; }

 private:
  std::vector<Launch> launches_;
};

BufferRange resolve(const Binding& binding, std::span<const BufferRange> externals) {
  if (binding.external < 0) return binding.range;
  if (static_cast<size_t>(binding.external) >= externals.size()) {
    throw Error(ErrorKind::kInternal,
                "test device: external buffer " + std::to_string(binding.external) + " is not given");
  }
  BufferRange range = externals[binding.external];
  if (binding.range.offset > range.bytes || binding.range.bytes > range.bytes - binding.range.offset) {
    throw Error(ErrorKind::kInternal,
                "test device: a binding is outside of external buffer " + std::to_string(binding.external));
  }
  return {range.buffer, range.offset + binding.range.offset, binding.range.bytes};
}

/** Shared by a queue and its marks, so that a mark may outlive its queue. */
class WorkList {
 public:
  void add(std::function<void()> work) {
    std::lock_guard lock(mutex_);
    work_.push_back(std::move(work));
    added_++;
  }
  uint64_t added() {
    std::lock_guard lock(mutex_);
    return added_;
  }
  /** Does the work up to that number. What fails is thrown; the rest is dropped. */
  void run_until(uint64_t number) {
    std::lock_guard lock(mutex_);
    while (done_ < number && !work_.empty()) {
      std::function<void()> work = std::move(work_.front());
      work_.pop_front();
      done_++;
      try {
        work();
      } catch (...) {
        done_ = added_;
        work_.clear();
        throw;
      }
    }
  }

 private:
  std::recursive_mutex mutex_;  // work may wait for a mark of its own queue
  std::deque<std::function<void()>> work_;
  uint64_t added_ = 0, done_ = 0;
};

class TestMark : public Mark {
 public:
  explicit TestMark(std::shared_ptr<WorkList> work) : work_(std::move(work)), number_(work_->added()) {}
  void wait() override { work_->run_until(number_); }
  std::function<void()> waiting() const {
    return [work = work_, number = number_] { work->run_until(number); };
  }

 private:
  std::shared_ptr<WorkList> work_;
  uint64_t number_;
};

}  // namespace

class TestTimes : public LaunchTimes {
 public:
  std::vector<LaunchTime> read() override { return times; }
  std::vector<LaunchTime> times;
};

class TestQueue : public Queue {
 public:
  TestQueue(TestDevice& device, bool timed) : device_(device), timed_(timed), work_(std::make_shared<WorkList>()) {}
  ~TestQueue() override {
    try {
      finish();
    } catch (const Error&) {  // whoever waited for the work has seen it
    }
  }

  void write(const BufferRange& to, const void* from) override {
    Argument target = argument_of(to);
    if (to.bytes == 0) return;
    device_.work_.bytes_written += static_cast<int64_t>(to.bytes);
    enqueue(to, [target, from] { std::memcpy(target.data, from, target.bytes); });
  }
  void read(void* to, const BufferRange& from) override {
    Argument source = argument_of(from);
    if (from.bytes == 0) return;
    device_.work_.bytes_read += static_cast<int64_t>(from.bytes);
    enqueue(from, [source, to] { std::memcpy(to, source.data, source.bytes); });
  }
  void copy(const BufferRange& to, const BufferRange& from) override {
    Argument target = argument_of({to.buffer, to.offset, from.bytes}), source = argument_of(from);
    auto held = static_cast<TestBuffer*>(to.buffer)->memory();
    device_.work_.bytes_copied += static_cast<int64_t>(from.bytes);
    enqueue(from, [target, source, held] { std::memcpy(target.data, source.data, source.bytes); });
  }
  void run(CommandList& list, std::span<const BufferRange> externals) override { enqueue(list, externals, nullptr); }
  std::shared_ptr<LaunchTimes> run_timed(CommandList& list, std::span<const BufferRange> externals) override {
    auto times = timed_ ? std::make_shared<TestTimes>() : nullptr;
    enqueue(list, externals, times);
    return times;
  }
  std::shared_ptr<Mark> mark() override { return std::make_shared<TestMark>(work_); }
  void wait_for(const Mark& mark) override { work_->add(static_cast<const TestMark&>(mark).waiting()); }
  void wait_for(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) override {
    work_->add([semaphore, value] { static_cast<NumberInFile&>(*semaphore).wait_for(value); });
  }
  void raise(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) override {
    work_->add([semaphore, value] { static_cast<NumberInFile&>(*semaphore).raise(value); });
  }
  void flush() override { device_.fail_if_lost(); }
  void finish() override {
    work_->run_until(work_->added());
    device_.fail_if_lost();
  }

 private:
  void enqueue(const BufferRange& used, std::function<void()> work) {
    device_.fail_if_lost();
    auto held = static_cast<TestBuffer*>(used.buffer)->memory();
    work_->add([this_device = &device_, held, work = std::move(work)] {
      this_device->fail_if_lost();
      work();
    });
  }
  void enqueue(CommandList& list, std::span<const BufferRange> externals, std::shared_ptr<TestTimes> times);
  void run_stretch(std::vector<ReadyLaunch>& stretch);

  TestDevice& device_;
  const bool timed_;
  std::shared_ptr<WorkList> work_;
};

void TestQueue::enqueue(CommandList& list, std::span<const BufferRange> externals, std::shared_ptr<TestTimes> times) {
  device_.fail_if_lost();
  auto ready = std::make_shared<std::vector<ReadyLaunch>>();
  auto held = std::make_shared<std::vector<std::shared_ptr<std::byte>>>();
  for (const Launch& launch : static_cast<TestCommandList&>(list).launches()) {
    ready->push_back({&launch, {}});
    for (const Binding& binding : launch.bindings) {
      BufferRange range = resolve(binding, externals);
      if (range.offset % device_.traits().offset_alignment != 0) {
        throw Error(ErrorKind::kInternal,
                    "test device: an external buffer is bound at the odd offset " + std::to_string(range.offset));
      }
      ready->back().arguments.push_back(argument_of(range));
      held->push_back(static_cast<TestBuffer*>(range.buffer)->memory());
    }
  }
  work_->add([this, ready, held, times] {
    std::vector<ReadyLaunch> stretch;
    for (ReadyLaunch& launch : *ready) {
      if (times != nullptr) times->times.push_back(device_.charge(*launch.launch));
      if (launch.launch->after_barrier) run_stretch(stretch);
      check_overlaps(launch, stretch);
      stretch.push_back(std::move(launch));
    }
    run_stretch(stretch);
  });
}

void TestQueue::run_stretch(std::vector<ReadyLaunch>& stretch) {
  if (device_.order_ % 2 == 1) std::reverse(stretch.begin(), stretch.end());
  for (const ReadyLaunch& launch : stretch) {
    device_.fail_if_lost();
    if (is_due(device_.faults_.launches_to_loss)) device_.lost_ = true;
    device_.fail_if_lost();
    runnable_of(*launch.launch).run(launch, device_.order_);
    device_.work_.launches++;
    const std::array<uint32_t, 3>& groups = launch.launch->groups;
    device_.work_.groups += int64_t{groups[0]} * groups[1] * groups[2];
  }
  stretch.clear();
}

TestDevice::TestDevice(const TestDeviceOptions& options) : order_(options.order) {
  if (options.library_suits_from) {
    library_ = std::make_unique<TestLibrary>(faults_.products_to_failure, *options.library_suits_from);
  }
  traits_.type = options.kind == DeviceClass::kGpu ? DeviceType::kGpu : DeviceType::kCpu;
  traits_.name = "test device";
  traits_.vendor = "Ortolan";
  traits_.driver = "1";
  traits_.kind = options.kind;
  traits_.vector_width = options.vector_width;
  traits_.vector_registers = options.vector_registers;
  traits_.max_group_items = 256;
  traits_.max_groups = options.max_groups;
  traits_.shared_bytes = 32768;
  traits_.memory_bytes = options.memory_bytes;
  traits_.max_buffer_bytes = options.max_buffer_bytes;
  traits_.max_rounds = options.max_rounds;
  traits_.max_binding_bytes = std::min(options.max_binding_bytes, options.max_buffer_bytes);
  traits_.offset_alignment = 64;
  traits_.has_int64 = true;
  traits_.has_half_arithmetic = options.has_half_arithmetic;
  traits_.matrix_units = options.matrix_units;
}

TestDevice::~TestDevice() = default;

void TestDevice::fail_if_lost() const {
  if (lost_) throw Error(ErrorKind::kDeviceLost, "test device: the device is lost");
}

std::unique_ptr<Buffer> TestDevice::allocate(size_t bytes) {
  fail_if_lost();
  if (bytes > traits_.max_buffer_bytes ||
      bytes > traits_.memory_bytes - std::min(traits_.memory_bytes, bytes_in_use_.load()) ||
      is_due(faults_.allocations_to_failure)) {
    throw Error(ErrorKind::kOutOfMemory, "test device: " + std::to_string(bytes) + " bytes are not free; " +
                                             std::to_string(bytes_in_use_) + " of " +
                                             std::to_string(traits_.memory_bytes) + " are in use");
  }
  return std::make_unique<TestBuffer>(*this, bytes);
}

std::shared_ptr<Semaphore> TestDevice::import_semaphore(int file) {
  fail_if_lost();
  return std::make_shared<NumberInFile>(file);
}

std::unique_ptr<Buffer> TestDevice::import_memory(int file, size_t bytes) {
  fail_if_lost();
  struct stat status {};
  bool fits = fstat(file, &status) == 0 && bytes > 0 && static_cast<size_t>(status.st_size) >= bytes;
  void* start = fits ? mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0) : MAP_FAILED;
  if (start == MAP_FAILED) {
    throw Error(ErrorKind::kInvalid, "test device: descriptor " + std::to_string(file) + " is that of no memory of " +
                                         std::to_string(bytes) + " bytes");
  }
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(start), [bytes](std::byte* data) { munmap(data, bytes); });
  return std::make_unique<TestBuffer>(*this, bytes, std::move(memory));
}

std::shared_ptr<const Kernel> TestDevice::load(const KernelSpec& spec, std::span<const std::byte> binary) {
  fail_if_lost();
  if (is_due(faults_.kernels_to_failure)) {
    throw Error(ErrorKind::kCompile, "test device: kernel " + std::string(spec.name) + " does not compile: as told");
  }
  auto kernel = std::make_shared<TestKernel>(spec, traits_.vector_width, binary);
  (kernel->was_compiled() ? compiled_ : loaded_)++;
  return kernel;
}

std::unique_ptr<CommandList> TestDevice::record(std::vector<Launch> launches) {
  fail_if_lost();
  for (const Launch& launch : launches) runnable_of(launch).check(launch, traits_);
  work_.lists++;
  return std::make_unique<TestCommandList>(std::move(launches));
}

std::unique_ptr<Queue> TestDevice::create_queue(bool timed) {
  fail_if_lost();
  return std::make_unique<TestQueue>(*this, timed);
}

LaunchTime TestDevice::charge(const Launch& launch) {
  const Runnable& kernel = runnable_of(launch);
  int64_t cost = cost_ != nullptr ? cost_(kernel.name(), kernel.constants(), launch.groups)
                                  : int64_t{launch.groups[0]} * launch.groups[1] * launch.groups[2];
  const int64_t now = std::chrono::steady_clock::now().time_since_epoch() / std::chrono::nanoseconds(1);
  int64_t free = clock_, begin;
  do {
    begin = std::max(free, now);
  } while (!clock_.compare_exchange_weak(free, begin + cost));
  return {begin, begin + cost};
}

}  // namespace ortolan::gpu::test
