// Conversion in two steps, a block at a time: to the widest type of the element's kind (float, double, int64, uint64)
// and from there to the target. A step that would change nothing is left out.
#include "cpu/elements/element_conversion.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cpu/elements/element_number.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/cast.h"
#include "cpu/text/number_text.h"

namespace ortolan::cpu {
namespace {

constexpr TypeSet kWideTypes = kFloat32And64 | ElementType::kInt64 | ElementType::kUInt64;
constexpr TypeSet kSmallFloats = kHalfTypes | kFloat8Types | ElementType::kFloat8E8M0 | ElementType::kFloat4E2M1;
constexpr TypeSet kByteFloats = kFloat8Types | ElementType::kFloat8E8M0;

/** The type that every element of `type` is a value of. */
ElementType wide_type(ElementType type) {
  if (kSmallFloats.contains(type) || type == ElementType::kFloat) return ElementType::kFloat;
  if (type == ElementType::kDouble || type == ElementType::kUInt64) return type;
  return ElementType::kInt64;
}

/** A part of a tensor: elements from `first` on; packed types are addressed by index. */
struct Source {
  ElementType type;
  const void* data;
  int64_t first;
};

template <class T>
const T* elements(const Source& source) {
  return static_cast<const T*>(source.data) + source.first;
}

void load(const Source& from, int64_t count, float* wide) {
  if (kHalfTypes.contains(from.type)) return widen(from.type, elements<uint16_t>(from), wide, count);
  if (from.type == ElementType::kFloat4E2M1) {
    for (int64_t i = 0; i < count; ++i) {
      int code = unpack_element(from.type, from.data, from.first + i);
      wide[i] = narrow_to_float(static_cast<uint8_t>(code), Float4E2M1::kFormat);
    }
    return;
  }
  dispatch<kByteFloats>(from.type, [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < count; ++i) wide[i] = static_cast<float>(elements<T>(from)[i]);
  });
}

void load(const Source& from, int64_t count, int64_t* wide) {
  if (is_packed(from.type)) {
    for (int64_t i = 0; i < count; ++i) wide[i] = unpack_element(from.type, from.data, from.first + i);
    return;
  }
  auto* first = static_cast<const char*>(from.data) + from.first * bits_of(from.type) / 8;
  kernels::cast(*number_of(from.type), first, count, kernels::Number::kS64, wide);
}

template <class To, class From>
To cast_one(From value) {
  To result;
  kernels::cast(&value, 1, &result);
  return result;
}

/** A float that rounds to narrower types as `value` itself does. */
template <class Wide>
float to_float(Wide value) {
  float result = static_cast<float>(value);
  if constexpr (std::is_same_v<Wide, double>) kernels::round_to_odd(&value, 1, &result);
  return result;
}

/** The code of the power of two for |value|; 0xff is NaN, and for infinities. */
uint8_t power_code(float value, const ConversionOptions& options) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t exponent = (bits >> 23) & 0xff, fraction = bits & 0x7fffff;
  if (exponent == 0xff) return 0xff;
  bool above_half = fraction > 0x400000 || (fraction == 0x400000 && exponent > 0);
  bool up = options.rounding == PowerRounding::kUp ? fraction != 0
                                                   : options.rounding == PowerRounding::kNearest && above_half;
  if (up && options.saturate && exponent == 0xfe) up = false;
  return static_cast<uint8_t>(exponent + up);
}

template <class Wide>
void store_packed(ElementType type, const Wide* wide, int64_t count, void* to, int64_t first) {
  for (int64_t i = 0; i < count; ++i) {
    int code = type == ElementType::kFloat4E2M1 ? float_to_narrow(to_float(wide[i]), Float4E2M1::kFormat, true)
                                                : static_cast<int>(cast_one<int8_t>(wide[i]));
    pack_element(type, to, first + i, code);
  }
}

template <class Wide>
void store_floats(ElementType type, const Wide* wide, int64_t count, void* to, int64_t first,
                  const ConversionOptions& options) {
  if constexpr (std::is_same_v<Wide, float>) {
    if (kHalfTypes.contains(type)) return narrow(type, wide, static_cast<uint16_t*>(to) + first, count);
  }
  dispatch<kHalfTypes | kByteFloats>(type, [&]<class T>(TypeTag<T>) {
    T* out = static_cast<T*>(to) + first;
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<T, Float8E8M0>) {
        out[i].bits = power_code(to_float(wide[i]), options);
      } else if constexpr (std::is_constructible_v<T, float, bool>) {
        out[i] = T(to_float(wide[i]), options.saturate);
      } else {
        out[i] = T(to_float(wide[i]));
      }
    }
  });
}

/** Writes wide elements as `type`, from element `first` of `to` on. */
template <class Wide>
void store(ElementType type, const Wide* wide, int64_t count, void* to, int64_t first,
           const ConversionOptions& options) {
  if (is_packed(type)) return store_packed(type, wide, count, to, first);
  if ((kHalfTypes | kByteFloats).contains(type)) return store_floats(type, wide, count, to, first, options);
  const int64_t size = bits_of(type) / 8;
  kernels::cast(kernels::number_of<Wide>(), wide, count, *number_of(type), static_cast<char*>(to) + first * size);
}

/** Elements [begin, end) by way of Wide. */
template <class Wide>
void convert_range(const Tensor& from, Tensor& to, int64_t begin, int64_t end, const ConversionOptions& options) {
  constexpr ElementType kWide = kTypeOf<Wide>;
  if (from.type() == kWide) {
    auto* wide = static_cast<const Wide*>(from.raw()) + begin;
    return store(to.type(), wide, end - begin, to.mutable_raw(), begin, options);
  }
  if constexpr (std::is_same_v<Wide, float> || std::is_same_v<Wide, int64_t>) {
    if (to.type() == kWide) {
      return load({from.type(), from.raw(), begin}, end - begin, static_cast<Wide*>(to.mutable_raw()) + begin);
    }
    Wide wide[kConversionBlock];
    for (int64_t i = begin; i < end; i += kConversionBlock) {
      int64_t count = std::min(kConversionBlock, end - i);
      load({from.type(), from.raw(), i}, count, wide);
      store(to.type(), wide, count, to.mutable_raw(), i, options);
    }
  }
}

/** Plain numbers to float16 or bfloat16, by way of floats that round to those as the numbers themselves do. */
void numbers_to_halves(const Tensor& from, kernels::Number source, Tensor& to, int64_t begin, int64_t end) {
  float floats[kConversionBlock];
  const int64_t size = bits_of(from.type()) / 8;
  for (int64_t i = begin; i < end; i += kConversionBlock) {
    int64_t count = std::min(kConversionBlock, end - i);
    auto* x = static_cast<const char*>(from.raw()) + i * size;
    if (source == kernels::Number::kF64) {
      kernels::round_to_odd(reinterpret_cast<const double*>(x), count, floats);
    } else {
      kernels::cast(source, x, count, kernels::Number::kF32, floats);
    }
    narrow(to.type(), floats, static_cast<uint16_t*>(to.mutable_raw()) + i, count);
  }
}

void numbers_to_strings(const Tensor& from, Tensor& to) {
  int64_t count = from.element_count();
  std::string* text = to.mutable_data<std::string>();
  ElementType wide = wide_type(from.type());
  dispatch<kWideTypes>(wide, [&]<class Wide>(TypeTag<Wide>) {
    Tensor values(wide, from.shape());
    convert_range<Wide>(from, values, 0, count, {});
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_floating_point_v<Wide>) {
        text[i] = to_text(static_cast<double>(values.data<Wide>()[i]), from.type());
      } else {
        text[i] = to_text(values.data<Wide>()[i]);
      }
    }
  });
}

void strings_to_numbers(const Tensor& from, Tensor& to, const ConversionOptions& options) {
  const std::string* text = from.data<std::string>();
  ElementType wide = to.type() == ElementType::kBool ? ElementType::kDouble : wide_type(to.type());
  dispatch<kWideTypes>(wide, [&]<class Wide>(TypeTag<Wide>) {
    for (int64_t i = 0; i < from.element_count(); ++i) {
      Wide value = number_from<Wide>(text[i]);
      store(to.type(), &value, 1, to.mutable_raw(), i, options);
    }
  });
}

}  // namespace

void convert_elements(const Tensor& from, Tensor& to, const ConversionOptions& options, ThreadPool& threads) {
  require(!(kComplexTypes.contains(from.type()) || kComplexTypes.contains(to.type())), ErrorCode::kNotImplemented,
          "elements of ", name_of(from.type()), " cannot be cast to ", name_of(to.type()));
  if (from.type() == to.type()) return copy_elements(from, to);
  if (to.type() == ElementType::kString) return numbers_to_strings(from, to);
  if (size_t bytes = is_packed(to.type()) ? to.byte_count() : 0) std::memset(to.mutable_raw(), 0, bytes);  // spare bits
  if (from.type() == ElementType::kString) return strings_to_numbers(from, to, options);
  int64_t count = from.element_count();
  const bool share_bytes = is_packed(from.type()) || is_packed(to.type());  // which threads must not
  const int64_t least = share_bytes ? count : kernels::least_items(kernels::kScalarNs);
  auto source = number_of(from.type()), target = number_of(to.type());
  if (source && target) {
    auto* x = static_cast<const char*>(from.raw());
    auto* y = static_cast<char*>(to.mutable_raw());
    const int64_t x_size = bits_of(from.type()) / 8, y_size = bits_of(to.type()) / 8;
    return threads.parallel_for(count, kernels::least_items(kernels::kElementNs), [&](int64_t begin, int64_t end) {
      kernels::cast(*source, x + begin * x_size, end - begin, *target, y + begin * y_size);
    });
  }
  if (source && source != kernels::Number::kF32 && kHalfTypes.contains(to.type())) {
    return threads.parallel_for(count, least,
                                [&](int64_t begin, int64_t end) { numbers_to_halves(from, *source, to, begin, end); });
  }
  dispatch<kWideTypes>(wide_type(from.type()), [&]<class Wide>(TypeTag<Wide>) {
    threads.parallel_for(count, least,
                         [&](int64_t begin, int64_t end) { convert_range<Wide>(from, to, begin, end, options); });
  });
}

}  // namespace ortolan::cpu
