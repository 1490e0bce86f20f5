// Memory and semaphores of other APIs, such as Vulkan, by file descriptors.
#pragma once

#include "cuda/memory.h"

namespace ortolan::gpu::cuda {

/** All `bytes` of the memory that a descriptor stands for, which stays the caller's. Throws kInvalid where the driver
 * does not take it. */
std::unique_ptr<CudaBuffer> import_memory(std::shared_ptr<Context> context, int file, size_t bytes);

/** A timeline semaphore of Vulkan's. */
class CudaSemaphore : public Semaphore {
 public:
  /** Throws as import_memory. */
  CudaSemaphore(std::shared_ptr<Context> context, int file);
  ~CudaSemaphore() override;
  CudaSemaphore(const CudaSemaphore&) = delete;
  CudaSemaphore& operator=(const CudaSemaphore&) = delete;

  void wait_in(CUstream stream, uint64_t value) const;
  void raise_in(CUstream stream, uint64_t value) const;

 private:
  std::shared_ptr<Context> context_;
  CUexternalSemaphore semaphore_ = nullptr;
};

}  // namespace ortolan::gpu::cuda
