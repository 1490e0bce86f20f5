// Queues that tell the device's memory whether they have work.
#include "gpu/epkit/device_context.h"

#include <cstring>

namespace ortolan::gpu::epkit {

RunQueue::RunQueue(DeviceContext& context, ProfileRecords* records, void* theirs)
    : context_(context), records_(records), theirs_(theirs), queue_(make_queue(false)), working_(context.device()) {
  std::lock_guard lock(context_.mutex_);
  context_.queues_.insert(this);
}

RunQueue::~RunQueue() {
  {
    std::lock_guard lock(context_.mutex_);
    context_.queues_.erase(this);
  }
  queue_.reset();  // waits
  context_.memory().queue_is_idle(this);
}

Queue& RunQueue::busy() {
  if (!busy_) {
    take_times_if_wanted();
    context_.memory().queue_is_busy(this);
  }
  busy_ = true;
  return *queue_;
}

// The queue, which has no work, is made anew where it is to take times, or no longer.
void RunQueue::take_times_if_wanted() {
  bool wanted = records_ != nullptr && records_->takes_device_times();
  if (wanted == working_.takes_times()) return;
  std::unique_ptr<Queue> other = make_queue(wanted);
  std::lock_guard lock(context_.mutex_);  // others may wait for the queue
  std::swap(queue_, other);
  working_.take_times(wanted);
}

std::unique_ptr<Queue> RunQueue::make_queue(bool timed) const {
  if (theirs_ == nullptr) return context_.device().create_queue(timed);
  return dynamic_cast<SharedDevice&>(context_.device()).create_queue_on(theirs_, timed);
}

void RunQueue::finish() {
  if (!busy_) return;
  busy_ = false;
  struct Idle {
    RunQueue& queue;
    ~Idle() { queue.context_.memory().queue_is_idle(&queue); }
  } idle{*this};
  queue_->finish();
  if (working_.takes_times()) records_->add(working_.timed());
  working_.check();
}

void RunQueue::flush() {
  if (busy_) queue_->flush();
}

std::shared_ptr<Mark> RunQueue::mark() { return queue_->mark(); }

DeviceContext::DeviceContext(std::unique_ptr<Device> device) : device_(std::move(device)), memory_(*device_) {}

DeviceContext::~DeviceContext() = default;

Engine& DeviceContext::engine(const std::filesystem::path& folder, Tuning tuning, Products products,
                              Precision precision) {
  std::lock_guard lock(mutex_);
  std::unique_ptr<Engine>& engine = engines_[{folder, tuning, products, precision}];
  if (engine == nullptr) engine = std::make_unique<Engine>(*device_, folder, tuning, products, precision);
  return *engine;
}

RunQueue* DeviceContext::find_queue(void* handle) {
  std::lock_guard lock(mutex_);
  auto found = queues_.find(static_cast<RunQueue*>(handle));
  return found == queues_.end() ? nullptr : *found;
}

void DeviceContext::finish() {
  std::lock_guard lock(mutex_);  // no queue ends meanwhile
  for (RunQueue* queue : queues_) queue->wait();
}

ScopedQueue::ScopedQueue(DeviceContext& context, void* handle, ProfileRecords* records)
    : queue_(context.find_queue(handle)) {
  if (queue_ != nullptr) return;
  own_ = std::make_unique<RunQueue>(context, records);
  queue_ = own_.get();
}

void ScopedQueue::close() {
  if (own_ != nullptr) own_->finish();
}

void copy_tensor(RunQueue& queue, const Tensor& from, const Tensor& to) {
  if (from.bytes != to.bytes) {
    fail(ORT_INVALID_ARGUMENT,
         "cannot copy " + std::to_string(from.bytes) + " bytes to a tensor of " + std::to_string(to.bytes) + " bytes");
  }
  if (from.bytes == 0) return;
  DeviceMemory& memory = queue.context().memory();
  bool from_device = memory.holds(from.address), to_device = memory.holds(to.address);
  if (from_device && to_device) {
    queue.busy().copy(memory.range_to_write(to.address, to.bytes), memory.range(from.address, from.bytes));
  } else if (to_device) {
    queue.busy().write(memory.range_to_write(to.address, to.bytes), from.address);
    memory.remember(to.address, from.address, to.bytes);
    queue.finish();  // the runtime may reuse the source as soon as this returns
  } else if (from_device) {
    queue.busy().read(to.address, memory.range(from.address, from.bytes));
    queue.finish();
  } else {
    std::memcpy(to.address, from.address, from.bytes);
  }
}

}  // namespace ortolan::gpu::epkit
