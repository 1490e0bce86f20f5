// How sessions come to plugin providers: by devices, by name, by a policy or a function of the caller's.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/plugins/ep_registry.h"
#include "runtime/session/session_options.h"

namespace ortolan::api {

using ProviderSettings = std::map<std::string, std::string>;

/** The arrays of the API as a map. */
ProviderSettings settings_from(const char* const* keys, const char* const* values, size_t count);

/** Adds the provider of the devices, which must be of one provider, with these settings; the devices' own apply where
    neither these nor the options' entries say anything. */
void append_devices(runtime::SessionOptions& options, EpRegistry& registry, std::span<const EpDevice* const> devices,
                    const ProviderSettings& settings);

/** The provider of that name with the settings, looked for among the environment's devices when a session is made.
   Where it is there now, its first device's own settings apply as in append_devices. */
runtime::ProviderRequest request_by_name(std::string_view given, ProviderSettings settings, bool required);

/** Adds the provider of that name on its first device, where a library that is registered, or is bundled with this one,
    has it; says whether one has. */
bool append_registered(runtime::SessionOptions& options, std::string_view name, const ProviderSettings& settings);

/** Adds a bundled provider on its device of that number. Throws where it has none, or is not installed. */
void append_bundled(runtime::SessionOptions& options, std::string_view name, const ProviderSettings& settings,
                    int device);

}  // namespace ortolan::api
