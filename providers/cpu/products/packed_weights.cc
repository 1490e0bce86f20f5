// Packing of constant weights through the session's cache.
#include "cpu/products/packed_weights.h"

namespace ortolan::cpu {

Tensor floats_to_pack(const Tensor& weights) {
  if (!base::parts_are_kept()) return to_float_tensor(weights);
  return Tensor(ElementType::kFloat, weights.shape(), const_cast<void*>(weights.raw()), weights.owner());
}

RightOperand::RightOperand(const KernelInfo& info, size_t i, bool transposed) {
  const Tensor* weights = info.weights_input(i);
  if (weights == nullptr || weights->rank() == 0 || weights->rank() > 2) return;
  if (!(kHalfTypes | ElementType::kFloat).contains(weights->type()) || weights->element_count() == 0) return;
  transposed = transposed && weights->rank() == 2;
  auto pack = [](ThreadPool& threads, const Tensor& matrix, bool turned) {
    int64_t rows = matrix.shape()[0], columns = matrix.shape().count_from(1);
    Tensor floats = floats_to_pack(matrix);
    return kernels::pack_b(&threads, turned ? columns : rows, turned ? rows : columns, floats.data<float>(), columns,
                           turned, nullptr, kernels::PackedForm::kShortest);
  };
  packed_ = pack_once(info, *weights, "gemm_f32", pack, transposed);
}

}  // namespace ortolan::cpu
