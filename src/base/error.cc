// Messages are made of parts.
#include "base/error.h"

#include <charconv>

namespace ortolan::base {
namespace {

template <class Number>
void append_number(std::string& out, Number number) {
  char digits[64];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace

void MessagePart::append_text(std::string& out, const MessagePart& self) { out += self.value_.text; }
void MessagePart::append_signed(std::string& out, const MessagePart& self) {
  append_number(out, self.value_.as_signed);
}
void MessagePart::append_unsigned(std::string& out, const MessagePart& self) {
  append_number(out, self.value_.as_unsigned);
}
void MessagePart::append_float(std::string& out, const MessagePart& self) { append_number(out, self.value_.as_float); }
void MessagePart::append_double(std::string& out, const MessagePart& self) {
  append_number(out, self.value_.as_double);
}

std::string joined(std::span<const MessagePart> parts) {
  std::string text;
  for (const MessagePart& part : parts) part.append_to(text);
  return text;
}

void fail_with(ErrorCode code, std::span<const MessagePart> parts) { throw Error(code, joined(parts)); }

}  // namespace ortolan::base
