// An importer of files in memory as memory and semaphores.
#include "importer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

std::atomic<int> objects{0};

struct Counted {
  Counted() { ++objects; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
  ~Counted() { --objects; }
};

/** Bytes of a file, through a descriptor of its own. */
class Mapping : Counted {
 public:
  Mapping(void* native_handle, size_t bytes) : bytes_(bytes) {
    file_ = fcntl(static_cast<int>(reinterpret_cast<intptr_t>(native_handle)), F_DUPFD_CLOEXEC, 0);
    if (file_ >= 0) start_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  }
  ~Mapping() {
    if (start_ != MAP_FAILED) munmap(start_, bytes_);
    if (file_ >= 0) close(file_);
  }
  bool is_there() const { return start_ != MAP_FAILED; }
  char* start() const { return static_cast<char*>(start_); }

 private:
  const size_t bytes_;
  int file_ = -1;
  void* start_ = MAP_FAILED;
};

struct Memory final : OrtExternalMemoryHandle {
  Memory(const OrtEpDevice* device, const OrtExternalMemoryDescriptor& described)
      : OrtExternalMemoryHandle{ORT_API_VERSION, device, described, nullptr},
        mapping(described.native_handle, described.size_bytes) {
    Release = [](OrtExternalMemoryHandle* self) { delete static_cast<Memory*>(self); };
  }
  Mapping mapping;
};

struct Semaphore final : OrtExternalSemaphoreHandle {
  Semaphore(const OrtEpDevice* device, const OrtExternalSemaphoreDescriptor& described)
      : OrtExternalSemaphoreHandle{ORT_API_VERSION, device, described, nullptr},
        mapping(described.native_handle, sizeof(uint64_t)) {
    Release = [](OrtExternalSemaphoreHandle* self) { delete static_cast<Semaphore*>(self); };
  }
  uint64_t& value() const { return *reinterpret_cast<uint64_t*>(mapping.start()); }
  Mapping mapping;
};

struct Importer final : OrtExternalResourceImporterImpl, Counted {
  Importer(const OrtApi* api, const OrtEpDevice* device) : OrtExternalResourceImporterImpl{}, api(api), device(device) {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtExternalResourceImporterImpl* self) {
      of(self).api->ReleaseMemoryInfo(of(self).cpu);
      delete &of(self);
    };
    if (std::getenv("ORTOLAN_BARE_IMPORTER") != nullptr) return;
    set_memory_functions();
    set_semaphore_functions();
  }
  static Importer& of(OrtExternalResourceImporterImpl* self) { return *static_cast<Importer*>(self); }
  OrtStatus* failed(const char* text) const { return api->CreateStatus(ORT_EP_FAIL, text); }

  void set_memory_functions() {
    CanImportMemory = [](const OrtExternalResourceImporterImpl*, OrtExternalMemoryHandleType type) {
      return type == ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD;
    };
    ImportMemory = [](OrtExternalResourceImporterImpl* self, const OrtExternalMemoryDescriptor* desc,
                      OrtExternalMemoryHandle** out) -> OrtStatus* {
      auto* memory = new Memory(of(self).device, *desc);
      if (memory->mapping.is_there()) return *out = memory, nullptr;
      delete memory;
      return of(self).failed("the descriptor is that of no file");
    };
    ReleaseMemory = [](OrtExternalResourceImporterImpl*, OrtExternalMemoryHandle* handle) { handle->Release(handle); };
    CreateTensorFromMemory = [](OrtExternalResourceImporterImpl* self, const OrtExternalMemoryHandle* handle,
                                const OrtExternalTensorDescriptor* desc, OrtValue** out) -> OrtStatus* {
      auto* memory = static_cast<const Memory*>(handle);
      char* bytes = memory->mapping.start() + memory->descriptor.offset_bytes + desc->offset_bytes;
      size_t count = 1;
      for (size_t i = 0; i < desc->rank; ++i) count *= static_cast<size_t>(desc->shape[i]);
      return of(self).api->CreateTensorWithDataAsOrtValue(of(self).cpu, bytes, count * sizeof(float), desc->shape,
                                                          desc->rank, desc->element_type, out);
    };
  }

  void set_semaphore_functions() {
    CanImportSemaphore = [](const OrtExternalResourceImporterImpl*, OrtExternalSemaphoreType type) {
      return type == ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD;
    };
    ImportSemaphore = [](OrtExternalResourceImporterImpl* self, const OrtExternalSemaphoreDescriptor* desc,
                         OrtExternalSemaphoreHandle** out) -> OrtStatus* {
      auto* semaphore = new Semaphore(of(self).device, *desc);
      if (semaphore->mapping.is_there()) return *out = semaphore, nullptr;
      delete semaphore;
      return of(self).failed("the descriptor is that of no file");
    };
    ReleaseSemaphore = [](OrtExternalResourceImporterImpl*, OrtExternalSemaphoreHandle* handle) {
      handle->Release(handle);
    };
    WaitSemaphore = [](OrtExternalResourceImporterImpl* self, OrtExternalSemaphoreHandle* handle, OrtSyncStream*,
                       uint64_t value) -> OrtStatus* {
      bool reached = static_cast<Semaphore*>(handle)->value() >= value;
      return reached ? nullptr : of(self).failed("the semaphore has not reached its value");
    };
    SignalSemaphore = [](OrtExternalResourceImporterImpl*, OrtExternalSemaphoreHandle* handle, OrtSyncStream*,
                         uint64_t value) -> OrtStatus* {
      static_cast<Semaphore*>(handle)->value() = value;
      return nullptr;
    };
  }

  const OrtApi* api;
  const OrtEpDevice* device;
  OrtMemoryInfo* cpu = nullptr;
};

}  // namespace

OrtExternalResourceImporterImpl* make_importer(const OrtApi* api, const OrtEpDevice* device) {
  auto* importer = new Importer(api, device);
  if (api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &importer->cpu) == nullptr) return importer;
  delete importer;
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) int importer_objects() { return objects; }
