// Opening a library of the ONNX Runtime ABI, and the calls that every program needs.
#include "library.h"

#include <dlfcn.h>

namespace ortolan::tools {

void Library::check(OrtStatus* status) const {
  if (!status) return;
  OrtErrorCode code = api->GetErrorCode(status);
  std::string text = api->GetErrorMessage(status);
  api->ReleaseStatus(status);
  throw StatusError(code, text);
}

void* Library::symbol(const char* name) const { return dlsym(opened ? opened : RTLD_DEFAULT, name); }

OrtAllocator* Library::allocator() const { return get<OrtAllocator*>(api->GetAllocatorWithDefaultOptions); }

std::string Library::take(char* text) const {
  if (!text) return {};
  std::string copy = text;
  OrtAllocator* owner = allocator();
  owner->Free(owner, text);
  return copy;
}

Library describe_library(const OrtApiBase* base, const std::string& path, void* opened) {
  Library library;
  library.path = path;
  library.opened = opened;
  library.version = base->GetVersionString();
  // A library of an older release has fewer slots; the programs need those up to this level.
  constexpr uint32_t kOldestLevel = 23;
  for (uint32_t level = ORT_API_VERSION; level >= kOldestLevel && !library.api; --level) {
    library.api = base->GetApi(level);
  }
  if (!library.api) {
    fail(path.empty() ? "the linked library" : path, " is version ", library.version, ", which has no API level from ",
         kOldestLevel, " to ", ORT_API_VERSION, "; use a newer one");
  }
  library.build = library.api->GetBuildInfoString();
  return library;
}

Library open_library(const std::string& path) {
  void* opened = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!opened) fail("cannot open library ", path, ": ", dlerror());
  using Entry = const OrtApiBase* (*)();
  auto entry = reinterpret_cast<Entry>(dlsym(opened, "OrtGetApiBase"));
  if (!entry) fail(path, " exports no OrtGetApiBase: it is no library of the ONNX Runtime ABI");
  return describe_library(entry(), path, opened);
}

Handle<OrtEnv> create_environment(const Library& library, OrtLoggingLevel level) {
  return library.make<OrtEnv>(library->CreateEnv, library->ReleaseEnv, level, "tools");
}

}  // namespace ortolan::tools
