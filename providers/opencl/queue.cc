// Queues work, and finds out that a device is lost.
#include "opencl/queue.h"

#include <chrono>

#include "gpu/device/checks.h"

namespace ortolan::gpu::opencl {
namespace {

bool takes_work(cl_command_queue queue) {
  return clEnqueueMarkerWithWaitList(queue, 0, nullptr, nullptr) == CL_SUCCESS && clFinish(queue) == CL_SUCCESS;
}

/** Drivers say by one code that work needs too much and that a device stopped: only then does the queue take no more.
 */
bool may_be_loss(cl_int code) {
  return code == CL_OUT_OF_RESOURCES || code == CL_INVALID_COMMAND_QUEUE || code == CL_INVALID_CONTEXT ||
         code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
}

/** Throws for a code that a call on the queue gave. */
void check(Context& context, cl_command_queue queue, cl_int code, const char* function, auto&& asked) {
  if (code == CL_SUCCESS) return;
  bool is_lost = may_be_loss(code) && !takes_work(queue);
  context.fail(code, is_lost ? ErrorKind::kDeviceLost : kind_of(code), function, asked());
}

QueueHandle create_queue(Context& context, bool timed) {
  cl_int code = CL_SUCCESS;
  const cl_command_queue_properties properties = timed ? CL_QUEUE_PROFILING_ENABLE : 0;
  QueueHandle queue(clCreateCommandQueue(context.get(), context.device(), properties, &code));
  context.check(code, "clCreateCommandQueue", [] { return std::string("a queue"); });
  return queue;
}

QueueHandle shared(cl_command_queue queue) {
  clRetainCommandQueue(queue);
  return QueueHandle(queue);
}

EventHandle create_mark(Context& context, cl_command_queue queue) {
  cl_event event = nullptr;
  cl_int code = clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event);
  check(context, queue, code, "clEnqueueMarkerWithWaitList", [] { return std::string("a mark"); });
  return EventHandle(event);
}

}  // namespace

OpenClMark::OpenClMark(std::shared_ptr<Context> context, cl_command_queue queue)
    : context_(std::move(context)), queue_(shared(queue)), event_(create_mark(*context_, queue)) {}

void OpenClMark::wait() {
  context_->fail_if_lost();
  cl_event event = event_.get();
  check(*context_, queue_.get(), clWaitForEvents(1, &event), "clWaitForEvents",
        [] { return std::string("the work before a mark"); });
}

void OpenClMark::flush() const {
  check(*context_, queue_.get(), clFlush(queue_.get()), "clFlush", [] { return std::string("queued work"); });
}

OpenClTimes::OpenClTimes(std::shared_ptr<Context> context, size_t launches)
    : context_(std::move(context)), started_(std::chrono::steady_clock::now().time_since_epoch().count()) {
  spans_.reserve(launches);
}

int64_t OpenClTimes::time_of(const EventHandle& event, cl_profiling_info what) const {
  cl_ulong time = 0;
  cl_int code = clGetEventProfilingInfo(event.get(), what, sizeof time, &time, nullptr);
  context_->check(code, "clGetEventProfilingInfo", [] { return std::string("the time of a kernel"); });
  return static_cast<int64_t>(time);
}

int64_t OpenClTimes::begin_of(const Span& span) const {
  bool is_marked = span.before.get() != nullptr;
  return is_marked ? time_of(span.before, CL_PROFILING_COMMAND_END) : time_of(span.launch, CL_PROFILING_COMMAND_START);
}

std::vector<LaunchTime> OpenClTimes::read() {
  std::vector<LaunchTime> times;
  if (spans_.empty()) return times;
  const EventHandle& first = spans_[0].before.get() != nullptr ? spans_[0].before : spans_[0].launch;
  const int64_t offset = started_ - time_of(first, CL_PROFILING_COMMAND_QUEUED);  // of the device's clock
  for (const Span& span : spans_) {
    times.push_back({begin_of(span) + offset, time_of(span.launch, CL_PROFILING_COMMAND_END) + offset});
  }
  return times;
}

OpenClQueue::OpenClQueue(std::shared_ptr<Context> context, bool timed)
    : context_(std::move(context)), timed_(timed), queue_(create_queue(*context_, timed)) {
  context_->add(get());
}

OpenClQueue::~OpenClQueue() {
  context_->remove(get());
  clFinish(get());
}

void OpenClQueue::write(const BufferRange& to, const void* from) {
  context_->fail_if_lost();
  cl_mem memory = block_of(to).get();
  if (to.bytes == 0) return;
  cl_int code = clEnqueueWriteBuffer(get(), memory, CL_FALSE, to.offset, to.bytes, from, 0, nullptr, nullptr);
  check(*context_, get(), code, "clEnqueueWriteBuffer", [&] { return words_of("writing", to); });
}

void OpenClQueue::make(const BufferRange& to, const std::function<void(std::span<std::byte>)>& make) {
  if (context_->traits().type != DeviceType::kCpu || to.bytes == 0) return Queue::make(to, make);
  context_->fail_if_lost();
  cl_mem memory = block_of(to).get();
  cl_int code = CL_SUCCESS;
  void* mapped =
      clEnqueueMapBuffer(get(), memory, CL_TRUE, CL_MAP_WRITE, to.offset, to.bytes, 0, nullptr, nullptr, &code);
  check(*context_, get(), code, "clEnqueueMapBuffer", [&] { return words_of("mapping", to); });
  auto unmap = [&](void* address) { clEnqueueUnmapMemObject(get(), memory, address, 0, nullptr, nullptr); };
  std::unique_ptr<void, decltype(unmap)> mapping(mapped, unmap);
  make({static_cast<std::byte*>(mapped), to.bytes});
  mapping.reset();
  finish();
}

void OpenClQueue::read(void* to, const BufferRange& from) {
  context_->fail_if_lost();
  cl_mem memory = block_of(from).get();
  if (from.bytes == 0) return;
  cl_int code = clEnqueueReadBuffer(get(), memory, CL_FALSE, from.offset, from.bytes, to, 0, nullptr, nullptr);
  check(*context_, get(), code, "clEnqueueReadBuffer", [&] { return words_of("reading", from); });
}

void OpenClQueue::copy(const BufferRange& to, const BufferRange& from) {
  context_->fail_if_lost();
  cl_mem source = block_of(from).get();
  cl_mem target = block_of({to.buffer, to.offset, from.bytes}).get();
  if (from.bytes == 0) return;
  cl_int code = clEnqueueCopyBuffer(get(), source, target, from.offset, to.offset, from.bytes, 0, nullptr, nullptr);
  check(*context_, get(), code, "clEnqueueCopyBuffer", [&] { return words_of("copying", from); });
}

std::shared_ptr<LaunchTimes> OpenClQueue::run_timed(CommandList& list, std::span<const BufferRange> externals) {
  std::shared_ptr<OpenClTimes> times;
  if (timed_) {
    times = std::make_shared<OpenClTimes>(context_, static_cast<OpenClCommandList&>(list).launches().size());
  }
  run(list, externals, times.get());
  return times;
}

void OpenClQueue::run(CommandList& list, std::span<const BufferRange> externals, OpenClTimes* times) {
  context_->fail_if_lost();
  auto& recorded = static_cast<OpenClCommandList&>(list);
  recorded.bind(externals);
  auto queueing = context_->queueing();
  for (const RecordedLaunch& launch : recorded.launches()) {
    if (launch.product == nullptr) {
      enqueue_kernel(launch, times);
    } else {
      enqueue_product(launch, times);
    }
  }
}

void OpenClQueue::enqueue_kernel(const RecordedLaunch& launch, OpenClTimes* times) {
  cl_event event = nullptr;
  cl_int code = clEnqueueNDRangeKernel(get(), launch.kernel.get(), 3, nullptr, launch.items.data(),
                                       launch.group_size.data(), 0, nullptr, times == nullptr ? nullptr : &event);
  check(*context_, get(), code, "clEnqueueNDRangeKernel", [&] { return "kernel " + *launch.name; });
  if (times != nullptr) times->add(event);
}

// The library queues several kernels, the last of which alone has an event.
void OpenClQueue::enqueue_product(const RecordedLaunch& launch, OpenClTimes* times) {
  EventHandle before = times == nullptr ? EventHandle() : create_mark(*context_, get());
  cl_int code = launch.product->enqueue(get(), launch.matrices);
  check(*context_, get(), code, launch.name->c_str(),
        [] { return std::string("a product, which the option products=own leaves to own kernels,"); });
  if (times != nullptr) times->add(std::move(before), create_mark(*context_, get()));
}

std::shared_ptr<Mark> OpenClQueue::mark() {
  context_->fail_if_lost();
  return std::make_shared<OpenClMark>(context_, get());
}

void OpenClQueue::wait_for(const Mark& mark) {
  context_->fail_if_lost();
  auto& other = static_cast<const OpenClMark&>(mark);
  other.flush();
  cl_event event = other.event();
  cl_int code = clEnqueueBarrierWithWaitList(get(), 1, &event, nullptr);
  check(*context_, get(), code, "clEnqueueBarrierWithWaitList", [] { return std::string("waiting for a mark"); });
}

void OpenClQueue::flush() {
  context_->fail_if_lost();
  check(*context_, get(), clFlush(get()), "clFlush", [] { return std::string("queued work"); });
}

void OpenClQueue::finish() {
  context_->fail_if_lost();
  check(*context_, get(), clFinish(get()), "clFinish", [] { return std::string("queued work"); });
}

}  // namespace ortolan::gpu::opencl
