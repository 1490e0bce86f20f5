// Where modules are looked for.
#include "cpu/modules/open_module.h"

#include <dlfcn.h>

#include <filesystem>

#include "ortolan_version.h"

namespace ortolan::cpu {
namespace {

void* open_module(const char* name) {
  Dl_info ours{};
  std::error_code error;
  if (dladdr(reinterpret_cast<void*>(&open_module), &ours) != 0) {
    for (const auto& library :
         {std::filesystem::absolute(ours.dli_fname, error), std::filesystem::canonical(ours.dli_fname, error)}) {
      for (const char* folder : {"", ORTOLAN_MODULE_FOLDER}) {
        std::filesystem::path candidate = library.parent_path() / folder / name;
        if (library.empty() || !std::filesystem::exists(candidate, error)) continue;
        if (void* module = dlopen(candidate.c_str(), RTLD_NOW | RTLD_LOCAL)) return module;
      }
    }
  }
  return dlopen(name, RTLD_NOW | RTLD_LOCAL);
}

}  // namespace

void* find_in_module(const char* module, const char* function) {
  void* opened = open_module(module);
  return opened ? dlsym(opened, function) : nullptr;
}

}  // namespace ortolan::cpu
