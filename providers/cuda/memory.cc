// Buffers.
#include "cuda/memory.h"

#include "gpu/device/checks.h"

namespace ortolan::gpu::cuda {

CudaBuffer::CudaBuffer(std::shared_ptr<Context> context, size_t bytes) : Buffer(bytes), context_(std::move(context)) {
  auto entered = context_->enter();
  context_->check(context_->driver().cuMemAlloc(&address_, bytes), "cuMemAlloc",
                  [&] { return "a buffer of " + std::to_string(bytes) + " bytes"; });
}

CudaBuffer::~CudaBuffer() {
  if (address_ == 0) return;
  Context::Entered entered(*context_);
  context_->finish_all();
  context_->driver().cuMemFree(address_);
  if (imported_ != nullptr) context_->driver().cuDestroyExternalMemory(imported_);
}

CUdeviceptr address_of(const BufferRange& range) {
  check_range("cuda", range);
  return static_cast<CudaBuffer*>(range.buffer)->address() + range.offset;
}

CUdeviceptr bound_address_of(const BufferRange& range, const DeviceTraits& traits) {
  check_bound_range("cuda", range, traits);
  return address_of(range);
}

}  // namespace ortolan::gpu::cuda
