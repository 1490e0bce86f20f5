// Memory of a GPU.
#pragma once

#include "cuda/context.h"

namespace ortolan::gpu::cuda {

class CudaBuffer : public Buffer {
 public:
  CudaBuffer(std::shared_ptr<Context> context, size_t bytes);
  /** Imported memory at that address, which ends with the buffer. */
  CudaBuffer(std::shared_ptr<Context> context, CUdeviceptr address, size_t bytes, CUexternalMemory imported)
      : Buffer(bytes), context_(std::move(context)), address_(address), imported_(imported) {}
  /** All of the driver's memory, where an address is an offset. */
  CudaBuffer() : Buffer(SIZE_MAX) {}
  ~CudaBuffer() override;
  CUdeviceptr address() const { return address_; }

 private:
  std::shared_ptr<Context> context_;
  CUdeviceptr address_ = 0;
  CUexternalMemory imported_ = nullptr;
};

/** Where a range lies. Throws kInternal where it is outside of its buffer, or has none. */
CUdeviceptr address_of(const BufferRange& range);

/** The same for a range that a kernel sees: throws also where its offset is not aligned. */
CUdeviceptr bound_address_of(const BufferRange& range, const DeviceTraits& traits);

}  // namespace ortolan::gpu::cuda
