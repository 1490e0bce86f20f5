// Dynamic quantisation in two passes: extremes, then codes.
#include "cpu/quantised/dynamic_quantization.h"

#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"

namespace ortolan::cpu {
namespace {

constexpr int64_t kMostParts = 256;

bool has_nan(const float* x, int64_t count) {
  int found = 0;
  for (int64_t i = 0; i < count; ++i) found |= x[i] != x[i];
  return found != 0;
}

}  // namespace

kernels::ValueRange range_of(ThreadPool& threads, const float* x, int64_t count) {
  kernels::ValueRange ranges[kMostParts];
  int64_t parts = std::clamp<int64_t>(count / (2 * kernels::least_items(kernels::kElementNs)), 1, kMostParts),
          part = (count + parts - 1) / parts;
  threads.parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = std::min(count, i * part);
      kernels::min_max(x + first, std::min(part, count - first), &ranges[i].low, &ranges[i].high);
    }
  });
  for (int64_t i = 1; i < parts; ++i) ranges[0].include(ranges[i]);
  return ranges[0];
}

DynamicFormat dynamic_format(const kernels::ValueRange& range) {
  DynamicFormat format;
  if (range.high != range.low) format.scale = (range.high - range.low) / 255.0f;
  if (std::isinf(format.scale)) format.scale = range.high / 255.0f - range.low / 255.0f;
  float zero = std::clamp(std::nearbyint(-range.low / format.scale), 0.0f, 255.0f);
  if (zero == zero) format.zero = static_cast<int32_t>(zero);
  return format;
}

void quantize_dynamic(ThreadPool& threads, const DynamicFormat& format, const float* x, int64_t count, uint8_t* y) {
  threads.parallel_for(count, kernels::least_items(kernels::kElementNs), [&](int64_t begin, int64_t end) {
    kernels::quantize<uint8_t>(x + begin, end - begin, format.scale, format.zero, y + begin);
  });
}

void spread_nan(ThreadPool& threads, int64_t rows, const float* x, int64_t k, float* y, int64_t n, int64_t ldy) {
  threads.parallel_for(rows, kernels::least_rows(k, kernels::kElementNs), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      if (has_nan(x + i * k, k)) std::fill_n(y + i * ldy, n, NAN);
    }
  });
}

void RangeOutput::finish() {
  if (!wanted_) return;
  float* y = context_.output(i_).mutable_data<float>();
  y[0] = range_.low, y[1] = range_.high;
}

}  // namespace ortolan::cpu
