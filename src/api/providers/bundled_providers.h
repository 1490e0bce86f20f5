// Providers that come as libraries beside ours, found by their short names without being registered.
#pragma once

#include <string>
#include <string_view>

#include "api/plugins/ep_registry.h"

namespace ortolan::api {

/** One of them: "OpenCL" is OpenCLExecutionProvider of a library that a package of its own installs. */
struct BundledProvider {
  std::string_view name;
  const char* library;
  const char* package;
};

/** By the short name or that of the provider, whatever their case; NULL for any other. */
const BundledProvider* find_bundled(std::string_view name);

/** The provider's full name where that is a bundled one, or else the name itself. */
std::string full_name(std::string_view name);

/** Whether its library is where it should be, or a registered library has the provider. */
bool is_here(const BundledProvider& provider);

/** What an error says where it is not: the package, and the paths that were looked at. */
std::string how_to_install(const BundledProvider& provider);

/** The devices of the provider of that name, with their libraries kept loaded: of libraries that are registered, or of
    its own library, which is then registered with the process's environment. None where that is not installed, or the
    name is no bundled provider's. Throws kFail where it cannot be loaded, or is there without a device. */
EpRegistry::Snapshot devices_by_name(EpRegistry& registry, std::string_view name);

}  // namespace ortolan::api
