// Shortest decimal text of numbers, and reading it.
#include "cpu/text/number_text.h"

#include <charconv>
#include <cmath>
#include <limits>

namespace ortolan::cpu {
namespace {

/** Digits without a point and the exponent of the first: 123.4 is "1234" with 2. */
struct Decimal {
  std::string digits;
  int exponent = 0;
};

Decimal parse_scientific(std::string_view text) {
  Decimal decimal;
  size_t e = text.find('e');
  for (char c : text.substr(0, e)) {
    if (c != '.') decimal.digits += c;
  }
  std::string_view exponent = text.substr(e + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  while (decimal.digits.size() > 1 && decimal.digits.back() == '0') decimal.digits.pop_back();
  return decimal;
}

/** True when rounding `value` to `type` gives the same code as rounding `other`. */
bool same_code(double value, double other, ElementType type) {
  return dispatch<kHalfTypes | kFloat8Types | ElementType::kFloat8E8M0>(type, [&]<class T>(TypeTag<T>) {
    return T(static_cast<float>(value)).bits == T(static_cast<float>(other)).bits;
  });
}

/** The fewest digits that still mean `value`, which is positive and finite. */
Decimal shortest(double value, ElementType type) {
  char text[64];
  auto spell = [&](auto... how) { return std::string_view(text, std::to_chars(text, text + sizeof text, how...).ptr); };
  if (type == ElementType::kDouble) return parse_scientific(spell(value, std::chars_format::scientific));
  if (!(kHalfTypes | kFloat8Types | ElementType::kFloat8E8M0).contains(type)) {
    return parse_scientific(spell(static_cast<float>(value), std::chars_format::scientific));
  }
  for (int precision = 0; precision < 9; ++precision) {
    std::string_view candidate = spell(value, std::chars_format::scientific, precision);
    double back = 0;
    std::from_chars(candidate.data(), candidate.data() + candidate.size(), back);
    if (same_code(value, back, type)) return parse_scientific(candidate);
  }
  return parse_scientific(spell(static_cast<float>(value), std::chars_format::scientific));
}

std::string positional(const Decimal& decimal) {
  const std::string& digits = decimal.digits;
  if (decimal.exponent < 0) return "0." + std::string(-decimal.exponent - 1, '0') + digits;
  size_t whole = static_cast<size_t>(decimal.exponent) + 1;
  if (digits.size() <= whole) return digits + std::string(whole - digits.size(), '0') + ".0";
  return digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string scientific(const Decimal& decimal) {
  std::string text = decimal.digits.substr(0, 1);
  if (decimal.digits.size() > 1) text += "." + decimal.digits.substr(1);
  int magnitude = std::abs(decimal.exponent);
  text += decimal.exponent < 0 ? "e-" : "e+";
  if (magnitude < 10) text += '0';
  return text + std::to_string(magnitude);
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\f\v";
  size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  text = text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  return text;
}

template <class T>
bool parse_whole(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

/** Numbers too large or too small for T become infinity or zero. */
template <class T>
bool parse_float(std::string_view text, T& value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (end != text.data() + text.size()) return false;
  if (error == std::errc::result_out_of_range) {
    long double wide = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), wide).ec == std::errc{}) {
      value = static_cast<T>(wide);
    } else {
      bool tiny = text.find("e-") != std::string_view::npos || text.find("E-") != std::string_view::npos;
      value = tiny ? T{0} : std::copysign(std::numeric_limits<T>::infinity(), text[0] == '-' ? T{-1} : T{1});
    }
    return true;
  }
  return error == std::errc{};
}

}  // namespace

std::string to_text(double value, ElementType type) {
  if (std::isnan(value)) return "nan";
  std::string sign = std::signbit(value) ? "-" : "";
  value = std::fabs(value);
  if (std::isinf(value)) return sign + "inf";
  if (value == 0) return sign + "0.0";
  Decimal decimal = shortest(value, type);
  return sign + (decimal.exponent >= -4 && decimal.exponent < 16 ? positional(decimal) : scientific(decimal));
}

std::string to_text(int64_t value) { return std::to_string(value); }
std::string to_text(uint64_t value) { return std::to_string(value); }

template <class T>
T number_from(std::string_view text) {
  std::string_view number = trimmed(text);
  T value{};
  if constexpr (std::is_floating_point_v<T>) {
    if (parse_float(number, value)) return value;
  } else {
    if (parse_whole(number, value)) return value;
    double wide = 0;
    if (parse_float(number, wide) && wide >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
        wide < static_cast<double>(std::numeric_limits<T>::max())) {
      return static_cast<T>(wide);
    }
  }
  fail(ErrorCode::kInvalidArgument, "text '", text.substr(0, 40), "' is not a number of the wanted range");
}

template float number_from(std::string_view);
template double number_from(std::string_view);
template int64_t number_from(std::string_view);
template uint64_t number_from(std::string_view);

}  // namespace ortolan::cpu
