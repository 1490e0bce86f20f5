// The memories of a session's providers: allocating in them, copying between them, and the queues of a run.
#include "runtime/providers/devices.h"

#include <algorithm>

#include "runtime/session/session_options.h"

namespace ortolan::runtime {
namespace {

constexpr size_t kMostHeldBytes = size_t{256} << 20;  // of the CPU's memory that a run holds before it waits

/** Goes through steps that must all be done, whichever fails. */
class FirstError {
 public:
  template <class Step>
  void attempt(Step&& step) {
    try {
      step();
    } catch (...) {
      if (first_ == nullptr) first_ = std::current_exception();
    }
  }
  void rethrow() const {
    if (first_ != nullptr) std::rethrow_exception(first_);
  }

 private:
  std::exception_ptr first_;
};

}  // namespace

ChosenKernel ExecutionProvider::make_kernel(const KernelInfo& info) const {
  const KernelRegistry* registry = kernel_registry();
  const KernelRow* row = registry != nullptr ? registry->find(info.node()) : nullptr;
  require(row != nullptr, ErrorCode::kRuntimeException, "provider '", type(), "' has no kernel for a node it took");
  return {row->make(info), row->reuse};
}

std::string provider_entry(const std::string& type, const std::string& key) {
  std::string lower = type;
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return join("ep.", lower, ".", key);
}

RunStreams::RunStreams(std::span<const std::unique_ptr<ExecutionProvider>> providers)
    : providers_(providers), queues_(providers.size()) {}

Stream* RunStreams::of(size_t provider) {
  if (theirs_ != nullptr && same_place(theirs_->memory(), providers_[provider]->memory())) return theirs_;
  Queue& queue = queues_[provider];
  if (!queue.asked) {
    queue.stream = providers_[provider]->make_stream();
    queue.asked = true;
  }
  queue.used = true;
  return queue.stream.get();
}

Stream* RunStreams::on(const MemoryInfo& memory) {
  if (memory.on_cpu()) return nullptr;
  for (size_t i = 0; i < providers_.size(); ++i) {
    if (same_device(providers_[i]->memory(), memory)) return of(i);
  }
  return nullptr;
}

void RunStreams::hold(Stream& queue, std::shared_ptr<void> memory, size_t bytes) {
  if (held_bytes_ + bytes > kMostHeldBytes) settle();
  held_.push_back({&queue, std::move(memory), bytes});
  held_bytes_ += bytes;
}

void RunStreams::forget(const Stream& queue) {
  std::erase_if(held_, [&](const Held& held) {
    if (held.queue != &queue) return false;
    held_bytes_ -= held.bytes;
    return true;
  });
}

void RunStreams::settle(Stream& queue) {
  if (std::ranges::find(held_, &queue, &Held::queue) == held_.end()) return;
  queue.wait(nullptr);
  forget(queue);
}

void RunStreams::settle() {
  while (!held_.empty()) settle(*held_.back().queue);
}

void RunStreams::end_run() {
  FirstError errors;
  for (Queue& queue : queues_) {
    if (!std::exchange(queue.used, false) || queue.stream == nullptr) continue;
    errors.attempt([&] { queue.stream->end_run(); });
  }
  while (!held_.empty()) {
    Stream& queue = *held_.back().queue;
    errors.attempt([&] { queue.wait(nullptr); });
    forget(queue);
  }
  theirs_ = nullptr;
  kept_.clear();
  errors.rethrow();
}

DeviceMemories::DeviceMemories(std::span<const std::unique_ptr<ExecutionProvider>> providers) {
  for (const auto& provider : providers) {
    if (provider->data_transfer() != nullptr) transfers_.push_back(provider->data_transfer());
    for (auto& allocator : provider->allocators()) allocators_.push_back(std::move(allocator));
  }
}

/** That of the very device first: memory of a device that the CPU can reach is a last resort for the CPU. */
std::shared_ptr<Allocator> DeviceMemories::find_allocator(const MemoryInfo& memory, bool read_only) const {
  std::shared_ptr<Allocator> last_resort;
  for (const auto& known : allocators_) {
    const MemoryInfo& info = known->info();
    if ((info.allocator_type == kReadOnlyAllocator) != read_only || !same_place(info, memory)) continue;
    if (same_device(info, memory) && info.host_accessible == memory.host_accessible) return known;
    if (last_resort == nullptr) last_resort = known;
  }
  return last_resort;
}

std::shared_ptr<Allocator> DeviceMemories::find_allocator(const MemoryInfo& memory) const {
  return find_allocator(memory, memory.allocator_type == kReadOnlyAllocator);
}

std::shared_ptr<Allocator> DeviceMemories::allocator(const MemoryInfo& memory) const {
  std::shared_ptr<Allocator> found = find_allocator(memory, /*read_only=*/false);
  require(found != nullptr, ErrorCode::kInvalidArgument, "no provider of the session has memory '", memory.name,
          "' on device ", memory.device.id, "; add the provider of that device to the session options");
  return found;
}

Tensor DeviceMemories::make(const MemoryInfo& memory, ElementType type, const Shape& shape, RunStreams* streams) const {
  std::shared_ptr<Allocator> from = allocator(memory);
  Stream* stream = streams != nullptr ? streams->on(memory) : nullptr;
  if (stream == nullptr) return Tensor(type, shape, from);
  require(type != ElementType::kString, ErrorCode::kInvalidArgument, "strings cannot be on a device");
  void* block = from->allocate_on(*stream, bytes_for(type, shape.element_count()));
  std::shared_ptr<void> owner(block, [from](void* data) { from->free(data); });
  return Tensor(type, shape, block, std::move(owner), from->info());
}

const DataTransfer* DeviceMemories::transfer(const MemoryInfo& from, const MemoryInfo& to) const {
  for (const DataTransfer* transfer : transfers_) {
    if (transfer->can_copy(from, to)) return transfer;
  }
  return nullptr;
}

void DeviceMemories::start_directly(const DataTransfer& transfer, const Tensor& from, Tensor& to,
                                    RunStreams* streams) const {
  Stream* source = streams != nullptr ? streams->on(from.memory()) : nullptr;
  Stream* target = streams != nullptr ? streams->on(to.memory()) : nullptr;
  if (source != nullptr && target != nullptr && source != target) source->wait(target);
  Stream* queue = target != nullptr ? target : source;
  const Tensor* on_cpu = from.memory().on_cpu() ? &from : to.memory().on_cpu() ? &to : nullptr;
  if (queue != nullptr && on_cpu != nullptr) streams->hold(*queue, on_cpu->owner(), on_cpu->byte_count());
  transfer.copy(from, to, queue);
}

namespace {

/** True for memory of a device that the CPU can reach. */
bool is_pinned(const Tensor& tensor) { return tensor.memory().on_cpu() && !(tensor.memory().device == Device{}); }

/** Memory that the CPU can reach, as the CPU's own. */
Tensor as_cpu(const Tensor& tensor) {
  if (!is_pinned(tensor)) return tensor;
  return Tensor(tensor.type(), tensor.shape(), const_cast<void*>(tensor.raw()), tensor.owner());
}

}  // namespace

void DeviceMemories::copy(const Tensor& from, Tensor& to, RunStreams* streams) const {
  start_copy(from, to, streams);
  if (streams == nullptr || from.memory().on_cpu() == to.memory().on_cpu()) return;
  Stream* queue = streams->on(to.memory().on_cpu() ? from.memory() : to.memory());
  if (queue != nullptr) streams->settle(*queue);
}

void DeviceMemories::start_copy(const Tensor& from, Tensor& to, RunStreams* streams) const {
  if (from.memory().on_cpu() && to.memory().on_cpu()) return copy_elements(from, to);
  require(from.type() == to.type() && from.element_count() == to.element_count(), ErrorCode::kInvalidArgument,
          "cannot copy ", name_of(from.type()), from.shape(), " to ", name_of(to.type()), to.shape());
  if (from.element_count() == 0) return;
  if (const DataTransfer* direct = transfer(from.memory(), to.memory())) {
    return start_directly(*direct, from, to, streams);
  }
  if (is_pinned(from) || is_pinned(to)) {  // of a device that the other's transfer does not know
    Tensor target = as_cpu(to);
    return start_copy(as_cpu(from), target, streams);
  }
  bool through_cpu = !from.memory().on_cpu() && !to.memory().on_cpu();
  require(through_cpu, ErrorCode::kFail, "no provider copies between memory '", from.memory().name, "' and '",
          to.memory().name, "'; add the provider of that memory to the session options");
  Tensor between = copied(from, cpu_allocator()->info(), streams);
  start_copy(between, to, streams);
}

Tensor DeviceMemories::copied(const Tensor& from, const MemoryInfo& to, RunStreams* streams) const {
  Tensor result = make(to, from.type(), from.shape(), streams);
  copy(from, result, streams);
  return result;
}

Tensor DeviceMemories::copied_constant(const Tensor& from, const MemoryInfo& to) const {
  std::shared_ptr<Allocator> constants = find_allocator(to, /*read_only=*/true);
  Tensor result(from.type(), from.shape(), constants != nullptr ? constants : allocator(to));
  copy(from, result, nullptr);
  return result;
}

Tensor duplicate(const Tensor& tensor, const RunServices& services) {
  if (tensor.memory().on_cpu()) return clone(tensor);
  require(services.devices != nullptr, ErrorCode::kInvalidArgument, "a value is in memory '", tensor.memory().name,
          "', which no provider of the session has");
  return services.devices->copied(tensor, tensor.memory(), services.streams);
}

SessionDevices::SessionDevices(std::span<const std::unique_ptr<ExecutionProvider>> providers)
    : providers_(providers),
      memories_(providers),
      concurrent_(std::ranges::all_of(providers, [](const auto& provider) { return provider->concurrent_runs(); })) {}

std::unique_ptr<RunStreams> SessionDevices::take_streams() {
  std::lock_guard lock(mutex_);
  if (free_.empty()) return std::make_unique<RunStreams>(providers_);
  auto streams = std::move(free_.back());
  free_.pop_back();
  return streams;
}

void SessionDevices::give_back(std::unique_ptr<RunStreams> streams) {
  std::lock_guard lock(mutex_);
  free_.push_back(std::move(streams));
}

std::unique_lock<std::mutex> SessionDevices::one_at_a_time() {
  return concurrent_ ? std::unique_lock<std::mutex>() : std::unique_lock<std::mutex>(runs_);
}

DeviceRun::DeviceRun(SessionDevices& devices, const RunOptions& options, RunServices& services)
    : devices_(devices), options_(options), alone_(devices.one_at_a_time()), streams_(devices.take_streams()) {
  streams_->use(options.stream);
  services.devices = &devices.memories();
  services.streams = streams_.get();
  try {
    for (const auto& provider : devices_.providers()) {
      provider->on_run_start(options_);
      ++started_;
    }
  } catch (...) {
    end_providers();
    throw;
  }
}

/** The first error is thrown once all have been told. */
void DeviceRun::end_providers() {
  FirstError errors;
  size_t started = std::exchange(started_, 0);
  for (size_t i = 0; i < started; ++i) {
    errors.attempt([&] { devices_.providers()[i]->on_run_end(options_, options_.synchronize); });
  }
  if (streams_ != nullptr) {
    errors.attempt([&] { streams_->end_run(); });
    devices_.give_back(std::move(streams_));
  }
  errors.rethrow();
}

void DeviceRun::finish() { end_providers(); }

DeviceRun::~DeviceRun() {
  if (streams_ == nullptr) return;
  try {
    end_providers();
  } catch (...) {  // the run has failed already, and that error is the one to report
  }
}

}  // namespace ortolan::runtime
