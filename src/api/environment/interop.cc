// Sharing memory and semaphores with graphics libraries: what plugins import, as the caller sees it.
#include "api/arguments.h"
#include "api/guard.h"
#include "api/plugins/ep_library.h"
#include "api/plugins/ep_members.h"

namespace ortolan::api {

/** OrtExternalResourceImporter: a plugin's importer, and the library that it needs. */
struct ResourceImporter {
  std::shared_ptr<EpLibrary> library;
  std::string provider;
  OrtExternalResourceImporterImpl* theirs;

  ResourceImporter(std::shared_ptr<EpLibrary> library, std::string provider, OrtExternalResourceImporterImpl& theirs)
      : library(std::move(library)), provider(std::move(provider)), theirs(&theirs) {}
  ResourceImporter(const ResourceImporter&) = delete;
  ResourceImporter& operator=(const ResourceImporter&) = delete;
  ~ResourceImporter() {
    if (theirs->Release != nullptr) theirs->Release(theirs);
  }
  /** One of the plugin's functions; throws when it left it out. */
  template <class Member>
  Member function(Member OrtExternalResourceImporterImpl::*member, const char* name) const {
    require(theirs->*member != nullptr, ErrorCode::kNotImplemented, "the importer of execution provider ", provider,
            " has no function ", name);
    return theirs->*member;
  }
};

namespace {

#define ORTOLAN_IMPORTER_FUNCTION(importer, name) (importer).function(&OrtExternalResourceImporterImpl::name, #name)

/** Calls a plugin's function that makes something. */
template <class Made, class Member, class... Args>
Made* make(const ResourceImporter& importer, Member function, const char* name, Args... args) {
  Made* made = nullptr;
  check_plugin(function(importer.theirs, args..., &made), importer.provider, name);
  return &require_made(made, importer.provider, name);
}

const EpDevice& device_of(const OrtEpDevice* ep_device) { return unwrap(ep_device, "ep_device"); }

[[noreturn]] void fail_without_graphics(const EpDevice& device) {
  fail(ErrorCode::kNotImplemented, "execution provider ", device.provider, " does not share with graphics libraries");
}

}  // namespace

OrtStatus* ORT_API_CALL CreateExternalResourceImporterForDevice(const OrtEpDevice* ep_device,
                                                                OrtExternalResourceImporter** out) noexcept {
  return guard([&] {
    const EpDevice& device = device_of(ep_device);
    put(out, nullptr, "out_importer");
    if (device.factory == nullptr) return;
    auto create = member_if(*device.factory, &OrtEpFactory::CreateExternalResourceImporterForDevice, 24);
    if (create == nullptr) return;
    OrtExternalResourceImporterImpl* theirs = nullptr;
    check_plugin(create(device.factory, ep_device, &theirs), device.provider,
                 "CreateExternalResourceImporterForDevice");
    if (theirs == nullptr) return;
    auto library = device.library != nullptr ? device.library->shared_from_this() : nullptr;
    *out = wrap<OrtExternalResourceImporter>(
        std::make_unique<ResourceImporter>(std::move(library), device.provider, *theirs));
  });
}

void ORT_API_CALL ReleaseExternalResourceImporter(OrtExternalResourceImporter* importer) noexcept { release(importer); }

OrtStatus* ORT_API_CALL CanImportMemory(const OrtExternalResourceImporter* importer,
                                        OrtExternalMemoryHandleType handle_type, bool* out_supported) noexcept {
  return guard([&] {
    const ResourceImporter& core = unwrap(importer, "importer");
    auto can = core.theirs->CanImportMemory;
    put(out_supported, can != nullptr && can(core.theirs, handle_type), "out_supported");
  });
}

OrtStatus* ORT_API_CALL ImportMemory(OrtExternalResourceImporter* importer, const OrtExternalMemoryDescriptor* desc,
                                     OrtExternalMemoryHandle** out_handle) noexcept {
  return guard([&] {
    const ResourceImporter& core = unwrap(importer, "importer");
    require_argument(desc, "desc");
    require_argument(out_handle, "out_handle");
    auto import = ORTOLAN_IMPORTER_FUNCTION(core, ImportMemory);
    *out_handle = make<OrtExternalMemoryHandle>(core, import, "ImportMemory", desc);
  });
}

void ORT_API_CALL ReleaseExternalMemoryHandle(OrtExternalMemoryHandle* handle) noexcept {
  if (handle != nullptr && handle->Release != nullptr) handle->Release(handle);
}

OrtStatus* ORT_API_CALL CreateTensorFromMemory(OrtExternalResourceImporter* importer,
                                               const OrtExternalMemoryHandle* mem_handle,
                                               const OrtExternalTensorDescriptor* tensor_desc,
                                               OrtValue** out_tensor) noexcept {
  return guard([&] {
    const ResourceImporter& core = unwrap(importer, "importer");
    require_argument(mem_handle, "mem_handle");
    require_argument(tensor_desc, "tensor_desc");
    require_argument(out_tensor, "out_tensor");
    for (int64_t dim : array(tensor_desc->shape, tensor_desc->rank, "tensor_desc->shape")) {
      require(dim >= 0, ErrorCode::kInvalidArgument, "tensor_desc has a dimension of ", dim, "; none is negative");
    }
    auto create = ORTOLAN_IMPORTER_FUNCTION(core, CreateTensorFromMemory);
    *out_tensor = make<OrtValue>(core, create, "CreateTensorFromMemory", mem_handle, tensor_desc);
  });
}

OrtStatus* ORT_API_CALL CanImportSemaphore(const OrtExternalResourceImporter* importer, OrtExternalSemaphoreType type,
                                           bool* out_supported) noexcept {
  return guard([&] {
    const ResourceImporter& core = unwrap(importer, "importer");
    auto can = core.theirs->CanImportSemaphore;
    put(out_supported, can != nullptr && can(core.theirs, type), "out_supported");
  });
}

OrtStatus* ORT_API_CALL ImportSemaphore(OrtExternalResourceImporter* importer,
                                        const OrtExternalSemaphoreDescriptor* desc,
                                        OrtExternalSemaphoreHandle** out_handle) noexcept {
  return guard([&] {
    const ResourceImporter& core = unwrap(importer, "importer");
    require_argument(desc, "desc");
    require_argument(out_handle, "out_handle");
    auto import = ORTOLAN_IMPORTER_FUNCTION(core, ImportSemaphore);
    *out_handle = make<OrtExternalSemaphoreHandle>(core, import, "ImportSemaphore", desc);
  });
}

void ORT_API_CALL ReleaseExternalSemaphoreHandle(OrtExternalSemaphoreHandle* handle) noexcept {
  if (handle != nullptr && handle->Release != nullptr) handle->Release(handle);
}

OrtStatus* ORT_API_CALL WaitSemaphore(OrtExternalResourceImporter* importer, OrtExternalSemaphoreHandle* handle,
                                      OrtSyncStream* stream, uint64_t value) noexcept {
  return guard([&] {
    const ResourceImporter& core = unwrap(importer, "importer");
    require_argument(handle, "semaphore_handle");
    require_argument(stream, "stream");
    auto wait = ORTOLAN_IMPORTER_FUNCTION(core, WaitSemaphore);
    check_plugin(wait(core.theirs, handle, stream, value), core.provider, "WaitSemaphore");
  });
}

OrtStatus* ORT_API_CALL SignalSemaphore(OrtExternalResourceImporter* importer, OrtExternalSemaphoreHandle* handle,
                                        OrtSyncStream* stream, uint64_t value) noexcept {
  return guard([&] {
    const ResourceImporter& core = unwrap(importer, "importer");
    require_argument(handle, "semaphore_handle");
    require_argument(stream, "stream");
    auto signal = ORTOLAN_IMPORTER_FUNCTION(core, SignalSemaphore);
    check_plugin(signal(core.theirs, handle, stream, value), core.provider, "SignalSemaphore");
  });
}

OrtStatus* ORT_API_CALL InitGraphicsInteropForEpDevice(const OrtEpDevice* ep_device,
                                                       const OrtGraphicsInteropConfig* config) noexcept {
  return guard([&] {
    const EpDevice& device = device_of(ep_device);
    require_argument(config, "config");
    auto init =
        device.factory != nullptr ? member_if(*device.factory, &OrtEpFactory::InitGraphicsInterop, 25) : nullptr;
    if (init == nullptr) fail_without_graphics(device);
    check_plugin(init(device.factory, ep_device, config), device.provider, "InitGraphicsInterop");
  });
}

OrtStatus* ORT_API_CALL DeinitGraphicsInteropForEpDevice(const OrtEpDevice* ep_device) noexcept {
  return guard([&] {
    const EpDevice& device = device_of(ep_device);
    auto end =
        device.factory != nullptr ? member_if(*device.factory, &OrtEpFactory::DeinitGraphicsInterop, 25) : nullptr;
    if (end == nullptr) fail_without_graphics(device);
    check_plugin(end(device.factory, ep_device), device.provider, "DeinitGraphicsInterop");
  });
}

}  // namespace ortolan::api
