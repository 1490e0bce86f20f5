// Conversions between the floating-point types of tensors.
#include "cpu/elements/float_tensors.h"

#include <cstring>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu {
namespace {

void to_float(const void* from, ElementType type, int64_t begin, int64_t count, float* to) {
  switch (type) {
    case ElementType::kFloat16:
      return kernels::half_to_float(static_cast<const uint16_t*>(from) + begin, to, count);
    case ElementType::kBFloat16:
      return kernels::bfloat16_to_float(static_cast<const uint16_t*>(from) + begin, to, count);
    case ElementType::kDouble:
      for (int64_t i = 0; i < count; ++i)
        to[i] = static_cast<float>(kernels::read_unaligned(static_cast<const double*>(from) + begin + i));
      return;
    default:
      if (count > 0) std::memcpy(to, static_cast<const float*>(from) + begin, count * sizeof(float));
  }
}

void from_float(const float* from, ElementType type, int64_t begin, int64_t count, void* to) {
  switch (type) {
    case ElementType::kFloat16:
      return kernels::float_to_half(from, static_cast<uint16_t*>(to) + begin, count);
    case ElementType::kBFloat16:
      return kernels::float_to_bfloat16(from, static_cast<uint16_t*>(to) + begin, count);
    case ElementType::kDouble:
      for (int64_t i = 0; i < count; ++i) static_cast<double*>(to)[begin + i] = from[i];
      return;
    default:
      if (count > 0) std::memcpy(static_cast<float*>(to) + begin, from, count * sizeof(float));
  }
}

}  // namespace

void convert_floats(ThreadPool* pool, const void* from, ElementType from_type, void* to, ElementType to_type,
                    int64_t count) {
  for (ElementType type : {from_type, to_type}) {
    require(kFloatTypes.contains(type), ErrorCode::kInvalidGraph, "elements of ", name_of(type),
            " stand where the operator takes only ", kFloatTypes);
  }
  auto convert = [&](int64_t begin, int64_t end) {
    if (to_type == ElementType::kFloat) {
      return to_float(from, from_type, begin, end - begin, static_cast<float*>(to) + begin);
    }
    if (from_type == ElementType::kFloat) {
      return from_float(static_cast<const float*>(from) + begin, to_type, begin, end - begin, to);
    }
    float block[1024];
    for (int64_t i = begin; i < end; i += 1024) {
      int64_t size = std::min<int64_t>(1024, end - i);
      to_float(from, from_type, i, size, block);
      from_float(block, to_type, i, size, to);
    }
  };
  pool != nullptr ? pool->parallel_for(count, kernels::least_items(kernels::kElementNs), convert)
                  : base::polled_loop(count, convert);
}

Tensor to_float_tensor(const Tensor& tensor) {
  if (tensor.type() == ElementType::kFloat) return tensor;
  Tensor result(ElementType::kFloat, tensor.shape());
  convert_floats(nullptr, tensor.raw(), tensor.type(), result.mutable_raw(), ElementType::kFloat,
                 tensor.element_count());
  return result;
}

}  // namespace ortolan::cpu
