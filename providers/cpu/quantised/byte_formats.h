// Linear quantisation of bytes with one scale and zero point a tensor, and functions of one byte as tables.
#pragma once

#include <array>

#include "base/function_ref.h"
#include "cpu/quantised/byte_tensors.h"

namespace ortolan::cpu {

/** A byte stands for scale * (byte - zero). */
struct ByteFormat {
  float scale = 1;
  int32_t zero = 0;
  bool is_signed = false;

  bool operator==(const ByteFormat&) const = default;
  /** The real value of a byte (its bits). */
  float value(uint8_t bits) const {
    int32_t byte = is_signed ? static_cast<int8_t>(bits) : bits;
    return scale * static_cast<float>(byte - zero);
  }
  /** The bits of the byte nearest to a real value, halves to even, saturated; NaN gives the lowest byte. */
  uint8_t byte(float value) const;
};

/** Of a scale and a zero point (NULL for 0), each one value, for bytes of `type`. `what` names the tensor in errors. */
ByteFormat byte_format(const Tensor& scale, const Tensor* zero, ElementType type, const char* what);

/** For each byte what it becomes. */
using ByteTable = std::array<uint8_t, 256>;

ByteTable byte_table(const ByteFormat& from, const ByteFormat& to, FunctionRef<float(float)> function);
/** The same byte value in another format; the bytes themselves where the formats are equal. */
ByteTable recoding_table(const ByteFormat& from, const ByteFormat& to);

/** Maps a whole tensor of bytes by a table. */
void map_tensor(ThreadPool& threads, const ByteTable& table, const Tensor& x, Tensor& y);

/** Scale and zero point by input numbers of a node: known when the kernel is made, where both are constant. */
class FormatInputs {
 public:
  constexpr FormatInputs(size_t scale, size_t zero, const char* what) : scale_(scale), zero_(zero), what_(what) {}
  /** True where the format is the same in every run; then `format` has it. */
  bool constant(const KernelInfo& info) const {
    return info.constant_input(scale_) && (!info.has_input(zero_) || info.constant_input(zero_));
  }
  ByteFormat format(const KernelInfo& info, ElementType type) const {
    return byte_format(*info.constant_input(scale_), info.constant_input(zero_), type, what_);
  }
  ByteFormat format(const KernelContext& context, ElementType type) const {
    return byte_format(context.input(scale_), context.input_if(zero_), type, what_);
  }

 private:
  size_t scale_, zero_;
  const char* what_;
};

}  // namespace ortolan::cpu
