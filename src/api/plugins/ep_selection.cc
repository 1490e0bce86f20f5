// How sessions come to plugin providers: by devices, by name, by a policy or a function of the caller's.
#include "api/plugins/ep_selection.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "api/arguments.h"
#include "api/environment/environments.h"
#include "api/guard.h"
#include "api/operators/custom_operators.h"
#include "api/plugins/ep_members.h"
#include "api/plugins/ep_provider.h"
#include "api/providers/absent_providers.h"
#include "api/providers/bundled_providers.h"
#include "api/providers/cuda_options.h"
#include "api/session/session_object.h"
#include "ortolan.h"

namespace ortolan::api {
namespace {

using runtime::HardwareType;
using runtime::ProviderRequest;
using runtime::SessionOptions;

constexpr const char* kCpu = "CPUExecutionProvider";
constexpr const char* kNotAvailable = " execution provider is not available: ";
constexpr size_t kMaxSelected = 8;  // devices of one choice by a function

/** The process's registry; throws when there is no environment. `what` begins the text. */
EpRegistry& process_registry(std::string_view what = {}) {
  auto environment = current_environment();
  require(environment != nullptr, ErrorCode::kFail, what,
          "there is no environment, so no devices are known; create it first");
  return EpRegistry::of(*environment);
}

/** The device of that number among a provider's. */
const EpDevice& numbered(std::span<const EpDevice* const> devices, int number, std::string_view provider) {
  require(number >= 0 && static_cast<size_t>(number) < devices.size(), ErrorCode::kInvalidArgument, "device ", number,
          " is not one of the ", devices.size(), " that the ", provider, " execution provider finds, from 0 on");
  return *devices[static_cast<size_t>(number)];
}

/** Makes the provider of that name from what is registered, or bundled, when a session is made: on its first device, or
    on that whose number is among CUDA's options. */
class FactoryByName final : public runtime::ProviderFactory {
 public:
  explicit FactoryByName(std::string name) : name_(std::move(name)) {}
  const std::string& type() const override { return name_; }

  std::vector<HardwareType> device_types() const override {
    auto [libraries, devices] = devices_by_name(process_registry(), name_);
    return devices.empty() ? std::vector<HardwareType>() : std::vector{devices.front()->hardware->type};
  }
  std::unique_ptr<runtime::ExecutionProvider> make(const SessionOptions& options,
                                                   const base::Logger& logger) const override {
    EpRegistry& registry = process_registry();
    auto [libraries, devices] = devices_by_name(registry, name_);
    if (devices.empty()) fail_absent_provider(name_);
    int number = name_ == "CUDAExecutionProvider" ? cuda_device(options, {}) : 0;
    std::vector chosen = {&numbered(devices, number, name_)};
    return PluginProviderFactory(registry.library_of(*chosen.front()), chosen).make(options, logger);
  }

 private:
  std::string name_;
};

/** Adds the operators that the devices' factory brings. */
void add_operators(SessionOptions& options, EpLibrary& library, OrtEpFactory& factory) {
  auto count_domains = member_if(factory, &OrtEpFactory::GetNumCustomOpDomains, 24);
  auto get_domains = member_if(factory, &OrtEpFactory::GetCustomOpDomains, 24);
  if (count_domains == nullptr || get_domains == nullptr) return;
  std::string name = EpLibrary::name_of(factory);
  size_t count = 0;
  check_plugin(count_domains(&factory, &count), name, "GetNumCustomOpDomains");
  if (count == 0) return;
  require(count <= 1000, ErrorCode::kEpFail, "execution provider ", name, " says that it has ", count,
          " domains of operators");
  std::vector<OrtCustomOpDomain*> domains(count);
  check_plugin(get_domains(&factory, domains.data(), count), name, "GetCustomOpDomains");
  for (OrtCustomOpDomain* domain : domains) {
    require_made(domain, name, "GetCustomOpDomains");
    check_status(AddCustomOpDomain(wrap<OrtSessionOptions>(&options), domain));
  }
  options.libraries.push_back(library.shared_from_this());
}

/** What a policy thinks of the kinds of devices: the kind that it wants, if any, comes before the CPU. */
std::optional<HardwareType> preferred_type(OrtExecutionProviderDevicePolicy policy) {
  switch (policy) {
    case OrtExecutionProviderDevicePolicy_PREFER_NPU:
    case OrtExecutionProviderDevicePolicy_MAX_EFFICIENCY:
    case OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER:
      return HardwareType::kNpu;
    case OrtExecutionProviderDevicePolicy_PREFER_GPU:
    case OrtExecutionProviderDevicePolicy_MAX_PERFORMANCE:
      return HardwareType::kGpu;
    default:
      return std::nullopt;
  }
}

bool is_discrete(const EpDevice& device) {
  const std::string* value = device.hardware->metadata.find("Discrete");
  return value != nullptr && *value == "1";
}

/** True when the provider is made by the maker of the device. */
bool is_makers_own(const EpDevice& device) {
  if (device.vendor == device.hardware->vendor_name) return true;
  auto vendor_id = device.factory == nullptr ? nullptr : member_if(*device.factory, &OrtEpFactory::GetVendorId, 23);
  return vendor_id != nullptr && device.hardware->vendor != 0 && vendor_id(device.factory) == device.hardware->vendor;
}

/** True for the provider that runs anything, and others of the vendor whose name it bears. */
bool is_fallback(const EpDevice& device) {
  return device.hardware->type == HardwareType::kCpu && device.vendor == "Microsoft";
}

/** NPUs, GPUs, CPUs; in each kind discrete devices first, then providers of the devices' makers, then by name. */
std::vector<const EpDevice*> by_preference(std::vector<const EpDevice*> devices) {
  auto rank = [](const EpDevice* device) {
    int kind = 2 - static_cast<int>(device->hardware->type);
    bool fallback = is_fallback(*device);
    return std::tuple(kind, !is_discrete(*device), fallback, !is_makers_own(*device),
                      fallback ? std::string_view() : std::string_view(device->provider));
  };
  std::ranges::stable_sort(devices, [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  return devices;
}

/** One request for each provider of the devices, in their order. */
std::vector<ProviderRequest> requests_for(SessionOptions& options, EpRegistry& registry,
                                          std::span<const EpDevice* const> devices) {
  SessionOptions chosen;  // collects the requests; their entries go to the options
  chosen.config = options.config;
  std::vector<const EpDevice*> left(devices.begin(), devices.end());
  while (!left.empty()) {
    std::string name = left.front()->provider;
    auto others =
        std::stable_partition(left.begin(), left.end(), [&](auto* device) { return device->provider == name; });
    append_devices(chosen, registry, std::span(left.begin(), others), {});
    left.erase(left.begin(), others);
  }
  options.config = std::move(chosen.config);
  for (auto& op : chosen.custom_operators) options.custom_operators.push_back(std::move(op));
  for (auto& library : chosen.libraries) options.libraries.push_back(std::move(library));
  return std::move(chosen.providers);
}

/** The best device of the kind that the policy wants, then the best CPU; the built-in provider follows by itself. */
std::vector<const EpDevice*> select_by_policy(const EpRegistry::Snapshot& snapshot,
                                              OrtExecutionProviderDevicePolicy policy) {
  auto devices = by_preference(snapshot.devices);
  std::vector<const EpDevice*> selected;
  auto take_first = [&](HardwareType type) {
    auto found = std::ranges::find_if(devices, [&](auto* device) { return device->hardware->type == type; });
    if (found != devices.end()) selected.push_back(*found);
  };
  if (auto wanted = preferred_type(policy)) take_first(*wanted);
  take_first(HardwareType::kCpu);
  return selected;
}

/** The model as the caller's function sees it. */
base::KeyValues metadata_of(const graph::Model& model) {
  base::KeyValues entries;
  entries.set("producer_name", model.producer_name);
  entries.set("producer_version", model.producer_version);
  entries.set("domain", model.domain);
  entries.set("model_version", join(model.model_version));
  entries.set("doc_string", model.doc);
  entries.set("graph_name", model.graph != nullptr ? model.graph->name : "");
  entries.set("graph_description", model.graph != nullptr ? model.graph->doc : "");
  for (const auto& [key, value] : model.metadata) entries.set(key, value);
  return entries;
}

std::vector<const EpDevice*> select_by_function(const EpRegistry::Snapshot& snapshot, EpSelectionDelegate choose,
                                                void* state, const graph::Model& model) {
  std::vector<const OrtEpDevice*> given;
  auto devices = by_preference(snapshot.devices);
  for (const EpDevice* device : devices) given.push_back(wrap<const OrtEpDevice>(device));
  base::KeyValues about_model = metadata_of(model), about_runtime;
  const OrtEpDevice* chosen[kMaxSelected] = {};
  size_t count = 0;
  try {
    check_status(choose(given.data(), given.size(), wrap<const OrtKeyValuePairs>(&about_model),
                        wrap<const OrtKeyValuePairs>(&about_runtime), chosen, kMaxSelected, &count, state));
  } catch (const base::Error& error) {
    fail(ErrorCode::kFail, "EP selection delegate failed: ", error.text());
  }
  require(count != 0, ErrorCode::kFail, "EP selection delegate selected no device; it must select at least one");
  require(count <= kMaxSelected, ErrorCode::kFail, "EP selection delegate selected ", count, " devices, more than ",
          kMaxSelected);
  std::vector<const EpDevice*> selected;
  for (size_t i = 0; i < count; ++i) {
    const EpDevice* device = unwrap_optional(chosen[i]);
    require(device != nullptr && std::ranges::find(devices, device) != devices.end(), ErrorCode::kFail,
            "EP selection delegate selected something that is none of the devices it was given");
    selected.push_back(device);
  }
  return selected;
}

/** The device whose provider is asked about; the CPU's for the built-in one. */
const OrtEpDevice* device_of(const runtime::Session& session, const runtime::ExecutionProvider& provider) {
  if (auto* plugin = dynamic_cast<const PluginExecutionProvider*>(&provider)) {
    return wrap<const OrtEpDevice>(&plugin->device());
  }
  return wrap<const OrtEpDevice>(EpRegistry::of(*session.environment()).snapshot().devices.front());
}

OrtStatus* give_devices(const OrtSession* session, size_t count, const char* what, const OrtEpDevice** out,
                        const std::vector<runtime::SessionValue>& (runtime::Session::*values)() const,
                        const runtime::ExecutionProvider& (runtime::Session::*provider)(size_t) const) noexcept {
  return guard([&] {
    const runtime::Session& core = session_of(session);
    auto devices = array(out, count, "ep_devices");
    size_t known = (core.*values)().size();
    require(count == known, ErrorCode::kInvalidArgument, what, " is ", count, ", but there are ", known);
    for (size_t i = 0; i < count; ++i) devices[i] = device_of(core, (core.*provider)(i));
  });
}

}  // namespace

ProviderSettings settings_from(const char* const* keys, const char* const* values, size_t count) {
  ProviderSettings settings;
  auto names = array(keys, count, "keys");
  auto texts = array(values, count, "values");
  for (size_t i = 0; i < count; ++i) settings[text(names[i], "keys[i]")] = text(texts[i], "values[i]");
  return settings;
}

void append_devices(SessionOptions& options, EpRegistry& registry, std::span<const EpDevice* const> devices,
                    const ProviderSettings& settings) {
  const EpDevice& first = *devices.front();
  for (const EpDevice* device : devices) {
    require(device->provider == first.provider && device->factory == first.factory, ErrorCode::kInvalidArgument,
            "the devices are of different providers, ", first.provider, " and ", device->provider,
            "; append each provider with its own devices");
  }
  for (const auto& [key, value] : settings) options.config[runtime::provider_entry(first.provider, key)] = value;
  for (const EpDevice* device : devices) {
    for (size_t i = 0; i < device->options.size(); ++i) {
      options.config.try_emplace(runtime::provider_entry(first.provider, device->options.key(i)),
                                 device->options.value(i));
    }
  }
  if (first.factory == nullptr) {
    options.providers.push_back({kCpu, settings});
    return;
  }
  auto library = registry.library_of(first);
  require(library != nullptr, ErrorCode::kInvalidArgument, "the library of provider ", first.provider,
          " is not registered any more");
  add_operators(options, *library, *first.factory);
  auto factory =
      std::make_shared<PluginProviderFactory>(std::move(library), std::vector(devices.begin(), devices.end()));
  options.providers.push_back({first.provider, settings, std::move(factory)});
}

/** The devices of that provider now; none where it cannot be loaded, as sessions that want it say. */
EpRegistry::Snapshot present_devices(EpRegistry& registry, std::string_view name) {
  try {
    return devices_by_name(registry, name);
  } catch (const Error&) {
    return {};
  }
}

ProviderRequest request_by_name(std::string_view given, ProviderSettings settings, bool required) {
  const std::string name = full_name(given);
  auto [libraries, devices] = present_devices(process_registry(), name);
  for (size_t i = 0; !devices.empty() && i < devices.front()->options.size(); ++i) {
    settings.try_emplace(devices.front()->options.key(i), devices.front()->options.value(i));
  }
  return {name, std::move(settings), std::make_shared<FactoryByName>(name), required};
}

bool append_registered(SessionOptions& options, std::string_view name, const ProviderSettings& settings) {
  const BundledProvider* bundled = find_bundled(name);
  bool needs_environment = bundled != nullptr && is_here(*bundled);
  if (current_environment() == nullptr && !needs_environment) return false;
  EpRegistry& registry = process_registry(join(name, kNotAvailable));
  auto [libraries, devices] = devices_by_name(registry, name);
  if (devices.empty()) return false;
  append_devices(options, registry, std::span(devices).first(1), settings);
  return true;
}

void append_bundled(SessionOptions& options, std::string_view name, const ProviderSettings& settings, int device) {
  const BundledProvider* bundled = find_bundled(name);
  require(bundled != nullptr, ErrorCode::kInvalidArgument, "no provider called '", name, "' is bundled");
  if (!is_here(*bundled)) fail_absent_provider(name);
  EpRegistry& registry = process_registry(join(bundled->name, kNotAvailable));
  auto [libraries, devices] = devices_by_name(registry, name);
  const EpDevice* chosen = &numbered(devices, device, bundled->name);
  append_devices(options, registry, {&chosen, 1}, settings);
}

OrtStatus* ORT_API_CALL SessionOptionsAppendExecutionProvider_V2(
    OrtSessionOptions* session_options, OrtEnv* env, const OrtEpDevice* const* ep_devices, size_t num_ep_devices,
    const char* const* ep_option_keys, const char* const* ep_option_vals, size_t num_ep_options) noexcept {
  return guard([&] {
    SessionOptions& options = unwrap(session_options, "session_options");
    EpRegistry& registry = EpRegistry::of(unwrap(env, "env"));
    require(num_ep_devices != 0, ErrorCode::kInvalidArgument, "num_ep_devices is 0; give at least one device");
    std::vector<const EpDevice*> devices;
    for (const OrtEpDevice* device : array(ep_devices, num_ep_devices, "ep_devices")) {
      devices.push_back(&registry.check(device, "ep_devices[i]"));
    }
    append_devices(options, registry, devices, settings_from(ep_option_keys, ep_option_vals, num_ep_options));
  });
}

OrtStatus* ORT_API_CALL SessionOptionsSetEpSelectionPolicy(OrtSessionOptions* session_options,
                                                           OrtExecutionProviderDevicePolicy policy) noexcept {
  return guard([&] {
    SessionOptions& options = unwrap(session_options, "session_options");
    require(policy >= OrtExecutionProviderDevicePolicy_DEFAULT &&
                policy <= OrtExecutionProviderDevicePolicy_MIN_OVERALL_POWER,
            ErrorCode::kInvalidArgument, "policy ", static_cast<int>(policy),
            " is none of OrtExecutionProviderDevicePolicy's (0 to 6)");
    options.select_providers = [policy](SessionOptions& chosen, const graph::Model&) {
      EpRegistry& registry = process_registry();
      auto snapshot = registry.snapshot();
      return requests_for(chosen, registry, select_by_policy(snapshot, policy));
    };
  });
}

OrtStatus* ORT_API_CALL SessionOptionsSetEpSelectionPolicyDelegate(OrtSessionOptions* session_options,
                                                                   EpSelectionDelegate delegate,
                                                                   void* delegate_state) noexcept {
  return guard([&] {
    SessionOptions& options = unwrap(session_options, "session_options");
    require(delegate != nullptr, ErrorCode::kInvalidArgument, "argument 'delegate' must not be NULL");
    options.select_providers = [delegate, delegate_state](SessionOptions& chosen, const graph::Model& model) {
      EpRegistry& registry = process_registry();
      auto snapshot = registry.snapshot();
      return requests_for(chosen, registry, select_by_function(snapshot, delegate, delegate_state, model));
    };
  });
}

OrtStatus* ORT_API_CALL SessionGetEpDeviceForInputs(const OrtSession* session, const OrtEpDevice** inputs_ep_devices,
                                                    size_t num_inputs) noexcept {
  return give_devices(session, num_inputs, "num_inputs", inputs_ep_devices, &runtime::Session::inputs,
                      &runtime::Session::input_provider);
}

OrtStatus* ORT_API_CALL SessionGetEpDeviceForOutputs(const OrtSession* session, const OrtEpDevice** outputs_ep_devices,
                                                     size_t num_outputs) noexcept {
  return give_devices(session, num_outputs, "num_outputs", outputs_ep_devices, &runtime::Session::outputs,
                      &runtime::Session::output_provider);
}

OrtStatus* ORT_API_CALL SessionReleaseCapturedGraph(OrtSession* session, int graph_annotation_id) noexcept {
  return guard([&] { session_of(session).release_captured_graph(graph_annotation_id); });
}

}  // namespace ortolan::api

using namespace ortolan;
using namespace ortolan::api;

OrtStatus* ORT_API_CALL OrtEnvAppendExecutionProvider(OrtEnv* env, const char* provider_name, const char* const* keys,
                                                      const char* const* values, size_t count, int required) noexcept {
  return guard([&] {
    runtime::Environment& environment = unwrap(env, "env");
    std::string name = text(provider_name, "provider_name");
    require(!name.empty(), ErrorCode::kInvalidArgument, "provider_name is empty");
    auto settings = settings_from(keys, values, count);
    bool cpu = name == "CPU" || name == kCpu;
    environment.add_provider(cpu ? runtime::ProviderRequest{kCpu, std::move(settings)}
                                 : request_by_name(name, std::move(settings), required != 0));
  });
}

OrtStatus* ORT_API_CALL OrtEnvClearExecutionProviders(OrtEnv* env) noexcept {
  return guard([&] { unwrap(env, "env").clear_providers(); });
}
