// Dynamic quantisation in two passes: extremes, then codes.
#include "cpu/dynamic_quantization.h"

#include <cmath>

#include "base/thread_pool.h"
#include "cpu/kernels/convert.h"

namespace ortolan::cpu {
namespace {

constexpr int64_t kGrain = 16384, kMostParts = 64;

}  // namespace

DynamicFormat dynamic_format(ThreadPool& threads, const float* x, int64_t count) {
  float lows[kMostParts] = {}, highs[kMostParts] = {};
  int64_t parts = std::clamp<int64_t>(count / (4 * kGrain), 1, kMostParts), part = (count + parts - 1) / parts;
  threads.parallel_for(parts, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t first = std::min(count, i * part);
      kernels::min_max(x + first, std::min(part, count - first), &lows[i], &highs[i]);
    }
  });
  float low = *std::min_element(lows, lows + parts), high = *std::max_element(highs, highs + parts);
  DynamicFormat format;
  if (high != low) format.scale = (high - low) / 255.0f;
  float zero = std::clamp(std::nearbyint(-low / format.scale), 0.0f, 255.0f);
  if (zero == zero) format.zero = static_cast<int32_t>(zero);
  return format;
}

void quantize_dynamic(ThreadPool& threads, const DynamicFormat& format, const float* x, int64_t count, uint8_t* y) {
  threads.parallel_for(count, kGrain, [&](int64_t begin, int64_t end) {
    kernels::quantize<uint8_t>(x + begin, end - begin, format.scale, format.zero, y + begin);
  });
}

}  // namespace ortolan::cpu
