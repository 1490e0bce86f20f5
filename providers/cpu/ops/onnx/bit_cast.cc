// BitCast: a view of the input's memory with another type.
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class BitCast final : public OpKernel {
 public:
  explicit BitCast(const KernelInfo& info) : type_(static_cast<ElementType>(info.node().int_of("to"))) {}
  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    context.set_output(0, Tensor(type_, x.shape(), const_cast<void*>(x.raw()), x.owner(), x.memory()));
  }

 private:
  ElementType type_;
};

constexpr KernelRow kRows[] = {{"", "BitCast", 26, kLatest, make_kernel<BitCast>, {}, Reuse::kView}};

}  // namespace

extern const KernelTable bit_cast_rows;
constinit const KernelTable bit_cast_rows(kRows);

}  // namespace ortolan::cpu::onnx
