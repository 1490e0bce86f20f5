// UnfoldTensor as one strided copy in which windows overlap.
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

class UnfoldTensor : public OpKernel {
 public:
  explicit UnfoldTensor(const KernelInfo& info)
      : axis_(info.node().int_or("dim", -1)), step_(info.node().int_or("step", 1)) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    if (y.element_count() == 0) return;
    size_t axis = checked_axis(axis_, x.rank(), "dim");
    Dims from = row_strides(x.shape()), to = row_strides(y.shape());
    from.push_back(from[axis]);
    from[axis] *= y.shape()[axis] > 1 ? step_ : 0;  // a step as wide as one likes where there is one window
    strided_copy(context.threads(), x.type(), {y.shape(), from, to}, x.raw(), y.mutable_raw());
  }

 private:
  int64_t axis_, step_;
};

constexpr KernelRow kRows[] = {{"com.microsoft",
                                "UnfoldTensor",
                                1,
                                kLatest,
                                make_kernel<UnfoldTensor>,
                                {{0, kPlainTypes | ElementType::kString}}}};

}  // namespace

extern const KernelTable unfold_tensor_rows;
const KernelTable unfold_tensor_rows(kRows);

}  // namespace ortolan::cpu::microsoft
