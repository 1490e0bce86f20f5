// Kernels of Shape and Size.
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class ShapeKernel : public OpKernel {
 public:
  explicit ShapeKernel(const KernelInfo& info) : start_(info.node().int_or("start", 0)) {}
  void compute(KernelContext& context) const override {
    const Shape& shape = context.input(0).shape();
    auto rank = static_cast<int64_t>(shape.rank());
    int64_t first = std::clamp<int64_t>(start_ < 0 ? start_ + rank : start_, 0, rank);
    auto dims = context.output(0).mutable_span<int64_t>();
    std::copy_n(shape.begin() + first, dims.size(), dims.begin());
  }

 private:
  int64_t start_;
};

class SizeKernel : public OpKernel {
 public:
  explicit SizeKernel(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    *context.output(0).mutable_data<int64_t>() = context.input(0).element_count();
  }
};

constexpr KernelRow kRows[] = {
    {"", "Shape", 1, kLatest, make_kernel<ShapeKernel>},
    {"", "Size", 1, kLatest, make_kernel<SizeKernel>},
};

}  // namespace

extern const KernelTable shape_rows;
const KernelTable shape_rows(kRows);

}  // namespace ortolan::cpu::onnx
