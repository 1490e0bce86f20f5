// Opens libraries by dlopen.
#include "cuda/library.h"

#include <dlfcn.h>

#include <cstdlib>

namespace ortolan::gpu::cuda {

std::string open_library(void*& library, const char* variable, std::span<const char* const> files) {
  const char* wanted = std::getenv(variable);
  if (wanted != nullptr && *wanted != '\0') files = {&wanted, 1};
  for (const char* file : files) {
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (library != nullptr) return file;
  }
  return "";
}

const char* find_symbols(void* library, std::span<const Symbol> symbols) {
  for (const Symbol& symbol : symbols) {
    *symbol.address = dlsym(library, symbol.name);
    if (*symbol.address == nullptr) return symbol.name;
  }
  return nullptr;
}

}  // namespace ortolan::gpu::cuda
