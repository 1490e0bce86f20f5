// Queues, which are streams, and marks in them, which are events.
#pragma once

#include "cuda/command_list.h"

namespace ortolan::gpu::cuda {

class CudaMark : public Mark {
 public:
  /** Records it. In the context. */
  CudaMark(std::shared_ptr<Context> context, CUstream stream);
  void wait() override;
  CUevent event() const { return event_.get(); }

 private:
  std::shared_ptr<Context> context_;
  EventHandle event_;
};

/** Events before, between and behind launches. */
class CudaTimes : public LaunchTimes {
 public:
  explicit CudaTimes(std::shared_ptr<Context> context);
  /** Marks the present end of the stream. In the context. */
  void add(CUstream stream);
  std::vector<LaunchTime> read() override;

 private:
  std::shared_ptr<Context> context_;
  int64_t started_;  // of the host's clock
  std::vector<EventHandle> events_;
};

class CudaQueue : public Queue {
 public:
  CudaQueue(std::shared_ptr<Context> context, bool timed);
  /** On a stream of the caller's. */
  CudaQueue(std::shared_ptr<Context> context, CUstream theirs, bool timed);
  ~CudaQueue() override;

  void write(const BufferRange& to, const void* from) override;
  void read(void* to, const BufferRange& from) override;
  void copy(const BufferRange& to, const BufferRange& from) override;
  void run(CommandList& list, std::span<const BufferRange> externals) override;
  std::shared_ptr<LaunchTimes> run_timed(CommandList& list, std::span<const BufferRange> externals) override;
  std::shared_ptr<Mark> mark() override;
  void wait_for(const Mark& mark) override;
  void wait_for(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) override;
  void raise(const std::shared_ptr<Semaphore>& semaphore, uint64_t value) override;
  void flush() override;
  void finish() override;

 private:
  void hold(const std::shared_ptr<Semaphore>& semaphore);

  std::shared_ptr<Context> context_;
  const bool timed_, owns_stream_;
  CUstream stream_ = nullptr;
  std::mutex mutex_;
  std::vector<std::shared_ptr<Semaphore>> held_;  // that queued work uses
};

}  // namespace ortolan::gpu::cuda
