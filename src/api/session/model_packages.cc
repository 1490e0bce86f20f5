// Model packages: which variant of a component fits a provider, and sessions of it.
#include "packages/package.h"

#include <algorithm>
#include <optional>

#include "api/arguments.h"
#include "api/environment/environments.h"
#include "api/guard.h"
#include "api/session/session_entry.h"
#include "api/session/session_object.h"
#include "runtime/providers/hardware_devices.h"
#include "runtime/providers/provider_factory.h"

namespace ortolan::api {

/** OrtModelPackageContext. */
struct ModelPackage {
  std::shared_ptr<const packages::Package> content;
};

/** OrtModelPackageOptions: options of a session on the provider that variants are chosen for, its only request. */
struct PackageTarget {
  runtime::SessionOptions options;
  const runtime::ProviderRequest& provider() const { return options.providers.front(); }
};

/** OrtModelPackageComponentContext. */
struct PackageComponent {
  std::shared_ptr<const packages::Package> content;  // that holds the variant
  const packages::Component* component;
  const packages::Variant* variant;
  PackageTarget target;
};

namespace {

using packages::Component;
using packages::Package;
using packages::Variant;
using runtime::Compatibility;
using runtime::HardwareType;
using runtime::ProviderRequest;
using runtime::SessionOptions;

constexpr const char* kCpu = "CPUExecutionProvider";

const Package& package_of(const OrtModelPackageContext* context) { return *unwrap(context, "context").content; }

const Component& component_of(const Package& package, const char* name) {
  const Component* component = package.find(text(name, "component_name"));
  require(component != nullptr, ErrorCode::kInvalidArgument, "the model package '", package.paths.root(),
          "' has no component '", name, "'; ModelPackage_GetComponentNames lists those it has");
  return *component;
}

/** The first provider that a session with the options would ask for, with what belongs to it. */
PackageTarget target_of(SessionOptions asked) {
  if (asked.providers.empty() && asked.select_providers) {
    asked.providers = asked.select_providers(asked, graph::Model());
  }
  PackageTarget target;
  target.options.providers = {asked.providers.empty() ? ProviderRequest{kCpu} : asked.providers.front()};
  target.options.custom_operators = std::move(asked.custom_operators);
  target.options.libraries = std::move(asked.libraries);
  const std::string entries = runtime::provider_entry(target.provider().name, "");
  for (const auto& [key, value] : asked.config) {
    if (key.starts_with(entries)) target.options.config[key] = value;
  }
  return target;
}

/** True where the variant is for no kind of device, or for one of the provider's. */
bool fits_device(const Variant& variant, const ProviderRequest& provider) {
  if (variant.device.empty()) return true;
  auto same_letter = [](char a, char b) { return std::tolower(static_cast<unsigned char>(a)) == b; };
  auto is_named = [&](HardwareType type) {
    std::string_view name = type == HardwareType::kGpu ? "gpu" : type == HardwareType::kNpu ? "npu" : "cpu";
    return std::ranges::equal(variant.device, name, same_letter);
  };
  if (provider.factory == nullptr) return is_named(HardwareType::kCpu);
  return std::ranges::any_of(provider.factory->device_types(), is_named);
}

/** How well the provider says that it runs the variant; nothing where it does not. */
std::optional<int> rank_of(const Variant& variant, const ProviderRequest& provider) {
  if (variant.ep != provider.name || !fits_device(variant, provider)) return std::nullopt;
  if (variant.compatibility.empty() || provider.factory == nullptr) return 0;
  switch (provider.factory->judge(variant.compatibility)) {
    case Compatibility::kOptimal:
      return 2;
    case Compatibility::kPreferRecompilation:
      return 1;
    case Compatibility::kUnsupported:
      return std::nullopt;
    default:
      return 0;
  }
}

const Variant& best_variant(const Component& component, const ProviderRequest& provider) {
  const Variant* best = nullptr;
  int best_rank = -1;
  for (const Variant& variant : component.variants) {
    auto rank = rank_of(variant, provider);
    if (!rank || *rank <= best_rank) continue;
    best = &variant;
    best_rank = *rank;
  }
  require(best != nullptr, ErrorCode::kFail, "component '", component.name, "' has no variant that fits provider ",
          provider.name, " and its devices; ask for a provider of ModelPackage_GetVariantEpName");
  return *best;
}

/** What the variant asks for, on the provider that it was chosen for. */
SessionOptions own_options(const PackageComponent& chosen) {
  SessionOptions options = chosen.target.options;
  for (const auto& [key, value] : chosen.variant->session_options) set_session_entry(options, key, value);
  ProviderRequest& provider = options.providers.front();
  require(provider.factory != nullptr || chosen.variant->provider_options.empty(), ErrorCode::kNotImplemented,
          "variant '", chosen.variant->name, "' has provider_options, but ", provider.name,
          " takes none; remove them from the package");
  for (const auto& [key, value] : chosen.variant->provider_options) {
    provider.options[key] = value;
    options.config[runtime::provider_entry(provider.name, key)] = value;
  }
  return options;
}

/** The caller's, with the entries of the variant that are paths and that the caller has not. */
SessionOptions callers_options(const PackageComponent& chosen, SessionOptions options) {
  for (const auto& [key, value] : chosen.variant->session_options) {
    if (packages::is_path_entry(key)) options.config.try_emplace(key, value);
  }
  return options;
}

}  // namespace

OrtStatus* ORT_API_CALL CreateModelPackageOptionsFromSessionOptions(const OrtEnv* env,
                                                                    const OrtSessionOptions* session_options,
                                                                    OrtModelPackageOptions** out) noexcept {
  return guard([&] {
    environment_of(env);
    const SessionOptions& asked = unwrap(session_options, "session_options");
    require_argument(out, "out");
    give(out, target_of(asked));
  });
}

void ORT_API_CALL ReleaseModelPackageOptions(OrtModelPackageOptions* options) noexcept { release(options); }

OrtStatus* ORT_API_CALL CreateModelPackageContext(const char* package_root, OrtModelPackageContext** out) noexcept {
  return guard([&] {
    text(package_root, "package_root");
    require_argument(out, "out");
    give(out, ModelPackage{packages::open_package(package_root)});
  });
}

void ORT_API_CALL ReleaseModelPackageContext(OrtModelPackageContext* context) noexcept { release(context); }

OrtStatus* ORT_API_CALL ModelPackage_GetSchemaVersion(const OrtModelPackageContext* context,
                                                      int64_t* out_version) noexcept {
  return guard([&] { put(out_version, package_of(context).schema, "out_version"); });
}

OrtStatus* ORT_API_CALL ModelPackage_GetComponentCount(const OrtModelPackageContext* context,
                                                       size_t* out_count) noexcept {
  return guard([&] { put(out_count, package_of(context).components.size(), "out_count"); });
}

OrtStatus* ORT_API_CALL ModelPackage_GetComponentNames(const OrtModelPackageContext* context,
                                                       const char* const** out_names, size_t* out_count) noexcept {
  return guard([&] {
    const auto& names = package_of(context).component_names;
    require_argument(out_names, "out_names");
    put(out_count, names.size(), "out_count");
    *out_names = names.data();
  });
}

OrtStatus* ORT_API_CALL ModelPackage_GetVariantCount(const OrtModelPackageContext* context, const char* component_name,
                                                     size_t* out_count) noexcept {
  return guard([&] { put(out_count, component_of(package_of(context), component_name).variants.size(), "out_count"); });
}

OrtStatus* ORT_API_CALL ModelPackage_GetVariantNames(const OrtModelPackageContext* context, const char* component_name,
                                                     const char* const** out_variant_names,
                                                     size_t* out_count) noexcept {
  return guard([&] {
    const auto& names = component_of(package_of(context), component_name).variant_names;
    require_argument(out_variant_names, "out_variant_names");
    put(out_count, names.size(), "out_count");
    *out_variant_names = names.data();
  });
}

OrtStatus* ORT_API_CALL ModelPackage_GetVariantEpName(const OrtModelPackageContext* context, const char* component_name,
                                                      const char* variant_name, const char** out_ep) noexcept {
  return guard([&] {
    const Component& component = component_of(package_of(context), component_name);
    const Variant* variant = component.find(text(variant_name, "variant_name"));
    require(variant != nullptr, ErrorCode::kInvalidArgument, "component '", component_name, "' has no variant '",
            variant_name, "'; ModelPackage_GetVariantNames lists those it has");
    put(out_ep, variant->ep.empty() ? nullptr : variant->ep.c_str(), "out_ep");
  });
}

OrtStatus* ORT_API_CALL ModelPackage_ResolveStringRef(const OrtModelPackageContext* context, const char* base_dir,
                                                      const char* input, int must_exist,
                                                      const char** out_path) noexcept {
  return guard([&] {
    const Package& package = package_of(context);
    text(input, "input");
    require_argument(out_path, "out_path");
    thread_local std::string path;
    path = package.paths.resolve(base_dir == nullptr ? "" : base_dir, input, must_exist != 0);
    *out_path = path.c_str();
  });
}

OrtStatus* ORT_API_CALL SelectComponent(const OrtModelPackageContext* context, const char* component_name,
                                        const OrtModelPackageOptions* options,
                                        OrtModelPackageComponentContext** out) noexcept {
  return guard([&] {
    const ModelPackage& package = unwrap(context, "context");
    const Component& component = component_of(*package.content, component_name);
    const PackageTarget& target = unwrap(options, "options");
    require_argument(out, "out");
    const Variant& variant = best_variant(component, target.provider());
    give(out, PackageComponent{package.content, &component, &variant, target});
  });
}

void ORT_API_CALL ReleaseModelPackageComponentContext(OrtModelPackageComponentContext* context) noexcept {
  release(context);
}

OrtStatus* ORT_API_CALL ModelPackageComponent_GetSelectedVariantName(const OrtModelPackageComponentContext* context,
                                                                     const char** out_name) noexcept {
  return guard([&] { put(out_name, unwrap(context, "context").variant->name.c_str(), "out_name"); });
}

OrtStatus* ORT_API_CALL ModelPackageComponent_GetSelectedVariantFolderPath(
    const OrtModelPackageComponentContext* context, const char** folder_path) noexcept {
  return guard([&] { put(folder_path, unwrap(context, "context").variant->folder.c_str(), "folder_path"); });
}

OrtStatus* ORT_API_CALL OrtModelPackageApi_CreateSession(const OrtEnv* env,
                                                         const OrtModelPackageComponentContext* context,
                                                         const OrtSessionOptions* session_options,
                                                         OrtSession** session) noexcept {
  return guard([&] {
    require_argument(session, "session");
    *session = nullptr;
    auto environment = environment_of(env);
    const PackageComponent& chosen = unwrap(context, "context");
    require(!chosen.variant->model.empty(), ErrorCode::kFail, "variant '", chosen.variant->name, "' of component '",
            chosen.component->name, R"(' names no model; add "model_file" to its executor_info's "ort")");
    auto object = std::make_unique<SessionObject>();
    object->core = runtime::Session::from_file(
        environment, chosen.variant->model,
        session_options == nullptr ? own_options(chosen) : callers_options(chosen, *unwrap_optional(session_options)),
        nullptr);
    *session = wrap<OrtSession>(std::move(object));
  });
}

}  // namespace ortolan::api
