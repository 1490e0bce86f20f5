// Providers that come as libraries beside ours, found by their short names without being registered.
#include "api/providers/bundled_providers.h"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "api/arguments.h"
#include "api/environment/environments.h"

namespace ortolan::api {
namespace {

constexpr std::string_view kSuffix = "ExecutionProvider";
constexpr BundledProvider kBundled[] = {
    {"OpenCL", "libonnxruntime_ep_opencl.so", "libortolan-opencl"},
    {"Vulkan", "libonnxruntime_ep_vulkan.so", "libortolan-vulkan"},
    {"CUDA", "libonnxruntime_ep_cuda.so", "libortolan-cuda"},
};

bool exists(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

EpRegistry::Snapshot devices_of_provider(const EpRegistry& registry, std::string_view name) {
  auto found = registry.snapshot();
  std::erase_if(found.devices, [&](const EpDevice* device) { return device->provider != name; });
  return found;
}

/** Those of the provider that the library is named after, or of whatever it has first. */
EpRegistry::Snapshot devices_of_library(const EpRegistry& registry, const std::string& path, std::string_view name) {
  auto found = registry.snapshot();
  auto& devices = found.devices;
  std::erase_if(devices, [&](const EpDevice* device) {
    const std::string* library = device->metadata.find("library_path");
    return library == nullptr || *library != path;
  });
  if (devices.empty()) return found;
  auto named = std::ranges::find(devices, name, [](const auto* device) { return std::string_view(device->provider); });
  std::string provider = named != devices.end() ? (*named)->provider : devices.front()->provider;
  std::erase_if(devices, [&](const EpDevice* device) { return device->provider != provider; });
  return found;
}

/** Registers the library, under its provider's name, for the devices that it has. */
EpRegistry::Snapshot load(EpRegistry& registry, const BundledProvider& bundled, const std::string& path) {
  auto environment = current_environment();
  require(environment != nullptr, ErrorCode::kFail, "there is no environment to load ", path, " into; create it first");
  std::string provider = join(bundled.name, kSuffix);
  try {
    registry.add(provider, path, environment->logger());
  } catch (const Error& error) {  // to callers that can do without it, a provider is not there whatever the reason
    fail(ErrorCode::kFail, bundled.name, " execution provider is not available: ", error.text());
  }
  auto loaded = devices_of_library(registry, path, provider);
  if (!loaded.devices.empty()) return loaded;
  registry.remove(provider);
  fail(ErrorCode::kFail, bundled.name, " execution provider finds no device on this machine ('", path,
       "' is there); see that the device's driver is installed, or leave the provider out to run on the CPU");
}

}  // namespace

const BundledProvider* find_bundled(std::string_view name) {
  if (name.ends_with(kSuffix)) name.remove_suffix(kSuffix.size());
  auto same_letter = [](char a, char b) { return std::tolower(a) == std::tolower(b); };
  auto found = std::ranges::find_if(kBundled, [&](const BundledProvider& each) {
    return std::equal(each.name.begin(), each.name.end(), name.begin(), name.end(), same_letter);
  });
  return found == std::end(kBundled) ? nullptr : found;
}

std::string full_name(std::string_view name) {
  const BundledProvider* bundled = find_bundled(name);
  return bundled != nullptr ? join(bundled->name, kSuffix) : std::string(name);
}

bool is_here(const BundledProvider& provider) {
  if (std::ranges::any_of(EpLibrary::candidates(provider.library), exists)) return true;
  auto environment = current_environment();
  if (environment == nullptr) return false;
  return !devices_of_provider(EpRegistry::of(*environment), join(provider.name, kSuffix)).devices.empty();
}

std::string how_to_install(const BundledProvider& provider) {
  std::string text = join("package ", provider.package, " brings ", provider.library, ", which is none of");
  const char* before = " ";
  for (const std::string& path : EpLibrary::candidates(provider.library)) {
    text += join(std::exchange(before, ", "), "'", path, "'");
  }
  return text;
}

EpRegistry::Snapshot devices_by_name(EpRegistry& registry, std::string_view name) {
  const BundledProvider* bundled = find_bundled(name);
  auto registered = devices_of_provider(registry, name);
  if (!registered.devices.empty() || bundled == nullptr) return registered;
  std::string provider = join(bundled->name, kSuffix);
  registered = devices_of_provider(registry, provider);
  if (!registered.devices.empty()) return registered;
  auto paths = EpLibrary::candidates(bundled->library);
  auto path = std::ranges::find_if(paths, exists);
  if (path == paths.end()) return {};
  static auto* const one_at_a_time = new std::mutex;
  std::lock_guard lock(*one_at_a_time);
  auto loaded = devices_of_library(registry, *path, provider);
  return loaded.devices.empty() ? load(registry, *bundled, *path) : loaded;
}

}  // namespace ortolan::api
