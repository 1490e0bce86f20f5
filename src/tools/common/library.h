// A library of the ONNX Runtime ABI that a program works with: the one it is linked to, or one opened from a path.
#pragma once

#include <memory>
#include <string>

#include "error.h"
#include "onnxruntime_c_api.h"

namespace ortolan::tools {

// A status that the library returned.
class StatusError : public ToolError {
 public:
  StatusError(OrtErrorCode code, const std::string& text) : ToolError(text), code_(code) {}
  OrtErrorCode code() const { return code_; }

 private:
  OrtErrorCode code_;
};

template <class T>
using Handle = std::unique_ptr<T, void (*)(T*)>;

struct Library {
  const OrtApi* api = nullptr;
  std::string version;
  std::string build;
  std::string path;        // as asked for; empty for the linked one
  void* opened = nullptr;  // what dlopen gave; null for the linked one

  const OrtApi* operator->() const { return api; }
  // Throws StatusError unless the status is success; frees it.
  void check(OrtStatus* status) const;
  // An exported function of the library, or null.
  void* symbol(const char* name) const;

  // Calls a slot whose last parameter is the new object: make(api->CreateEnv, api->ReleaseEnv, level, "id").
  template <class T, class... Slot, class... Arguments>
  Handle<T> make(OrtStatusPtr (*create)(Slot...) noexcept, void (*release)(T*), Arguments&&... arguments) const {
    T* out = nullptr;
    check(create(std::forward<Arguments>(arguments)..., &out));
    return Handle<T>(out, release);
  }
  // A slot with one plain result.
  template <class T, class... Slot, class... Arguments>
  T get(OrtStatusPtr (*slot)(Slot...) noexcept, Arguments&&... arguments) const {
    T out{};
    check(slot(std::forward<Arguments>(arguments)..., &out));
    return out;
  }

  OrtAllocator* allocator() const;
  // Copies a string that the library allocated with the default allocator, and frees it; null gives "".
  std::string take(char* text) const;
};

// The library that the program is linked to. Only in programs that link one.
Library linked_library();
// Opens another library of the ABI; its symbols stay apart from those of any other.
Library open_library(const std::string& path);
// For the option --library: open_library unless the path and the variable ORTOLAN_LIBRARY are empty.
Library choose_library(const std::string& path);
// Fills a Library from its entry point.
Library describe_library(const OrtApiBase* base, const std::string& path, void* opened);

// Starts the library with a log level; keep it as long as anything else of the library.
Handle<OrtEnv> create_environment(const Library& library, OrtLoggingLevel level = ORT_LOGGING_LEVEL_ERROR);

}  // namespace ortolan::tools
