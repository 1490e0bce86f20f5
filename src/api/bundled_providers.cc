// Providers that come as libraries beside ours, found by their short names without being registered.
#include "api/bundled_providers.h"

#include <algorithm>
#include <filesystem>
#include <mutex>

#include "api/arguments.h"
#include "api/environments.h"

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

std::vector<const EpDevice*> devices_of_provider(const EpRegistry& registry, std::string_view name) {
  auto all = registry.snapshot().devices;
  std::erase_if(all, [&](const EpDevice* device) { return device->provider != name; });
  return all;
}

/** Those of the provider that the library is named after, or of whatever it has first. */
std::vector<const EpDevice*> devices_of_library(const EpRegistry& registry, const std::string& path,
                                                std::string_view name) {
  auto all = registry.snapshot().devices;
  std::erase_if(all, [&](const EpDevice* device) {
    const std::string* library = device->metadata.find("library_path");
    return library == nullptr || *library != path;
  });
  if (all.empty()) return all;
  auto wanted = std::ranges::find(all, name, [](const auto* device) { return std::string_view(device->provider); });
  std::string provider = wanted != all.end() ? (*wanted)->provider : all.front()->provider;
  std::erase_if(all, [&](const EpDevice* device) { return device->provider != provider; });
  return all;
}

/** Registers the library unless it is. */
void load(EpRegistry& registry, const BundledProvider& provider, const std::string& path) {
  auto environment = current_environment();
  require(environment != nullptr, ErrorCode::kFail, "there is no environment to load ", path, " into; create it first");
  registry.add(join(provider.name, kSuffix), path, environment->logger());
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

bool is_here(const BundledProvider& provider) {
  if (std::ranges::any_of(EpLibrary::candidates(provider.library), exists)) return true;
  auto environment = current_environment();
  if (environment == nullptr) return false;
  return !devices_of_provider(EpRegistry::of(*environment), join(provider.name, kSuffix)).empty();
}

std::string how_to_install(const BundledProvider& provider) {
  std::string text = join("package ", provider.package, " brings ", provider.library, ", which is none of");
  const char* before = " ";
  for (const std::string& path : EpLibrary::candidates(provider.library)) {
    text += join(std::exchange(before, ", "), "'", path, "'");
  }
  return text;
}

std::vector<const EpDevice*> devices_by_name(EpRegistry& registry, std::string_view name) {
  const BundledProvider* bundled = find_bundled(name);
  auto registered = devices_of_provider(registry, name);
  if (!registered.empty() || bundled == nullptr) return registered;
  std::string provider = join(bundled->name, kSuffix);
  registered = devices_of_provider(registry, provider);
  if (!registered.empty()) return registered;
  auto paths = EpLibrary::candidates(bundled->library);
  auto path = std::ranges::find_if(paths, exists);
  if (path == paths.end()) return {};
  static auto* const one_at_a_time = new std::mutex;
  std::lock_guard lock(*one_at_a_time);
  auto loaded = devices_of_library(registry, *path, provider);
  if (!loaded.empty()) return loaded;
  load(registry, *bundled, *path);
  loaded = devices_of_library(registry, *path, provider);
  require(!loaded.empty(), ErrorCode::kFail, bundled->name, " execution provider finds no device on this machine ('",
          *path, "' is there); see that the device's driver is installed, or leave the provider out to run on the CPU");
  return loaded;
}

}  // namespace ortolan::api
