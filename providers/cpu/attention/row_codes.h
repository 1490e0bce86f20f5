// Rows of keys and values in codes of 8 or 4 bits, as caches hold them.
#pragma once

#include "cpu/attention/attention_core.h"

namespace ortolan::cpu {

/** How rows of `heads` heads of `size` elements are quantised: code * scale, with one scale for all or one for each
    element of a head. Codes of 8 bits are int8; those of 4 bits are two to a byte, the first in its low bits, each 8
    above its value. */
struct RowCodes {
  int bits = 0;  // 0: rows are no codes
  int64_t heads = 0, size = 0;
  const float* scales = nullptr;  // one, or [heads][size]
  bool per_channel = false;

  int64_t row_bytes() const { return size * bits / 8; }
  ElementType type() const { return bits == 8 ? ElementType::kInt8 : ElementType::kUInt8; }
};

/** Floats as codes in scratch memory, [batch][rows][heads][row_bytes]. Halves go to even codes, what is beyond them to
    the nearest one, NaN to the lowest. */
HeadRows quantize_rows(KernelContext& context, const RowCodes& codes, const HeadRows& from, int64_t batch,
                       int64_t rows);

/** The first `rows` rows of each head of `from`, as floats in scratch memory: [batch][heads][rows][size]. */
HeadRows dequantize_rows(KernelContext& context, const RowCodes& codes, const HeadRows& from, int64_t batch,
                         int64_t rows);

}  // namespace ortolan::cpu
