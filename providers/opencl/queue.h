// Queues and marks in them.
#pragma once

#include "opencl/command_list.h"

namespace ortolan::gpu::opencl {

class OpenClMark : public Mark {
 public:
  OpenClMark(std::shared_ptr<Context> context, cl_command_queue queue);
  void wait() override;
  cl_event event() const { return event_.get(); }
  /** Lets the work before the mark start. */
  void flush() const;

 private:
  std::shared_ptr<Context> context_;
  QueueHandle queue_;
  EventHandle event_;
};

/** Events of launches in a queue that takes times. */
class OpenClTimes : public LaunchTimes {
 public:
  OpenClTimes(std::shared_ptr<Context> context, size_t launches);
  /** The next launch, which is one kernel. */
  void add(cl_event event) { spans_.push_back({{}, EventHandle(event)}); }
  /** The next launch, with marks before and behind it. */
  void add(EventHandle before, EventHandle behind) { spans_.push_back({std::move(before), std::move(behind)}); }
  std::vector<LaunchTime> read() override;

 private:
  struct Span {
    EventHandle before;  // ends when the launch begins; none: `launch` begins itself
    EventHandle launch;
  };
  int64_t begin_of(const Span& span) const;
  int64_t time_of(const EventHandle& event, cl_profiling_info what) const;

  std::shared_ptr<Context> context_;
  int64_t started_;  // of the host's clock
  std::vector<Span> spans_;
};

class OpenClQueue : public Queue {
 public:
  OpenClQueue(std::shared_ptr<Context> context, bool timed);
  ~OpenClQueue() override;

  void write(const BufferRange& to, const void* from) override;
  void make(const BufferRange& to, const std::function<void(std::span<std::byte>)>& make) override;
  void read(void* to, const BufferRange& from) override;
  void copy(const BufferRange& to, const BufferRange& from) override;
  void run(CommandList& list, std::span<const BufferRange> externals) override { run(list, externals, nullptr); }
  std::shared_ptr<LaunchTimes> run_timed(CommandList& list, std::span<const BufferRange> externals) override;
  std::shared_ptr<Mark> mark() override;
  void wait_for(const Mark& mark) override;
  void flush() override;
  void finish() override;

  /** For libraries that queue work of their own. */
  cl_command_queue get() const { return queue_.get(); }

 private:
  void run(CommandList& list, std::span<const BufferRange> externals, OpenClTimes* times);
  void enqueue_kernel(const RecordedLaunch& launch, OpenClTimes* times);
  void enqueue_product(const RecordedLaunch& launch, OpenClTimes* times);

  std::shared_ptr<Context> context_;
  const bool timed_;
  QueueHandle queue_;
};

}  // namespace ortolan::gpu::opencl
