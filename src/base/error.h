// The one error class of the runtime and the two ways to throw it.
#pragma once

#include <charconv>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ortolan::base {

/** Numbers are those of OrtErrorCode, so the C API passes them through. */
enum class ErrorCode : int {
  kOk = 0,
  kFail = 1,
  kInvalidArgument = 2,
  kNoSuchFile = 3,
  kNoModel = 4,
  kEngineError = 5,
  kRuntimeException = 6,
  kInvalidProtobuf = 7,
  kModelLoaded = 8,
  kNotImplemented = 9,
  kInvalidGraph = 10,
  kEpFail = 11,
  kModelLoadCanceled = 12,
  kModelRequiresCompilation = 13,
  kNotFound = 14,
  kDeviceReset = 15,
};

/** What went wrong, as a sentence: where, what with the values, how to mend. Context is added where it is known. */
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string text) : code_(code), text_(std::move(text)) {}
  ErrorCode code() const noexcept { return code_; }
  const std::string& text() const noexcept { return text_; }
  const char* what() const noexcept override { return text_.c_str(); }

  /** The same error with `context` before its text, as in "node 'a' (Softmax): axis 4 …". */
  Error within(std::string_view context) const { return Error(code_, std::string(context) + ": " + text_); }

 private:
  ErrorCode code_;
  std::string text_;
};

/** Appends one part of a message: text, a number, an enum's number, or anything with `append_to(std::string&)`. */
template <class Part>
void append(std::string& out, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    out += std::string_view(part);
  } else if constexpr (std::is_same_v<Part, bool>) {
    out += part ? "true" : "false";
  } else if constexpr (std::is_same_v<Part, char>) {
    out += part;
  } else if constexpr (std::is_enum_v<Part>) {
    append(out, static_cast<std::underlying_type_t<Part>>(part));
  } else if constexpr (std::is_arithmetic_v<Part>) {
    char digits[64];
    auto end = std::to_chars(digits, digits + sizeof digits, part).ptr;
    out.append(digits, end);
  } else {
    part.append_to(out);
  }
}

/** The parts of a message, joined. */
template <class... Parts>
std::string join(const Parts&... parts) {
  std::string text;
  (append(text, parts), ...);
  return text;
}

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(ErrorCode code, const Parts&... parts) {
  throw Error(code, join(parts...));
}

/** Throws unless `condition` holds. The parts are only joined on failure. */
template <class... Parts>
inline void require(bool condition, ErrorCode code, const Parts&... parts) {
  if (!condition) [[unlikely]] {
    fail(code, parts...);
  }
}

}  // namespace ortolan::base
