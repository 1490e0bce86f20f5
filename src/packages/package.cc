// Looking things up in a package.
#include "packages/package.h"

#include <algorithm>

namespace ortolan::packages {
namespace {

template <class T>
const T* find_named(const std::vector<T>& all, std::string_view name) {
  auto found = std::ranges::find(all, name, &T::name);
  return found == all.end() ? nullptr : &*found;
}

template <class T>
std::vector<const char*> names_of(const std::vector<T>& all) {
  std::vector<const char*> names;
  for (const T& one : all) names.push_back(one.name.c_str());
  return names;
}

std::vector<Component> with_names(std::vector<Component> components) {
  for (Component& component : components) component.variant_names = names_of(component.variants);
  return components;
}

}  // namespace

const Variant* Component::find(std::string_view variant) const { return find_named(variants, variant); }

Package::Package(Paths places, int64_t version, std::vector<Component> parts)
    : paths(std::move(places)),
      schema(version),
      components(with_names(std::move(parts))),
      component_names(names_of(components)) {}

const Component* Package::find(std::string_view component) const { return find_named(components, component); }

bool is_path_entry(std::string_view key) {
  return key == "session.model_external_initializers_file_folder_path" || key == "ep.context_file_path";
}

}  // namespace ortolan::packages
