// The stand-in driver's imports: files in memory are memory of other APIs, and those that begin with a number
// semaphores.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver_calls.h"
#include "gpu/testdevice/number_in_file.h"

namespace ortolan::gpu::cuda {

struct CUextMemory_st {
  std::shared_ptr<std::byte[]> memory;
  size_t bytes;
};
struct CUextSemaphore_st {
  std::shared_ptr<test::NumberInFile> number;
};

extern "C" {

CUresult cuImportExternalMemory(CUexternalMemory* memory, const ExternalMemoryDescription* described) {
  return call_in_context("cuImportExternalMemory", [&](DriverState&) {
    const int file = described->handle.descriptor;
    const size_t bytes = described->bytes;
    struct stat status;
    if (described->type != kHandleOfDescriptor || bytes == 0 || fstat(file, &status) != 0) return kInvalidValue;
    if (static_cast<size_t>(status.st_size) != bytes) return kInvalidValue;
    void* start = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (start == MAP_FAILED) return kInvalidValue;
    close(file);  // it is the driver's now
    *memory = new CUextMemory_st{
        {static_cast<std::byte*>(start), [bytes](std::byte* mapped) { munmap(mapped, bytes); }}, bytes};
    return kSuccess;
  });
}
CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr* address, CUexternalMemory memory,
                                         const ExternalBufferDescription* described) {
  return call_in_context("cuExternalMemoryGetMappedBuffer", [&](DriverState& state) {
    if (described->offset != 0 || described->bytes != memory->bytes) return kInvalidValue;
    *address = state.place(entered().back()->device, memory->bytes, memory->memory);
    return kSuccess;
  });
}
CUresult cuDestroyExternalMemory(CUexternalMemory memory) {
  return call("cuDestroyExternalMemory", [&](DriverState&) { return delete memory, kSuccess; });
}

CUresult cuImportExternalSemaphore(CUexternalSemaphore* semaphore, const ExternalSemaphoreDescription* described) {
  return call_in_context("cuImportExternalSemaphore", [&](DriverState&) {
    if (described->type != kTimelineOfDescriptor) return kInvalidValue;
    try {
      *semaphore = new CUextSemaphore_st{std::make_shared<test::NumberInFile>(described->handle.descriptor)};
    } catch (const Error&) {
      return kInvalidValue;
    }
    close(described->handle.descriptor);
    return kSuccess;
  });
}
CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore* semaphores, const ExternalSemaphoreWait* waits,
                                       unsigned count, CUstream stream) {
  return call_in_context("cuWaitExternalSemaphoresAsync", [&](DriverState& state) {
    if (count != 1) return kInvalidValue;
    return enqueue(state, stream, [&state, number = (*semaphores)->number, value = waits->value] {
      state.mutex.unlock();  // other threads use the driver meanwhile
      CUresult code = kSuccess;
      try {
        number->wait_for(value);
      } catch (const Error&) {
        code = kLaunchTimeout;
      }
      state.mutex.lock();
      return code;
    });
  });
}
CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore* semaphores, const ExternalSemaphoreSignal* signals,
                                         unsigned count, CUstream stream) {
  return call_in_context("cuSignalExternalSemaphoresAsync", [&](DriverState& state) {
    if (count != 1) return kInvalidValue;
    return enqueue(state, stream, [number = (*semaphores)->number, value = signals->value] {
      number->raise(value);
      return kSuccess;
    });
  });
}
CUresult cuDestroyExternalSemaphore(CUexternalSemaphore semaphore) {
  return call("cuDestroyExternalSemaphore", [&](DriverState&) { return delete semaphore, kSuccess; });
}

}  // extern "C"

}  // namespace ortolan::gpu::cuda
