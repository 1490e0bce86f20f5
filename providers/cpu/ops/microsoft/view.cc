// Kernels of ExpandDims and SampleOp: the input's memory, with a dimension more or the same.
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

class ExpandDims : public OpKernel {
 public:
  explicit ExpandDims(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    const Tensor& axis = context.input(1);
    require(axis.element_count() == 1, ErrorCode::kInvalidArgument, "axis has shape ", axis.shape(),
            "; it must hold one number");
    Shape shape = x.shape();
    shape.insert(shape.begin() + checked_axis(*axis.data<int32_t>(), x.rank() + 1), 1);
    context.set_output(0, x.reshaped(std::move(shape)));
  }
};

class SampleOp : public OpKernel {
 public:
  explicit SampleOp(const KernelInfo&) {}
  void compute(KernelContext& context) const override { context.set_output(0, context.input_value(0)); }
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "ExpandDims", 1, kLatest, make_kernel<ExpandDims>, {}, Reuse::kView},
    {"com.microsoft", "SampleOp", 1, kLatest, make_kernel<SampleOp>, {}, Reuse::kView},
};

}  // namespace

extern const KernelTable view_rows;
const KernelTable view_rows(kRows);

}  // namespace ortolan::cpu::microsoft
