// The plugin libraries of an environment.
#include "api/plugins/ep_registry.h"

#include <algorithm>
#include <set>

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/environment/environments.h"
#include "api/guard.h"
#include "api/handles.h"
#include "ortolan.h"

namespace ortolan::api {
namespace {

/** Ends the allocator's place in the table and gives the allocator up. */
void end(SharedAllocator& shared) {
  ReleaseAllocator(shared.handle);
  shared.core.reset();
}

SharedAllocator share(const EpDevice& device, bool host_accessible, std::shared_ptr<Allocator> core) {
  OrtAllocator* handle = new_api_allocator(core);
  return {&device, host_accessible, std::move(core), handle};
}

/** The provider of the registered device that has this very memory info, or else the only one that has an equal one;
    empty when there is none. */
std::string owner_of(const EpRegistry::Snapshot& snapshot, const MemoryInfo& given) {
  std::set<std::string> equal;
  for (const EpDevice* device : snapshot.devices) {
    for (const OrtMemoryInfo* handle : {device->memory, device->host_memory, device->read_only_memory}) {
      const MemoryInfo* theirs = unwrap_optional(handle);
      if (theirs == &given) return device->provider;
      if (theirs != nullptr && *theirs == given) equal.insert(device->provider);
    }
  }
  return equal.size() == 1 ? *equal.begin() : std::string();
}

}  // namespace

const MemoryInfo& place_of(const MemoryInfo& given) {
  auto environment = given.device.type == DeviceType::kCpu ? nullptr : current_environment();
  if (environment == nullptr) return interned(given);
  std::string owner = owner_of(EpRegistry::of(*environment).snapshot(), given);
  return owner.empty() ? interned(given) : interned(given, owner);
}

Registration::Registration(std::shared_ptr<EpLibrary> from) : library(std::move(from)) {
  try {
    share_memory();
  } catch (...) {
    for (SharedAllocator& shared : allocators) end(shared);
    throw;
  }
}

void Registration::share_memory() {
  for (const auto& device : library->devices()) {
    for (bool host_accessible : {false, true}) {
      const OrtMemoryInfo* memory = host_accessible ? device->host_memory : device->memory;
      if (memory == nullptr) continue;
      auto core = library->make_allocator(*device->factory, *memory, nullptr);
      if (core != nullptr) allocators.push_back(share(*device, host_accessible, std::move(core)));
    }
  }
  for (OrtEpFactory* factory : library->factories()) {
    if (auto transfer = library->make_data_transfer(*factory)) transfers.push_back(std::move(transfer));
  }
}

Registration::~Registration() {
  transfers.clear();
  for (SharedAllocator& shared : allocators) end(shared);
}

EpRegistry& EpRegistry::of(runtime::Environment& environment) {
  auto& plugins = environment.plugins([] { return std::make_unique<EpRegistry>(); });
  return static_cast<EpRegistry&>(plugins);
}

EpRegistry::EpRegistry() {
  cpu_.provider = "CPUExecutionProvider";
  cpu_.vendor = "Microsoft";  // what programs know the provider of that name by
  cpu_.metadata.set("version", OrtGetVersionString());
  cpu_.hardware = &runtime::machine_devices().front();
  list_devices();
}

void EpRegistry::list_devices() {
  devices_.assign(1, &cpu_);
  for (const Entry& entry : entries_) {
    if (entry.registration == nullptr) continue;
    for (const auto& device : entry.registration->library->devices()) devices_.push_back(device.get());
  }
}

void EpRegistry::add(const std::string& name, const std::string& path, const base::Logger& logger) {
  auto find = [&] { return std::ranges::find(entries_, name, &Entry::name); };
  {
    std::lock_guard lock(mutex_);
    require(find() == entries_.end(), ErrorCode::kFail, "a plugin library is registered as '", name,
            "' already; unregister it first or choose another name");
    entries_.push_back({name, nullptr});
  }
  try {
    auto registration = std::make_shared<Registration>(EpLibrary::load(name, path, logger));
    std::lock_guard lock(mutex_);
    find()->registration = std::move(registration);
    list_devices();
  } catch (...) {
    std::lock_guard lock(mutex_);
    entries_.erase(find());
    throw;
  }
}

void EpRegistry::remove(const std::string& name) {
  std::shared_ptr<Registration> last;  // ends without the lock
  std::lock_guard lock(mutex_);
  auto found = std::ranges::find(entries_, name, &Entry::name);
  require(found != entries_.end() && found->registration != nullptr, ErrorCode::kFail,
          "no plugin library is registered as '", name, "'");
  last = std::move(found->registration);
  entries_.erase(found);
  list_devices();
}

std::span<const EpDevice* const> EpRegistry::devices() const {
  std::lock_guard lock(mutex_);
  return devices_;
}

EpRegistry::Snapshot EpRegistry::snapshot() const {
  std::lock_guard lock(mutex_);
  Snapshot result;
  result.devices = devices_;
  for (const Entry& entry : entries_) {
    if (entry.registration != nullptr) result.registrations.push_back(entry.registration);
  }
  return result;
}

const EpDevice& EpRegistry::check(const OrtEpDevice* device, const char* name) const {
  const EpDevice& core = unwrap(device, name);
  std::lock_guard lock(mutex_);
  require(std::ranges::find(devices_, &core) != devices_.end(), ErrorCode::kInvalidArgument, "argument '", name,
          "' is no device of the environment; GetEpDevices lists them, and their library must still be registered");
  return core;
}

Registration* EpRegistry::registration_of(const EpDevice& device) const {
  for (const Entry& entry : entries_) {
    if (entry.registration != nullptr && entry.registration->library.get() == device.library) {
      return entry.registration.get();
    }
  }
  return nullptr;
}

std::shared_ptr<EpLibrary> EpRegistry::library_of(const EpDevice& device) const {
  std::lock_guard lock(mutex_);
  Registration* registration = registration_of(device);
  return registration == nullptr ? nullptr : registration->library;
}

OrtAllocator* EpRegistry::shared_allocator(const MemoryInfo& memory) const {
  std::lock_guard lock(mutex_);
  for (const Entry& entry : entries_) {
    if (entry.registration == nullptr) continue;
    for (const SharedAllocator& shared : entry.registration->allocators) {
      const MemoryInfo& known = shared.core->info();
      if (known.host_accessible == memory.host_accessible && same_device(known, memory)) return shared.handle;
    }
  }
  return nullptr;
}

OrtAllocator* EpRegistry::replace_shared_allocator(const EpDevice& device, bool host_accessible,
                                                   const OrtMemoryInfo& memory, const OrtKeyValuePairs* options) {
  std::shared_ptr<EpLibrary> library = library_of(device);
  require(library != nullptr, ErrorCode::kInvalidArgument, "the device's library is not registered any more");
  auto core = library->make_allocator(*device.factory, memory, options);
  require(core != nullptr, ErrorCode::kEpFail, "execution provider ", device.provider,
          " makes no allocator for memory '", unwrap_optional(&memory)->name, "'");
  remove_shared_allocator(device, host_accessible);
  std::lock_guard lock(mutex_);
  Registration* registration = registration_of(device);
  require(registration != nullptr, ErrorCode::kInvalidArgument, "the device's library is not registered any more");
  registration->allocators.push_back(share(device, host_accessible, std::move(core)));
  return registration->allocators.back().handle;
}

void EpRegistry::remove_shared_allocator(const EpDevice& device, bool host_accessible) {
  std::vector<SharedAllocator> removed;  // ended without the lock
  {
    std::lock_guard lock(mutex_);
    Registration* registration = registration_of(device);
    if (registration == nullptr) return;
    auto is_it = [&](const SharedAllocator& shared) {
      return shared.device == &device && shared.host_accessible == host_accessible;
    };
    auto& all = registration->allocators;
    std::ranges::copy_if(all, std::back_inserter(removed), is_it);
    std::erase_if(all, is_it);
  }
  for (SharedAllocator& shared : removed) end(shared);
}

namespace {

/** Where the name asks for it, the environment's entries tell the library, while it is registered, that devices which
    the machine does not have are welcome. */
class VirtualDevices {
 public:
  VirtualDevices(runtime::Environment& environment, std::string_view name)
      : environment_(environment), before_(environment.config()), wanted_(name.ends_with(".virtual")) {
    if (!wanted_) return;
    base::KeyValues config = before_;
    config.set("allow_virtual_devices", "1");
    environment_.set_config(std::move(config));
  }
  ~VirtualDevices() {
    if (wanted_) environment_.set_config(std::move(before_));
  }

 private:
  runtime::Environment& environment_;
  base::KeyValues before_;
  bool wanted_;
};

}  // namespace

OrtStatus* ORT_API_CALL RegisterExecutionProviderLibrary(OrtEnv* env, const char* registration_name,
                                                         const char* path) noexcept {
  return guard([&] {
    runtime::Environment& environment = unwrap(env, "env");
    std::string name = text(registration_name, "registration_name");
    require(!name.empty(), ErrorCode::kInvalidArgument, "registration_name is empty");
    VirtualDevices allowed(environment, name);
    EpRegistry::of(environment).add(name, text(path, "path"), environment.logger());
  });
}

OrtStatus* ORT_API_CALL UnregisterExecutionProviderLibrary(OrtEnv* env, const char* registration_name) noexcept {
  return guard([&] { EpRegistry::of(unwrap(env, "env")).remove(text(registration_name, "registration_name")); });
}

OrtStatus* ORT_API_CALL GetEpDevices(const OrtEnv* env, const OrtEpDevice* const** ep_devices,
                                     size_t* num_ep_devices) noexcept {
  return guard([&] {
    auto devices = EpRegistry::of(*environment_of(env)).devices();
    require_argument(num_ep_devices, "num_ep_devices");
    put(ep_devices, wrap_array<const OrtEpDevice>(devices.data()), "ep_devices");
    *num_ep_devices = devices.size();
  });
}

OrtStatus* ORT_API_CALL CreateSharedAllocator(OrtEnv* env, const OrtEpDevice* ep_device, OrtDeviceMemoryType mem_type,
                                              OrtAllocatorType allocator_type, const OrtKeyValuePairs* options,
                                              OrtAllocator** allocator) noexcept {
  return guard([&] {
    EpRegistry& registry = EpRegistry::of(unwrap(env, "env"));
    const EpDevice& device = registry.check(ep_device, "ep_device");
    require(allocator_type != OrtArenaAllocator, ErrorCode::kInvalidArgument,
            "allocators of devices are OrtDeviceAllocator or OrtReadOnlyAllocator; whether they keep an arena is their "
            "provider's affair");
    bool read_only = allocator_type == OrtReadOnlyAllocator;
    const OrtMemoryInfo* memory = read_only ? device.read_only_memory : device.memory_of(mem_type);
    require(memory != nullptr, ErrorCode::kInvalidArgument, "device of provider ", device.provider,
            " has no memory of type ", static_cast<int>(mem_type));
    bool host = mem_type == OrtDeviceMemoryType_HOST_ACCESSIBLE;
    OrtAllocator* made = registry.replace_shared_allocator(device, host, *memory, options);
    if (allocator != nullptr) *allocator = made;
  });
}

OrtStatus* ORT_API_CALL GetSharedAllocator(OrtEnv* env, const OrtMemoryInfo* mem_info,
                                           OrtAllocator** allocator) noexcept {
  return guard([&] {
    runtime::Environment& environment = unwrap(env, "env");
    const MemoryInfo& memory = place_of(unwrap(mem_info, "mem_info"));
    OrtAllocator* found = EpRegistry::of(environment).shared_allocator(memory);
    if (found == nullptr && memory.device == Device{}) found = default_api_allocator();
    put(allocator, found, "allocator");
  });
}

OrtStatus* ORT_API_CALL ReleaseSharedAllocator(OrtEnv* env, const OrtEpDevice* ep_device,
                                               OrtDeviceMemoryType mem_type) noexcept {
  return guard([&] {
    EpRegistry& registry = EpRegistry::of(unwrap(env, "env"));
    const EpDevice& device = registry.check(ep_device, "ep_device");
    require(device.memory_of(mem_type) != nullptr, ErrorCode::kInvalidArgument, "device of provider ", device.provider,
            " has no memory of type ", static_cast<int>(mem_type));
    registry.remove_shared_allocator(device, mem_type == OrtDeviceMemoryType_HOST_ACCESSIBLE);
  });
}

}  // namespace ortolan::api
