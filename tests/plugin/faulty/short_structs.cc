// Puts structs of API 23 right before a page that faults.
#include "short_structs.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace ortolan::faulty {
namespace {

/** Memory for `bytes` that end where an inaccessible page begins; never freed. */
void* before_the_end(size_t bytes) {
  auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + page, page, PROT_NONE);
  return memory + page - bytes;
}

constexpr size_t kFactorySize = offsetof(OrtEpFactory, GetHardwareDeviceIncompatibilityDetails);
constexpr size_t kProviderSize = offsetof(OrtEp, GetKernelRegistry);

OrtEpFactory* the_factory = nullptr;
OrtEp* the_provider = nullptr;
OrtEp* what_it_stands_for = nullptr;

const char* provider_name(const OrtEp*) { return "ExampleCompileExecutionProvider"; }

OrtStatus* get_devices(OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t num_devices,
                       OrtEpDevice** out, size_t, size_t* count) {
  *count = 0;
  if (num_devices == 0) return nullptr;
  *count = 1;
  return api->GetEpApi()->CreateEpDevice(self, devices[0], nullptr, nullptr, out);
}

OrtStatus* create_ep(OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                     const OrtSessionOptions*, const OrtLogger*, OrtEp** out) {
  *out = shorten(nullptr);
  return nullptr;
}

}  // namespace

OrtEpFactory* short_factory() {
  OrtEpFactory full{};
  full.ort_version_supported = 23;
  full.GetName = [](const OrtEpFactory*) { return provider_name(nullptr); };
  full.GetVendor = [](const OrtEpFactory*) { return "Ortolan"; };
  full.GetSupportedDevices = get_devices;
  full.CreateEp = create_ep;
  full.ReleaseEp = [](OrtEpFactory*, OrtEp*) {};
  the_factory = static_cast<OrtEpFactory*>(before_the_end(kFactorySize));
  std::memcpy(static_cast<void*>(the_factory), &full, kFactorySize);
  return the_factory;
}

bool is_short(const OrtEpFactory* factory) { return factory == the_factory; }

OrtEp* shorten(OrtEp* ep) {
  OrtEp full{};
  full.ort_version_supported = 23;
  full.GetName = provider_name;
  the_provider = static_cast<OrtEp*>(before_the_end(kProviderSize));
  std::memcpy(static_cast<void*>(the_provider), &full, kProviderSize);
  what_it_stands_for = ep;
  return the_provider;
}

OrtEp* original(OrtEp* ep) { return ep == the_provider ? what_it_stands_for : ep; }

}  // namespace ortolan::faulty
