// A plugin library: opening it, its factories and devices, and closing it.
#include "api/plugins/ep_library.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/plugins/ep_members.h"
#include "api/plugins/ep_memory.h"
#include "api/tables/tables.h"
#include "ortolan_version.h"

namespace ortolan::api {
namespace {

constexpr size_t kMaxFactories = 4;
constexpr size_t kMaxDevices = 8;  // of one factory

/** The first candidate that exists, or else the path for the loader to look for. */
std::string resolved(const std::string& path) {
  std::error_code error;
  auto all = EpLibrary::candidates(path);
  auto found = std::ranges::find_if(all, [&](const auto& each) { return std::filesystem::exists(each, error); });
  return found == all.end() ? path : *found;
}

std::string text_or_empty(const char* text) { return text == nullptr ? "" : text; }

/** Within this library: another copy in the process may stand for its exported functions. */
constexpr char kWithin = 0;

}  // namespace

std::vector<std::string> EpLibrary::candidates(const std::string& path) {
  std::filesystem::path given(path);
  Dl_info ours{};
  if (given.is_absolute() || dladdr(&kWithin, &ours) == 0) return {path};
  std::error_code error;
  std::vector<std::string> candidates;
  for (const auto& library :
       {std::filesystem::absolute(ours.dli_fname, error), std::filesystem::canonical(ours.dli_fname, error)}) {
    for (const char* folder : {"", ORTOLAN_PROVIDER_FOLDER}) {
      std::string candidate = (library.parent_path() / folder / given).string();
      bool known = std::ranges::find(candidates, candidate) != candidates.end();
      if (!library.empty() && !known) candidates.push_back(std::move(candidate));
    }
  }
  return candidates;
}

std::shared_ptr<EpLibrary> EpLibrary::load(const std::string& registration_name, const std::string& path,
                                           const base::Logger& logger) {
  std::shared_ptr<EpLibrary> library(new EpLibrary(resolved(path), logger));
  try {
    library->open();
    library->make_factories(registration_name);
    for (OrtEpFactory* factory : library->factories_) library->find_devices(*factory);
  } catch (const base::Error& error) {
    throw error.within(join("plugin library '", path, "'"));
  }
  return library;
}

EpLibrary::~EpLibrary() {
  devices_.clear();
  for (OrtEpFactory* factory : factories_) ReleaseStatus(release_factory_(factory));
  if (handle_ != nullptr) dlclose(handle_);
}

void EpLibrary::open() {
  handle_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* why = dlerror();
    fail(ErrorCode::kFail, "cannot be loaded: ", text_or_empty(why));
  }
  symbol("CreateEpFactories");
  release_factory_ = wrap_symbol<ReleaseEpApiFactoryFn>(symbol("ReleaseEpFactory"));
  refusal_reason_ = wrap_symbol<GetEpRefusalReasonFn>(dlsym(handle_, "GetEpRefusalReason"));
}

void* EpLibrary::symbol(const char* name) const {
  void* found = dlsym(handle_, name);
  require(found != nullptr, ErrorCode::kFail, "it has no function ", name,
          ", which every library of execution providers exports");
  return found;
}

void EpLibrary::make_factories(const std::string& registration_name) {
  auto create = wrap_symbol<CreateEpApiFactoriesFn>(symbol("CreateEpFactories"));
  OrtEpFactory* made[kMaxFactories] = {};
  size_t count = 0;
  OrtStatus* status =
      create(registration_name.c_str(), OrtGetApiBase(), wrap<const OrtLogger>(&logger_), made, kMaxFactories, &count);
  if (status == nullptr) {
    for (size_t i = 0; i < std::min(count, kMaxFactories); ++i) {
      if (made[i] != nullptr) factories_.push_back(made[i]);
    }
  }
  check_status(status);
  require(count <= kMaxFactories, ErrorCode::kEpFail, "CreateEpFactories says that it made ", count,
          " factories, where there is room for ", kMaxFactories);
  require(factories_.size() == count, ErrorCode::kEpFail, "CreateEpFactories made ", count,
          " factories, but gave NULL for some");
}

std::string EpLibrary::name_of(const OrtEpFactory& factory) {
  auto get = require_member(factory.GetName, "of a plugin library", "OrtEpFactory::GetName");
  return &require_made(get(&factory), "of a plugin library", "OrtEpFactory::GetName");
}

void EpLibrary::find_devices(OrtEpFactory& factory) {
  std::string name = name_of(factory);
  require_member(factory.GetSupportedDevices, name, "OrtEpFactory::GetSupportedDevices");
  require_member(factory.CreateEp, name, "OrtEpFactory::CreateEp");
  require_member(factory.ReleaseEp, name, "OrtEpFactory::ReleaseEp");
  std::vector<const OrtHardwareDevice*> hardware;
  for (const auto& device : runtime::machine_devices()) hardware.push_back(wrap<const OrtHardwareDevice>(&device));
  OrtEpDevice* given[kMaxDevices] = {};
  size_t count = 0;
  OrtStatus* status =
      factory.GetSupportedDevices(&factory, hardware.data(), hardware.size(), given, kMaxDevices, &count);
  check_plugin(status, name, "GetSupportedDevices");  // which, where it fails, keeps what it made
  std::vector<std::unique_ptr<EpDevice>> made;
  for (OrtEpDevice* device : given) {
    if (device != nullptr) made.emplace_back(unwrap_optional(device));
  }
  require(count <= kMaxDevices, ErrorCode::kEpFail, "execution provider ", name, " says that it has ", count,
          " devices, where there is room for ", kMaxDevices);
  require(made.size() == count, ErrorCode::kEpFail, "execution provider ", name, " counts ", count,
          " devices, but gives ", made.size());
  for (auto& device : made) adopt(std::move(device), factory);
}

/** Adds what every device of a library says about itself. */
void EpLibrary::adopt(std::unique_ptr<EpDevice> device, OrtEpFactory& factory) {
  require(device->factory == &factory, ErrorCode::kEpFail, "execution provider ", device->provider,
          " gives a device that was made for another factory");
  auto get_version = member_if(factory, &OrtEpFactory::GetVersion, 23);
  const char* version = get_version != nullptr ? get_version(&factory) : nullptr;
  if (version != nullptr) device->metadata.set("version", version);
  device->metadata.set("library_path", path_);
  device->library = this;
  devices_.push_back(std::move(device));
}

std::shared_ptr<Allocator> EpLibrary::make_allocator(OrtEpFactory& factory, const OrtMemoryInfo& memory,
                                                     const OrtKeyValuePairs* options) {
  auto create = member_if(factory, &OrtEpFactory::CreateAllocator, 23);
  if (create == nullptr) return nullptr;
  OrtAllocator* made = nullptr;
  check_plugin(create(&factory, &memory, options, &made), name_of(factory), "OrtEpFactory::CreateAllocator");
  if (made == nullptr) return nullptr;
  return std::make_shared<PluginAllocator>(shared_from_this(), factory, memory, *made);
}

std::unique_ptr<DataTransfer> EpLibrary::make_data_transfer(OrtEpFactory& factory) {
  auto create = member_if(factory, &OrtEpFactory::CreateDataTransfer, 23);
  if (create == nullptr) return nullptr;
  OrtDataTransferImpl* made = nullptr;
  check_plugin(create(&factory, &made), name_of(factory), "CreateDataTransfer");
  if (made == nullptr) return nullptr;
  return std::make_unique<PluginDataTransfer>(shared_from_this(), name_of(factory), *made);
}

}  // namespace ortolan::api
