// Queues work on a stream.
#include "cuda/queue.h"

#include <algorithm>
#include <chrono>

#include "cuda/external.h"
#include "gpu/device/checks.h"

namespace ortolan::gpu::cuda {
namespace {

EventHandle record_event(const std::shared_ptr<Context>& context, CUstream stream, unsigned flags) {
  CUevent made = nullptr;
  auto asked = [] { return std::string("a mark"); };
  context->check(context->driver().cuEventCreate(&made, flags), "cuEventCreate", asked);
  EventHandle event(context, made);
  context->check(context->driver().cuEventRecord(event.get(), stream), "cuEventRecord", asked);
  return event;
}

}  // namespace

CudaMark::CudaMark(std::shared_ptr<Context> context, CUstream stream)
    : context_(std::move(context)), event_(record_event(context_, stream, kEventDisableTiming)) {}

void CudaMark::wait() {
  auto entered = context_->enter();
  context_->check(context_->driver().cuEventSynchronize(event()), "cuEventSynchronize",
                  [] { return std::string("the work before a mark"); });
}

CudaTimes::CudaTimes(std::shared_ptr<Context> context)
    : context_(std::move(context)), started_(std::chrono::steady_clock::now().time_since_epoch().count()) {}

void CudaTimes::add(CUstream stream) { events_.push_back(record_event(context_, stream, kEventDefault)); }

// The device's clock begins where the first event was queued, at the latest.
std::vector<LaunchTime> CudaTimes::read() {
  auto entered = context_->enter();
  std::vector<LaunchTime> times;
  int64_t begin = started_;
  for (size_t i = 1; i < events_.size(); i++) {
    float milliseconds = 0;
    CUresult code = context_->driver().cuEventElapsedTime(&milliseconds, events_[0].get(), events_[i].get());
    context_->check(code, "cuEventElapsedTime", [] { return std::string("the time of a kernel"); });
    int64_t end = std::max(begin + 1, started_ + static_cast<int64_t>(double{milliseconds} * 1e6));
    times.push_back({begin, end});
    begin = end;
  }
  return times;
}

CudaQueue::CudaQueue(std::shared_ptr<Context> context, bool timed)
    : context_(std::move(context)), timed_(timed), owns_stream_(true) {
  auto entered = context_->enter();
  context_->check(context_->driver().cuStreamCreate(&stream_, kStreamNonBlocking), "cuStreamCreate",
                  [] { return std::string("a queue"); });
  context_->add(stream_);
}

CudaQueue::CudaQueue(std::shared_ptr<Context> context, CUstream theirs, bool timed)
    : context_(std::move(context)), timed_(timed), owns_stream_(false), stream_(theirs) {
  context_->add(stream_);
}

CudaQueue::~CudaQueue() {
  context_->remove(stream_);
  Context::Entered entered(*context_);
  context_->driver().cuStreamSynchronize(stream_);
  if (owns_stream_) context_->driver().cuStreamDestroy(stream_);
}

void CudaQueue::write(const BufferRange& to, const void* from) {
  auto entered = context_->enter();
  CUdeviceptr address = address_of(to);
  if (to.bytes == 0) return;
  context_->check(context_->driver().cuMemcpyHtoDAsync(address, from, to.bytes, stream_), "cuMemcpyHtoDAsync",
                  [&] { return words_of("writing", to); });
}

void CudaQueue::read(void* to, const BufferRange& from) {
  auto entered = context_->enter();
  CUdeviceptr address = address_of(from);
  if (from.bytes == 0) return;
  context_->check(context_->driver().cuMemcpyDtoHAsync(to, address, from.bytes, stream_), "cuMemcpyDtoHAsync",
                  [&] { return words_of("reading", from); });
}

void CudaQueue::copy(const BufferRange& to, const BufferRange& from) {
  auto entered = context_->enter();
  CUdeviceptr source = address_of(from), target = address_of({to.buffer, to.offset, from.bytes});
  if (from.bytes == 0) return;
  context_->check(context_->driver().cuMemcpyDtoDAsync(target, source, from.bytes, stream_), "cuMemcpyDtoDAsync",
                  [&] { return words_of("copying", from); });
}

void CudaQueue::run(CommandList& list, std::span<const BufferRange> externals) {
  auto entered = context_->enter();
  auto& recorded = static_cast<CudaCommandList&>(list);
  recorded.bind(externals);
  recorded.run(stream_);
}

std::shared_ptr<LaunchTimes> CudaQueue::run_timed(CommandList& list, std::span<const BufferRange> externals) {
  if (!timed_) return Queue::run_timed(list, externals);
  auto entered = context_->enter();
  auto& recorded = static_cast<CudaCommandList&>(list);
  recorded.bind(externals);
  auto times = std::make_shared<CudaTimes>(context_);
  times->add(stream_);
  for (size_t i = 0; i < recorded.launches(); i++) {
    recorded.launch(i, stream_);
    times->add(stream_);
  }
  return times;
}

std::shared_ptr<Mark> CudaQueue::mark() {
  auto entered = context_->enter();
  return std::make_shared<CudaMark>(context_, stream_);
}

void CudaQueue::wait_for(const Mark& mark) {
  auto entered = context_->enter();
  CUevent event = static_cast<const CudaMark&>(mark).event();
  context_->check(context_->driver().cuStreamWaitEvent(stream_, event, 0), "cuStreamWaitEvent",
                  [] { return std::string("waiting for a mark"); });
}

/** Until the queue has finished. */
void CudaQueue::hold(const std::shared_ptr<Semaphore>& semaphore) {
  std::lock_guard lock(mutex_);
  if (held_.empty() || held_.back() != semaphore) held_.push_back(semaphore);
}

void CudaQueue::wait_for(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) {
  auto entered = context_->enter();
  hold(semaphore);
  static_cast<const CudaSemaphore&>(*semaphore).wait_in(stream_, value);
}

void CudaQueue::raise(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) {
  auto entered = context_->enter();
  hold(semaphore);
  static_cast<const CudaSemaphore&>(*semaphore).raise_in(stream_, value);
}

void CudaQueue::flush() { auto entered = context_->enter(); }  // work starts as it is queued

void CudaQueue::finish() {
  auto entered = context_->enter();
  std::vector<std::shared_ptr<Semaphore>> used;
  {
    std::lock_guard lock(mutex_);
    used.swap(held_);
  }
  context_->check(context_->driver().cuStreamSynchronize(stream_), "cuStreamSynchronize",
                  [] { return std::string("queued work"); });
}

}  // namespace ortolan::gpu::cuda
