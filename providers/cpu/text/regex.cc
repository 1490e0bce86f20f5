// Regular expressions by the module that holds RE2.
#include "cpu/text/regex.h"

#include <new>

#include "base/error.h"
#include "cpu/modules/open_module.h"
#include "cpu/regex/regex_module.h"

namespace ortolan::cpu {
namespace {

constexpr const char* kModule = "libortolan_regex.so";

const OrtolanRegex* load_functions() {
  auto* get = reinterpret_cast<OrtolanGetRegex*>(find_in_module(kModule, "ortolan_get_regex"));
  return get ? get() : nullptr;
}

const OrtolanRegex& functions() {
  static const OrtolanRegex* const functions = load_functions();
  require(functions != nullptr, ErrorCode::kNotImplemented, "regular expressions take the module ", kModule,
          ", which is not beside this library, or RE2's library, which it needs; install the package libortolan1");
  return *functions;
}

void* compile(std::string_view pattern) {
  char error[256] = {};
  void* compiled = functions().compile(pattern.data(), pattern.size(), error, sizeof error);
  require(compiled != nullptr, ErrorCode::kInvalidArgument, "the pattern '", pattern,
          "' cannot be read: ", static_cast<const char*>(error));
  return compiled;
}

bool answer(int result) {
  if (result < 0) throw std::bad_alloc();
  return result != 0;
}

}  // namespace

Regex::Regex(std::string_view pattern) : compiled_(compile(pattern), functions().release) {}

bool Regex::matches(std::string_view text) const {
  return answer(functions().match_all(compiled_.get(), text.data(), text.size()));
}

std::optional<Regex::Match> Regex::find(std::string_view text, size_t from) const {
  size_t match[2] = {};
  if (!answer(functions().find(compiled_.get(), text.data(), text.size(), from, match))) return std::nullopt;
  return Match(match[0], match[1]);
}

}  // namespace ortolan::cpu
