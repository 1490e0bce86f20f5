// Packing of constant weights through the session's cache.
#include "cpu/packed_weights.h"

namespace ortolan::cpu {

std::shared_ptr<const kernels::PackedMatrix> pack_shared(const KernelInfo& info, const Tensor& weights,
                                                         std::string_view layout,
                                                         FunctionRef<kernels::PackedMatrix()> make) {
  auto packed = info.packed_weights().get(
      weights, layout, [&]() -> std::shared_ptr<void> { return std::make_shared<kernels::PackedMatrix>(make()); });
  return std::static_pointer_cast<const kernels::PackedMatrix>(packed);
}

RightOperand::RightOperand(const KernelInfo& info, size_t i, bool transposed) {
  const Tensor* weights = info.weights_input(i);
  if (weights == nullptr || weights->rank() == 0 || weights->rank() > 2) return;
  if (!(kHalfTypes | ElementType::kFloat).contains(weights->type()) || weights->element_count() == 0) return;
  transposed = transposed && weights->rank() == 2;
  int64_t rows = weights->shape()[0];
  int64_t columns = weights->rank() == 2 ? weights->shape()[1] : 1;
  std::string layout = join("gemm_f32 ", name_of(weights->type()), " ", rows, "x", columns, transposed ? "t" : "");
  packed_ = pack_shared(info, *weights, layout, [&] {
    Tensor floats = to_float_tensor(*weights);
    return kernels::pack_b(&info.threads(), transposed ? columns : rows, transposed ? rows : columns,
                           floats.data<float>(), columns, transposed);
  });
}

}  // namespace ortolan::cpu
