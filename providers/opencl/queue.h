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

class OpenClQueue : public Queue {
 public:
  explicit OpenClQueue(std::shared_ptr<Context> context);
  ~OpenClQueue() override;

  void write(const BufferRange& to, const void* from) override;
  void read(void* to, const BufferRange& from) override;
  void copy(const BufferRange& to, const BufferRange& from) override;
  void run(CommandList& list, std::span<const BufferRange> externals) override;
  std::shared_ptr<Mark> mark() override;
  void wait_for(const Mark& mark) override;
  void flush() override;
  void finish() override;

  /** For libraries that queue work of their own. */
  cl_command_queue get() const { return queue_.get(); }

 private:
  std::shared_ptr<Context> context_;
  QueueHandle queue_;
};

}  // namespace ortolan::gpu::opencl
