// Switches features off.
#include "vulkan/features.h"

#include <sstream>

#include "gpu/device/error.h"

namespace ortolan::gpu::vulkan {
namespace {

constexpr NamedFeature kFeatures[] = {
    {"int64", &Features::int64},
    {"half_arithmetic", &Features::half_arithmetic},
    {"subgroup", &Features::subgroup},
    {"int_dot", &Features::int_dot},
    {"cooperative_matrix", &Features::cooperative_matrix},
    {"push_descriptor", &Features::push_descriptor},
    {"memory_budget", &Features::memory_budget},
    {"mapped", &Features::mapped},
    {"external_memory", &Features::external_memory},
    {"external_semaphore", &Features::external_semaphore},
};

const NamedFeature& find(const std::string& name) {
  std::string names;
  for (const NamedFeature& feature : kFeatures) {
    if (feature.name == name) return feature;
    names += std::string(names.empty() ? "" : ", ") + feature.name;
  }
  throw Error(ErrorKind::kInvalid, "vulkan: ORTOLAN_VULKAN_WITHOUT names '" + name + "', which is none of " + names);
}

}  // namespace

std::span<const NamedFeature> all_features() { return kFeatures; }

Features without(Features features, const std::string& names) {
  std::istringstream rest(names);
  for (std::string name; std::getline(rest, name, ',');) features.*find(name).member = false;
  features.cooperative_matrix = features.cooperative_matrix && features.half_arithmetic;
  return features;
}

}  // namespace ortolan::gpu::vulkan
