// A library that is opened at run time.
#pragma once

#include <span>
#include <string>

namespace ortolan::gpu::cuda {

/** A function by its name in the library, and where its address goes. */
struct Symbol {
  const char* name;
  void** address;
};

template <class Function>
Symbol symbol(const char* name, Function*& function) {
  return {name, reinterpret_cast<void**>(&function)};
}

/** Opens the file that the environment variable names; where there is no such variable, the first of `files` that
 * there is. It stays open. Gives its name; empty where there is none. */
std::string open_library(void*& library, const char* variable, std::span<const char* const> files);

/** Finds all; gives the name of the first that is missing, or NULL. */
const char* find_symbols(void* library, std::span<const Symbol> symbols);

}  // namespace ortolan::gpu::cuda
