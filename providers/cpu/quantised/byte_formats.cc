// Formats of quantised bytes and tables of functions of one byte.
#include "cpu/quantised/byte_formats.h"

#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/quantised/bytes.h"

namespace ortolan::cpu {

uint8_t ByteFormat::byte(float value) const {
  float low = is_signed ? -128.0f : 0.0f, high = is_signed ? 127.0f : 255.0f;
  float rounded = std::nearbyint(value / scale) + static_cast<float>(zero);
  return static_cast<uint8_t>(static_cast<int32_t>(rounded >= low ? std::min(rounded, high) : low));
}

ByteFormat byte_format(const Tensor& scale, const Tensor* zero, ElementType type, const char* what) {
  require(scale.element_count() == 1 && scale.type() == ElementType::kFloat, ErrorCode::kInvalidArgument,
          "the scale of ", what, " has type ", name_of(scale.type()), " and shape ", scale.shape(),
          "; it must hold one float");
  require(!zero || (zero->element_count() == 1 && zero->type() == type), ErrorCode::kInvalidArgument,
          "the zero point of ", what, " has type ", name_of(zero ? zero->type() : type), " and shape ",
          zero ? zero->shape() : Shape(), "; it must hold one ", name_of(type));
  return {*scale.data<float>(), zero ? byte_value(*zero) : 0, type == ElementType::kInt8};
}

ByteTable byte_table(const ByteFormat& from, const ByteFormat& to, FunctionRef<float(float)> function) {
  ByteTable table;
  for (int i = 0; i < 256; ++i) table[i] = to.byte(function(from.value(static_cast<uint8_t>(i))));
  return table;
}

ByteTable recoding_table(const ByteFormat& from, const ByteFormat& to) {
  ByteTable table;
  if (from != to) return byte_table(from, to, [](float x) { return x; });
  for (int i = 0; i < 256; ++i) table[i] = static_cast<uint8_t>(i);
  return table;
}

void map_tensor(ThreadPool& threads, const ByteTable& table, const Tensor& x, Tensor& y) {
  auto* from = static_cast<const uint8_t*>(x.raw());
  auto* to = static_cast<uint8_t*>(y.mutable_raw());
  const int64_t least = kernels::least_items(kernels::kMovedByteNs);
  threads.parallel_for(x.element_count(), least, [&](int64_t begin, int64_t end) {
    kernels::map_bytes(table.data(), from + begin, end - begin, to + begin);
  });
}

}  // namespace ortolan::cpu
