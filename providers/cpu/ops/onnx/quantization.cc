// QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear, with one scale for the tensor, for each slice of an axis,
// or for each block along it.
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/quantised/dynamic_quantization.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr TypeSet kIntegers = ElementType::kInt8 | ElementType::kUInt8 | ElementType::kInt16 | ElementType::kUInt16;

/** The scale tensor in float. */
const float* read_scales(KernelContext& context, const Tensor& scale) {
  if (!kIntegerTypes.contains(scale.type()) && scale.type() != ElementType::kFloat8E8M0) {
    return read_as<float>(context, scale);
  }
  int64_t count = scale.element_count();
  float* result = context.scratch<float>(count).data();
  dispatch<ElementType::kInt32 | ElementType::kFloat8E8M0>(scale.type(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < count; ++i) result[i] = static_cast<float>(scale.data<T>()[i]);
  });
  return result;
}

/** Zero points as int32, or NULL where there are none; those of float types must be zero and count for nothing. */
const int32_t* read_zero_points(KernelContext& context, const Tensor* zero) {
  if (!zero || kFloat8Types.contains(zero->type()) || zero->type() == ElementType::kFloat4E2M1) return nullptr;
  int64_t count = zero->element_count();
  int32_t* result = context.scratch<int32_t>(count).data();
  if (is_packed(zero->type())) {
    for (int64_t i = 0; i < count; ++i) result[i] = unpack_element(zero->type(), zero->raw(), i);
    return result;
  }
  dispatch<kIntegers | ElementType::kInt32>(zero->type(),
                                            [&]<class T>(TypeTag<T>) { std::copy_n(zero->data<T>(), count, result); });
  return result;
}

/** Which scale belongs to which element. The tensor is [outer][size][inner]; a scale serves `block` steps of the axis.
 */
struct ScaleMap {
  int64_t outer = 1, size = 1, inner = 1, block = 1;
  int64_t blocks = 1;
  bool per_tensor = true, per_inner = false;

  /** True where each element of a row has a scale of its own, which serves all rows. */
  bool has_rows() const { return !per_tensor && !per_inner && inner == 1 && block == 1; }

  /** Calls body(begin, end, scale) for runs of elements with one scale each. */
  template <class Body>
  void for_runs(ThreadPool& pool, Body&& body) const {
    int64_t total = outer * size * inner;
    if (per_tensor) {
      const int64_t least = kernels::least_items(kernels::kElementNs);
      return pool.parallel_for(total, least, [&](int64_t begin, int64_t end) { body(begin, end, int64_t{0}); });
    }
    const int64_t least = kernels::least_items(kernels::kFunctionNs + static_cast<double>(inner) * kernels::kElementNs);
    pool.parallel_for(outer * size, least, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        int64_t at = row % size / block;
        if (!per_inner) {
          body(row * inner, (row + 1) * inner, at);
          continue;
        }
        int64_t first = (row / size * blocks + at) * inner;
        for (int64_t i = 0; i < inner; ++i) body(row * inner + i, row * inner + i + 1, first + i);
      }
    });
  }
};

class ScaledConversion : public OpKernel {
 protected:
  explicit ScaledConversion(const KernelInfo& info)
      : axis_(info.node().int_or("axis", 1)), block_(info.node().int_or("block_size", 0)) {
    require(block_ >= 0, ErrorCode::kInvalidGraph, "block_size is ", block_, "; it must not be negative");
  }

  /** Checks the scale's and zero point's shapes against the input's. */
  ScaleMap map(const Shape& x, const Shape& scale, const Tensor* zero) const {
    require(!zero || zero->element_count() == scale.element_count(), ErrorCode::kInvalidArgument,
            "the scale has shape ", scale, " but the zero point ", zero ? zero->shape() : Shape(),
            "; they must be equal");
    ScaleMap map;
    if (scale.element_count() == 1 && (block_ == 0 || scale.rank() == 0)) {
      map.size = x.element_count();
      return map;
    }
    size_t axis = checked_axis(axis_, x.rank());
    map.outer = x.count_to(axis), map.size = x[axis], map.inner = x.count_from(axis + 1);
    map.per_tensor = false;
    if (block_ == 0) {
      require(scale.rank() == 1 && scale[0] == x[axis], ErrorCode::kInvalidArgument, "the scale has shape ", scale,
              "; for axis ", axis_, " of input ", x, " it needs ", x[axis], " values");
      return map;
    }
    map.block = block_;
    map.blocks = x[axis] / block_ + (x[axis] % block_ != 0);
    Shape wanted = x;
    wanted[axis] = map.blocks;
    require(scale == wanted, ErrorCode::kInvalidArgument, "the scale has shape ", scale, "; with block_size ", block_,
            " on axis ", axis_, " of input ", x, " it needs ", wanted);
    map.per_inner = true;
    return map;
  }

 private:
  int64_t axis_, block_;
};

/** The lowest and highest code of the packed and 8 to 16 bit integers. */
std::pair<int, int> code_range(ElementType type) {
  int bits = bits_of(type);
  bool is_signed = type == ElementType::kInt4 || type == ElementType::kInt2;
  return is_signed ? std::pair(-(1 << (bits - 1)), (1 << (bits - 1)) - 1) : std::pair(0, (1 << bits) - 1);
}

class QuantizeLinear final : public ScaledConversion {
 public:
  explicit QuantizeLinear(const KernelInfo& info)
      : ScaledConversion(info), saturate_(info.node().int_or("saturate", 1) != 0) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    ScaleMap map = this->map(x.shape(), context.input(1).shape(), context.input_if(2));
    if (y.element_count() == 0) return;
    const float* scales = read_scales(context, context.input(1));
    const int32_t* zeros = read_zero_points(context, context.input_if(2));
    const float* values = x.type() == ElementType::kInt32 ? read_scales(context, x) : read_as<float>(context, x);
    if (is_packed(y.type())) return to_packed(context, map, values, scales, zeros, y);
    dispatch<kIntegers | kFloat8Types>(y.type(), [&]<class T>(TypeTag<T>) {
      T* out = y.mutable_data<T>();
      map.for_runs(context.threads(), [&](int64_t begin, int64_t end, int64_t s) {
        if constexpr (kIntegers.contains(kTypeOf<T>)) {
          kernels::quantize<T>(values + begin, end - begin, scales[s], zeros ? zeros[s] : 0, out + begin);
        } else {
          for (int64_t i = begin; i < end; ++i) out[i] = T(values[i] / scales[s], saturate_);
        }
      });
    });
  }

 private:
  void to_packed(KernelContext& context, const ScaleMap& map, const float* values, const float* scales,
                 const int32_t* zeros, Tensor& y) const {
    auto codes = context.scratch<int8_t>(y.element_count());
    auto [low, high] = code_range(y.type());
    bool is_float = y.type() == ElementType::kFloat4E2M1;
    map.for_runs(context.threads(), [&, low = low, high = high](int64_t begin, int64_t end, int64_t s) {
      for (int64_t i = begin; i < end; ++i) {
        float scaled = values[i] / scales[s];
        float code = std::nearbyint(scaled) + static_cast<float>(zeros ? zeros[s] : 0);
        codes[i] = is_float ? static_cast<int8_t>(Float4E2M1(scaled).bits)
                            : static_cast<int8_t>(code >= low ? std::min<float>(code, high) : low);
      }
    });
    for (int64_t i = 0; i < y.element_count(); ++i) pack_element(y.type(), y.mutable_raw(), i, codes[i]);
  }

  bool saturate_;
};

class DequantizeLinear final : public ScaledConversion {
 public:
  explicit DequantizeLinear(const KernelInfo& info) : ScaledConversion(info) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    ScaleMap map = this->map(x.shape(), context.input(1).shape(), context.input_if(2));
    OutputAs<float> y(context, 0);
    if (x.element_count() == 0) return y.finish();
    const float* scales = read_scales(context, context.input(1));
    const int32_t* zeros = read_zero_points(context, context.input_if(2));
    if (is_packed(x.type())) {
      from_packed(context, map, x, scales, zeros, y.data());
    } else {
      from_plain(context, map, x, scales, zeros, y.data());
    }
    y.finish();
  }

 private:
  static void from_plain(KernelContext& context, const ScaleMap& map, const Tensor& x, const float* scales,
                         const int32_t* zeros, float* y) {
    dispatch<kIntegers | ElementType::kInt32 | kFloat8Types>(x.type(), [&]<class T>(TypeTag<T>) {
      const T* in = x.data<T>();
      if constexpr (kIntegerTypes.contains(kTypeOf<T>)) {
        if (map.has_rows()) return dequantize_rows(context, map, in, scales, zeros, y);
      }
      map.for_runs(context.threads(), [&](int64_t begin, int64_t end, int64_t s) {
        if constexpr (kIntegerTypes.contains(kTypeOf<T>)) {
          kernels::dequantize<T>(in + begin, end - begin, scales[s], zeros ? zeros[s] : 0, y + begin);
        } else {
          for (int64_t i = begin; i < end; ++i) y[i] = static_cast<float>(in[i]) * scales[s];
        }
      });
    });
  }

  template <class T>
  static void dequantize_rows(KernelContext& context, const ScaleMap& map, const T* x, const float* scales,
                              const int32_t* zeros, float* y) {
    const int64_t width = map.size;
    const int64_t least = kernels::least_rows(width, kernels::kElementNs);
    context.threads().parallel_for(map.outer, least, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin * width; row < end * width; row += width) {
        if (zeros == nullptr) {
          for (int64_t i = 0; i < width; ++i) y[row + i] = static_cast<float>(x[row + i]) * scales[i];
        } else {
          for (int64_t i = 0; i < width; ++i) {
            using Wide = std::conditional_t<sizeof(T) < 4, int32_t, int64_t>;
            y[row + i] = static_cast<float>(Wide{x[row + i]} - zeros[i]) * scales[i];
          }
        }
      }
    });
  }

  static void from_packed(KernelContext& context, const ScaleMap& map, const Tensor& x, const float* scales,
                          const int32_t* zeros, float* y) {
    map.for_runs(context.threads(), [&](int64_t begin, int64_t end, int64_t s) {
      for (int64_t i = begin; i < end; ++i) {
        int code = unpack_element(x.type(), x.raw(), i);
        if (x.type() == ElementType::kFloat4E2M1) {
          y[i] = base::narrow_to_float(static_cast<uint8_t>(code), Float4E2M1::kFormat) * scales[s];
        } else {
          y[i] = static_cast<float>(code - (zeros ? zeros[s] : 0)) * scales[s];
        }
      }
    });
  }
};

/** Domain "ortolan" has a second input, the range of x. */
class DynamicQuantizeLinear final : public OpKernel {
 public:
  explicit DynamicQuantizeLinear(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    const float* values = x.data<float>();
    DynamicFormat format = dynamic_format(range(context, values, x.element_count()));
    *context.output(1).mutable_data<float>() = format.scale;
    *context.output(2).mutable_data<uint8_t>() = static_cast<uint8_t>(format.zero);
    quantize_dynamic(context.threads(), format, values, x.element_count(), context.output(0).mutable_data<uint8_t>());
  }

 private:
  static kernels::ValueRange range(KernelContext& context, const float* x, int64_t count) {
    const Tensor* known = context.input_if(1);
    if (!known) return range_of(context.threads(), x, count);
    require(known->shape() == Shape{2}, ErrorCode::kInvalidArgument, "the range has shape ", known->shape(),
            "; it needs [2]");
    return {known->data<float>()[0], known->data<float>()[1]};
  }
};

constexpr KernelRow kRows[] = {
    {"", "QuantizeLinear", 10, kLatest, make_kernel<QuantizeLinear>},
    {"", "DequantizeLinear", 10, kLatest, make_kernel<DequantizeLinear>},
    {"com.microsoft", "QuantizeLinear", 1, kLatest, make_kernel<QuantizeLinear>},
    {"com.microsoft", "DequantizeLinear", 1, kLatest, make_kernel<DequantizeLinear>},
    {"", "DynamicQuantizeLinear", 11, kLatest, make_kernel<DynamicQuantizeLinear>},
    {"ortolan", "DynamicQuantizeLinear", 1, kLatest, make_kernel<DynamicQuantizeLinear>},
};

}  // namespace

extern const KernelTable quantization_rows;
const KernelTable quantization_rows(kRows);
}  // namespace ortolan::cpu::onnx
