// The one error class of the runtime and the two ways to throw it.
#pragma once

#include <cstdint>
#include <exception>
#include <span>
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

/** One part of a message: text, a number, an enum's number, or anything with `append_to(std::string&)`. It refers to
    what it is made of. */
class MessagePart {
 public:
  template <class Part>
  MessagePart(const Part& part) {
    if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
      set(std::string_view(part));
    } else if constexpr (std::is_same_v<Part, bool>) {
      set(part ? std::string_view("true") : std::string_view("false"));
    } else if constexpr (std::is_same_v<Part, char>) {
      set(std::string_view(&part, 1));
    } else if constexpr (std::is_enum_v<Part>) {
      set(static_cast<std::underlying_type_t<Part>>(part));
    } else if constexpr (std::is_arithmetic_v<Part>) {
      set(part);
    } else {
      append_ = [](std::string& out, const MessagePart& self) {
        static_cast<const Part*>(self.value_.object)->append_to(out);
      };
      value_.object = &part;
    }
  }
  void append_to(std::string& out) const { append_(out, *this); }

 private:
  using Append = void (*)(std::string& out, const MessagePart& self);

  static void append_text(std::string& out, const MessagePart& self);
  static void append_signed(std::string& out, const MessagePart& self);
  static void append_unsigned(std::string& out, const MessagePart& self);
  static void append_float(std::string& out, const MessagePart& self);
  static void append_double(std::string& out, const MessagePart& self);

  void set(std::string_view text) { append_ = append_text, value_.text = text; }
  template <class Number>
  void set(Number number) {
    if constexpr (std::is_same_v<Number, float>) {
      append_ = append_float, value_.as_float = number;
    } else if constexpr (std::is_floating_point_v<Number>) {
      append_ = append_double, value_.as_double = number;
    } else if constexpr (std::is_signed_v<Number>) {
      append_ = append_signed, value_.as_signed = number;
    } else {
      append_ = append_unsigned, value_.as_unsigned = number;
    }
  }

  Append append_;
  union Value {
    Value() : object(nullptr) {}
    const void* object;
    std::string_view text;
    int64_t as_signed;
    uint64_t as_unsigned;
    float as_float;
    double as_double;
  } value_;
};

/** Appends one part of a message. */
inline void append(std::string& out, const MessagePart& part) { part.append_to(out); }

/** The parts of a message, joined. */
std::string joined(std::span<const MessagePart> parts);
template <class... Parts>
std::string join(const Parts&... parts) {
  const MessagePart list[] = {parts...};
  return joined(list);
}

[[noreturn]] void fail_with(ErrorCode code, std::span<const MessagePart> parts);
template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void fail(ErrorCode code, const Parts&... parts) {
  const MessagePart list[] = {parts...};
  fail_with(code, list);
}

/** Throws unless `condition` holds. The parts are only joined on failure. */
template <class... Parts>
inline void require(bool condition, ErrorCode code, const Parts&... parts) {
  if (!condition) [[unlikely]] {
    fail(code, parts...);
  }
}

}  // namespace ortolan::base
