// IsInf and IsNaN by the bits of the elements; 8-bit floats by a table of their 256 codes.
#include <array>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/cast.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr TypeSet kTypes = kFloatTypes | kFloat8Types;

using Wanted = kernels::FloatClass;

template <class Bits>
void classify(const Tensor& x, int64_t begin, int64_t end, Bits infinity, const Wanted& wanted, bool* y) {
  auto* bits = static_cast<const Bits*>(x.raw());
  kernels::classify(bits + begin, end - begin, infinity, wanted, reinterpret_cast<uint8_t*>(y) + begin);
}

std::array<bool, 256> codes_of(ElementType type, const Wanted& wanted) {
  return dispatch<kFloat8Types>(type, [&]<class T>(TypeTag<T>) {
    std::array<bool, 256> found{};
    for (int code = 0; code < 256; ++code) {
      T element;
      element.bits = static_cast<uint8_t>(code);
      auto value = static_cast<float>(element);
      found[code] = wanted.nan ? std::isnan(value)
                               : std::isinf(value) && (value > 0 ? wanted.positive_infinity : wanted.negative_infinity);
    }
    return found;
  });
}

class FloatClassification : public OpKernel {
 public:
  explicit FloatClassification(const KernelInfo& info) {
    const Node& node = info.node();
    wanted_.nan = node.op_type == "IsNaN";
    wanted_.positive_infinity = !wanted_.nan && node.int_or("detect_positive", 1) != 0;
    wanted_.negative_infinity = !wanted_.nan && node.int_or("detect_negative", 1) != 0;
  }

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    bool* y = context.output(0).mutable_data<bool>();
    if (kFloat8Types.contains(x.type())) {
      auto found = codes_of(x.type(), wanted_);
      auto* from = static_cast<const uint8_t*>(x.raw());
      for (int64_t i = 0; i < x.element_count(); ++i) y[i] = found[from[i]];
      return;
    }
    const int64_t least = kernels::least_items(kernels::kElementNs);
    context.threads().parallel_for(x.element_count(), least, [&](int64_t begin, int64_t end) {
      switch (x.type()) {
        case ElementType::kFloat:
          return classify<uint32_t>(x, begin, end, 0x7f800000u, wanted_, y);
        case ElementType::kDouble:
          return classify<uint64_t>(x, begin, end, 0x7ff0000000000000ull, wanted_, y);
        case ElementType::kFloat16:
          return classify<uint16_t>(x, begin, end, 0x7c00, wanted_, y);
        default:
          return classify<uint16_t>(x, begin, end, 0x7f80, wanted_, y);
      }
    });
  }

 private:
  Wanted wanted_;
};

constexpr KernelRow kRows[] = {
    {"", "IsInf", 10, kLatest, make_kernel<FloatClassification>, {{0, kTypes}}},
    {"", "IsNaN", 9, kLatest, make_kernel<FloatClassification>, {{0, kTypes}}},
};

}  // namespace

extern const KernelTable float_classification_rows;
constinit const KernelTable float_classification_rows(kRows);

}  // namespace ortolan::cpu::onnx
