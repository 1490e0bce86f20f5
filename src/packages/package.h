// A model package as its files describe it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "packages/paths.h"

namespace ortolan::packages {

using Entries = std::vector<std::pair<std::string, std::string>>;

/** One model for one provider. Empty texts were left out. */
struct Variant {
  std::string name;
  std::string ep;             // the provider that it is for
  std::string device;         // "cpu", "gpu" or "npu", in any case of letters
  std::string compatibility;  // what the provider said of the compiled model
  std::string folder;         // of its files
  std::string model;          // the path of the model file
  Entries session_options;    // entries that are paths are resolved
  Entries provider_options;
};

struct Component {
  std::string name;
  std::vector<Variant> variants;  // in the order of the file
  std::vector<const char*> variant_names;

  /** NULL for none. */
  const Variant* find(std::string_view variant) const;
};

struct Package {
  Package(Paths paths, int64_t schema, std::vector<Component> components);
  Package(const Package&) = delete;  // the arrays of names point into it
  Package& operator=(const Package&) = delete;

  const Paths paths;
  const int64_t schema;  // the first number of its version
  const std::vector<Component> components;
  const std::vector<const char*> component_names;

  /** NULL for none. */
  const Component* find(std::string_view component) const;
};

/** Reads and checks the whole package in a folder; model files are not opened. Throws kFail, saying where. */
std::shared_ptr<const Package> open_package(const std::string& root);

/** True for session entries whose value is a path of the package. */
bool is_path_entry(std::string_view key);

}  // namespace ortolan::packages
