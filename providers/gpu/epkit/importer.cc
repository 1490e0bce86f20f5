// Imports memory and semaphores by file descriptors, and describes tensors in memory.
#include "gpu/epkit/importer.h"

namespace ortolan::gpu::epkit {
namespace {

constexpr OrtExternalMemoryHandleType kDescriptor = ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD;
constexpr OrtExternalSemaphoreType kTimeline = ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD;

/** Imported memory, which has an address as if it were allocated. */
struct ImportedMemory : OrtExternalMemoryHandle {
  ImportedMemory(DeviceContext& context, const OrtEpDevice* device, const OrtExternalMemoryDescriptor& described)
      : OrtExternalMemoryHandle{ORT_API_VERSION, device, described, release}, context(context) {
    auto file = static_cast<int>(reinterpret_cast<intptr_t>(described.native_handle));
    address = context.memory().adopt(context.device().import_memory(file, described.size_bytes));
  }
  ~ImportedMemory() { context.memory().let_go(address); }
  ImportedMemory(const ImportedMemory&) = delete;
  ImportedMemory& operator=(const ImportedMemory&) = delete;

  static void ORT_API_CALL release(OrtExternalMemoryHandle* self) noexcept {
    delete static_cast<ImportedMemory*>(self);
  }

  DeviceContext& context;
  void* address = nullptr;
};

struct ImportedSemaphore : OrtExternalSemaphoreHandle {
  ImportedSemaphore(DeviceContext& context, const OrtEpDevice* device, const OrtExternalSemaphoreDescriptor& described)
      : OrtExternalSemaphoreHandle{ORT_API_VERSION, device, described, release},
        semaphore(
            context.device().import_semaphore(static_cast<int>(reinterpret_cast<intptr_t>(described.native_handle)))) {}

  static void ORT_API_CALL release(OrtExternalSemaphoreHandle* self) noexcept {
    delete static_cast<ImportedSemaphore*>(self);
  }

  const std::shared_ptr<Semaphore> semaphore;
};

Importer& importer_of(OrtExternalResourceImporterImpl* self) { return *static_cast<Importer*>(self); }

/** Bytes of a tensor; more than there can be where a product is too large. */
size_t bytes_of(const OrtExternalTensorDescriptor& described) {
  size_t bytes = element_bytes(static_cast<ElementType>(described.element_type));
  if (bytes == 0) fail(ORT_INVALID_ARGUMENT, "a tensor's elements have no place in imported memory");
  for (size_t i = 0; i < described.rank; i++) {
    if (described.shape[i] < 0) fail(ORT_INVALID_ARGUMENT, "a tensor's dimension is negative");
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(described.shape[i]), &bytes)) return SIZE_MAX;
  }
  return bytes;
}

/** Where a tensor begins in the memory; throws unless all of it is there. */
size_t place_in(const ImportedMemory& memory, const OrtExternalTensorDescriptor& described, size_t bytes) {
  const size_t size = memory.descriptor.size_bytes, base = memory.descriptor.offset_bytes;
  const size_t alignment = memory.context.device().traits().offset_alignment;
  size_t offset = 0;
  bool fits =
      !__builtin_add_overflow(base, described.offset_bytes, &offset) && offset <= size && bytes <= size - offset;
  if (!fits) {
    fail(ORT_INVALID_ARGUMENT, "a tensor of " + std::to_string(bytes) + " bytes from byte " +
                                   std::to_string(described.offset_bytes) + " on does not fit into the imported " +
                                   std::to_string(size) + " bytes, of which " + std::to_string(base) + " are left out");
  }
  if (offset % alignment != 0) {
    fail(ORT_INVALID_ARGUMENT, "a tensor begins at byte " + std::to_string(offset) +
                                   " of the imported memory; the device takes multiples of " +
                                   std::to_string(alignment));
  }
  return offset;
}

}  // namespace

Importer::Importer(const Host& host, DeviceContext& context, const OrtEpDevice* device, const OrtMemoryInfo* memory)
    : OrtExternalResourceImporterImpl{}, host_(host), context_(context), device_(device), memory_(memory) {
  ort_version_supported = host.level;
  CanImportMemory = can_import_memory;
  ImportMemory = import_memory;
  ReleaseMemory = release_memory;
  CreateTensorFromMemory = create_tensor;
  CanImportSemaphore = can_import_semaphore;
  ImportSemaphore = import_semaphore;
  ReleaseSemaphore = release_semaphore;
  WaitSemaphore = wait_semaphore;
  SignalSemaphore = signal_semaphore;
  Release = release;
}

bool ORT_API_CALL Importer::can_import_memory(const OrtExternalResourceImporterImpl*,
                                              OrtExternalMemoryHandleType type) noexcept {
  return type == kDescriptor;
}

OrtStatus* ORT_API_CALL Importer::import_memory(OrtExternalResourceImporterImpl* self,
                                                const OrtExternalMemoryDescriptor* described,
                                                OrtExternalMemoryHandle** out) noexcept {
  Importer& importer = importer_of(self);
  return guard(importer.host_, [&] {
    if (described->handle_type != kDescriptor) {
      fail(ORT_NOT_IMPLEMENTED, "memory is imported by file descriptors only, not by handles of type " +
                                    std::to_string(described->handle_type));
    }
    *out = new ImportedMemory(importer.context_, importer.device_, *described);
  });
}

void ORT_API_CALL Importer::release_memory(OrtExternalResourceImporterImpl*, OrtExternalMemoryHandle* handle) noexcept {
  ImportedMemory::release(handle);
}

OrtStatus* ORT_API_CALL Importer::create_tensor(OrtExternalResourceImporterImpl* self,
                                                const OrtExternalMemoryHandle* handle,
                                                const OrtExternalTensorDescriptor* described, OrtValue** out) noexcept {
  Importer& importer = importer_of(self);
  return guard(importer.host_, [&] {
    auto& memory = *static_cast<const ImportedMemory*>(handle);
    const size_t bytes = bytes_of(*described);
    auto* address = static_cast<std::byte*>(memory.address) + place_in(memory, *described, bytes);
    check(importer.host_,
          importer.host_.api->CreateTensorWithDataAsOrtValue(importer.memory_, address, bytes, described->shape,
                                                             described->rank, described->element_type, out));
  });
}

bool ORT_API_CALL Importer::can_import_semaphore(const OrtExternalResourceImporterImpl* self,
                                                 OrtExternalSemaphoreType type) noexcept {
  return type == kTimeline && static_cast<const Importer*>(self)->context_.device().imports_semaphores();
}

OrtStatus* ORT_API_CALL Importer::import_semaphore(OrtExternalResourceImporterImpl* self,
                                                   const OrtExternalSemaphoreDescriptor* described,
                                                   OrtExternalSemaphoreHandle** out) noexcept {
  Importer& importer = importer_of(self);
  return guard(importer.host_, [&] {
    if (described->type != kTimeline) {
      fail(ORT_NOT_IMPLEMENTED, "timeline semaphores are imported by file descriptors only, not semaphores of type " +
                                    std::to_string(described->type));
    }
    *out = new ImportedSemaphore(importer.context_, importer.device_, *described);
  });
}

void ORT_API_CALL Importer::release_semaphore(OrtExternalResourceImporterImpl*,
                                              OrtExternalSemaphoreHandle* handle) noexcept {
  ImportedSemaphore::release(handle);
}

RunQueue& Importer::queue_of(OrtSyncStream* stream) const {
  RunQueue* queue = context_.find_queue(stream == nullptr ? nullptr : host_.api->SyncStream_GetHandle(stream));
  if (queue == nullptr) fail(ORT_INVALID_ARGUMENT, "a semaphore is used in a stream that is not of its device");
  return *queue;
}

OrtStatus* ORT_API_CALL Importer::wait_semaphore(OrtExternalResourceImporterImpl* self,
                                                 OrtExternalSemaphoreHandle* handle, OrtSyncStream* stream,
                                                 uint64_t value) noexcept {
  Importer& importer = importer_of(self);
  return guard(importer.host_, [&] {
    importer.queue_of(stream).busy().wait_for(static_cast<ImportedSemaphore*>(handle)->semaphore, value);
  });
}

OrtStatus* ORT_API_CALL Importer::signal_semaphore(OrtExternalResourceImporterImpl* self,
                                                   OrtExternalSemaphoreHandle* handle, OrtSyncStream* stream,
                                                   uint64_t value) noexcept {
  Importer& importer = importer_of(self);
  return guard(importer.host_, [&] {
    RunQueue& queue = importer.queue_of(stream);
    queue.busy().raise(static_cast<ImportedSemaphore*>(handle)->semaphore, value);
    queue.flush();
  });
}

void ORT_API_CALL Importer::release(OrtExternalResourceImporterImpl* self) noexcept {
  delete static_cast<Importer*>(self);
}

}  // namespace ortolan::gpu::epkit
