// Memory of a GPU.
#pragma once

#include "cuda/context.h"

namespace ortolan::gpu::cuda {

class CudaBuffer : public Buffer {
 public:
  CudaBuffer(std::shared_ptr<Context> context, size_t bytes);
  /** All of the driver's memory, where an address is an offset. */
  CudaBuffer() : Buffer(SIZE_MAX) {}
  ~CudaBuffer() override;
  CUdeviceptr address() const { return address_; }

 private:
  std::shared_ptr<Context> context_;
  CUdeviceptr address_ = 0;
};

/** Where a range lies. Throws kInternal where it is outside of its buffer, or has none. */
CUdeviceptr address_of(const BufferRange& range);

/** The same for a range that a kernel sees: throws also where its offset is not aligned. */
CUdeviceptr bound_address_of(const BufferRange& range, const DeviceTraits& traits);

}  // namespace ortolan::gpu::cuda
