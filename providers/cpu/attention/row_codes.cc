// Quantising rows of keys and values, and the way back.
#include "cpu/attention/row_codes.h"

#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"

namespace ortolan::cpu {
namespace {

/** The scales of a head's elements: steps of 0 where there is one for all. */
struct Scales {
  const float* first;
  int64_t step;
  float at(int64_t i) const { return first[i * step]; }
};

Scales scales_of(const RowCodes& codes, int64_t head) {
  return {codes.scales + (codes.per_channel ? head * codes.size : 0), codes.per_channel ? 1 : 0};
}

int code_of(float value, float scale, int low, int high) {
  const float code = std::nearbyint(value / scale);
  return code >= static_cast<float>(low) ? static_cast<int>(std::min(code, static_cast<float>(high))) : low;
}

void quantize_row(const RowCodes& codes, const Scales& scales, const float* x, uint8_t* to) {
  if (codes.bits == 8 && scales.step == 0) {
    return kernels::quantize<int8_t>(x, codes.size, scales.at(0), 0, reinterpret_cast<int8_t*>(to));
  }
  if (codes.bits == 8) {
    for (int64_t i = 0; i < codes.size; ++i) to[i] = static_cast<uint8_t>(code_of(x[i], scales.at(i), -128, 127));
    return;
  }
  for (int64_t i = 0; i < codes.size; i += 2) {
    const int low = code_of(x[i], scales.at(i), -8, 7) + 8, high = code_of(x[i + 1], scales.at(i + 1), -8, 7) + 8;
    to[i / 2] = static_cast<uint8_t>(low | high << 4);
  }
}

void dequantize_row(const RowCodes& codes, const Scales& scales, const uint8_t* from, float* y) {
  if (codes.bits == 8) {
    const auto* bytes = reinterpret_cast<const int8_t*>(from);
    if (scales.step == 0) return kernels::dequantize<int8_t>(bytes, codes.size, scales.at(0), 0, y);
    for (int64_t i = 0; i < codes.size; ++i) y[i] = static_cast<float>(bytes[i]) * scales.first[i];
    return;
  }
  for (int64_t i = 0; i < codes.size; i += 2) {
    const int byte = from[i / 2];
    y[i] = static_cast<float>((byte & 15) - 8) * scales.at(i);
    y[i + 1] = static_cast<float>((byte >> 4) - 8) * scales.at(i + 1);
  }
}

}  // namespace

HeadRows quantize_rows(KernelContext& context, const RowCodes& codes, const HeadRows& from, int64_t batch,
                       int64_t rows) {
  const int64_t count = checked_mul(checked_mul(batch, rows), codes.heads), bytes = codes.row_bytes();
  auto* to = context.scratch<uint8_t>(checked_mul(count, bytes)).data();
  const int64_t least = kernels::least_rows(codes.size, kernels::kScalarNs);
  context.threads().parallel_for(count, least, [&](int64_t begin, int64_t end) {
    std::vector<float> row(static_cast<size_t>(codes.size));
    for (int64_t n = begin; n < end; ++n) {
      const int64_t head = n % codes.heads, i = n / codes.heads % rows, b = n / (codes.heads * rows);
      const int64_t at = (b * from.batch + i * from.row + head * from.head) * (bits_of(from.type) / 8);
      convert_floats(nullptr, static_cast<const char*>(from.data) + at, from.type, row.data(), ElementType::kFloat,
                     codes.size);
      quantize_row(codes, scales_of(codes, head), row.data(), to + n * bytes);
    }
  });
  return rows_by_position(to, codes.type(), codes.heads, rows, bytes);
}

HeadRows dequantize_rows(KernelContext& context, const RowCodes& codes, const HeadRows& from, int64_t batch,
                         int64_t rows) {
  const int64_t count = checked_mul(checked_mul(batch, codes.heads), rows);
  float* to = context.scratch<float>(checked_mul(count, codes.size)).data();
  const int64_t least = kernels::least_rows(codes.size, kernels::kScalarNs);
  context.threads().parallel_for(count, least, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      const int64_t i = n % rows, head = n / rows % codes.heads, b = n / (rows * codes.heads);
      const auto* row = static_cast<const uint8_t*>(from.data) + b * from.batch + head * from.head + i * from.row;
      dequantize_row(codes, scales_of(codes, head), row, to + n * codes.size);
    }
  });
  return rows_by_head(to, ElementType::kFloat, codes.heads, rows, codes.size);
}

}  // namespace ortolan::cpu
