// Kernel of Transpose.
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class Transpose : public OpKernel {
 public:
  explicit Transpose(const KernelInfo& info) : perm_(info.node().ints("perm")) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    if (!is_packed(input.type())) return transpose(context, input, output);
    Tensor wide(ElementType::kInt8, output.shape());
    transpose(context, widened(input), wide);
    pack_into(wide, output);
  }

 private:
  void transpose(KernelContext& context, const Tensor& input, Tensor& output) const {
    size_t rank = input.rank();
    Dims from = row_strides(input.shape()), to = row_strides(output.shape());
    StridedWalk walk;
    for (size_t i = 0; i < rank; ++i) {
      size_t axis = perm_.empty() ? rank - 1 - i : checked_axis(perm_[i], rank);
      walk.add(output.shape()[i], from[axis], to[i]);
    }
    strided_copy(context.threads(), input.type(), walk, input.raw(), output.mutable_raw());
  }

  std::vector<int64_t> perm_;
};

constexpr KernelRow kRows[] = {
    {"", "Transpose", 1, kLatest, make_kernel<Transpose>},
};

}  // namespace

extern const KernelTable transpose_rows;
const KernelTable transpose_rows(kRows);

}  // namespace ortolan::cpu::onnx
