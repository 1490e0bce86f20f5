// Gives the driver duplicates of descriptors, which it owns once it has taken them.
#include "cuda/external.h"

#include <fcntl.h>
#include <unistd.h>

namespace ortolan::gpu::cuda {
namespace {

[[noreturn]] void refuse(const Context& context, CUresult code, int file, const std::string& what) {
  throw Error(ErrorKind::kInvalid, "cuda: device '" + context.traits().name + "' does not take descriptor " +
                                       std::to_string(file) + " as " + what + ": the driver says " +
                                       code_name(context.driver(), code) +
                                       "; give one that Vulkan exported on the same GPU");
}

/** Calls `import` with a duplicate of the descriptor. */
void import_duplicate(const Context& context, int file, const std::string& what, auto&& import) {
  constexpr CUresult kInvalidHandle = 400;
  const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
  const CUresult code = own < 0 ? kInvalidHandle : import(own);
  if (code == kSuccess) return;
  if (own >= 0) close(own);
  refuse(context, code, file, what);
}

}  // namespace

std::unique_ptr<CudaBuffer> import_memory(std::shared_ptr<Context> context, int file, size_t bytes) {
  auto entered = context->enter();
  const Driver& call = context->driver();
  const std::string what = std::to_string(bytes) + " bytes of memory";
  CUexternalMemory memory = nullptr;
  import_duplicate(*context, file, what, [&](int own) {
    ExternalMemoryDescription described{kHandleOfDescriptor, {own}, bytes, 0, {}};
    return call.cuImportExternalMemory(&memory, &described);
  });
  const ExternalBufferDescription all{0, bytes, 0, {}};
  CUdeviceptr address = 0;
  const CUresult code = call.cuExternalMemoryGetMappedBuffer(&address, memory, &all);
  if (code != kSuccess) {
    call.cuDestroyExternalMemory(memory);
    refuse(*context, code, file, what);
  }
  return std::make_unique<CudaBuffer>(context, address, bytes, memory);
}

CudaSemaphore::CudaSemaphore(std::shared_ptr<Context> context, int file) : context_(std::move(context)) {
  auto entered = context_->enter();
  import_duplicate(*context_, file, "a timeline semaphore", [&](int own) {
    ExternalSemaphoreDescription described{kTimelineOfDescriptor, {own}, 0, {}};
    return context_->driver().cuImportExternalSemaphore(&semaphore_, &described);
  });
}

CudaSemaphore::~CudaSemaphore() {
  Context::Entered entered(*context_);
  context_->driver().cuDestroyExternalSemaphore(semaphore_);
}

void CudaSemaphore::wait_in(CUstream stream, uint64_t value) const {
  const ExternalSemaphoreWait wait{value, 0, 0, 0, {}, 0, {}};
  context_->check(context_->driver().cuWaitExternalSemaphoresAsync(&semaphore_, &wait, 1, stream),
                  "cuWaitExternalSemaphoresAsync", [&] { return "a wait for " + std::to_string(value); });
}

void CudaSemaphore::raise_in(CUstream stream, uint64_t value) const {
  const ExternalSemaphoreSignal signal{value, 0, 0, {}, 0, {}};
  context_->check(context_->driver().cuSignalExternalSemaphoresAsync(&semaphore_, &signal, 1, stream),
                  "cuSignalExternalSemaphoresAsync", [&] { return "a signal of " + std::to_string(value); });
}

}  // namespace ortolan::gpu::cuda
