// Queues that tell the device's memory whether they have work.
#include "gpu/epkit/device_context.h"

#include <cstring>

namespace ortolan::gpu::epkit {

RunQueue::RunQueue(DeviceContext& context)
    : context_(context), queue_(context.device().create_queue()), working_(context.device()) {
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
  if (!busy_) context_.memory().queue_is_busy(this);
  busy_ = true;
  return *queue_;
}

void RunQueue::finish() {
  if (!busy_) return;
  busy_ = false;
  struct Idle {
    RunQueue& queue;
    ~Idle() { queue.context_.memory().queue_is_idle(&queue); }
  } idle{*this};
  queue_->finish();
  working_.check();
}

void RunQueue::flush() {
  if (busy_) queue_->flush();
}

std::shared_ptr<Mark> RunQueue::mark() { return queue_->mark(); }

DeviceContext::DeviceContext(std::unique_ptr<Device> device)
    : device_(std::move(device)), engine_(*device_, default_kernel_folder()), memory_(*device_) {}

DeviceContext::~DeviceContext() = default;

RunQueue* DeviceContext::find_queue(void* handle) {
  std::lock_guard lock(mutex_);
  auto found = queues_.find(static_cast<RunQueue*>(handle));
  return found == queues_.end() ? nullptr : *found;
}

void DeviceContext::finish() {
  std::lock_guard lock(mutex_);  // no queue ends meanwhile
  for (RunQueue* queue : queues_) queue->wait();
}

ScopedQueue::ScopedQueue(DeviceContext& context, void* handle) : queue_(context.find_queue(handle)) {
  if (queue_ != nullptr) return;
  own_ = std::make_unique<RunQueue>(context);
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
    queue.busy().copy(memory.range(to.address, to.bytes), memory.range(from.address, from.bytes));
  } else if (to_device) {
    queue.busy().write(memory.range(to.address, to.bytes), from.address);
    queue.finish();  // the runtime may reuse the source as soon as this returns
  } else if (from_device) {
    queue.busy().read(to.address, memory.range(from.address, from.bytes));
    queue.finish();
  } else {
    std::memcpy(to.address, from.address, from.bytes);
  }
}

}  // namespace ortolan::gpu::epkit
