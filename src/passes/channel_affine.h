// Arithmetic of one factor and one addend a channel: what BatchNormalization in inference and constant Mul, Div, Add
// and Sub do, and how it is taken into weights.
#pragma once

#include <optional>
#include <vector>

#include "passes/edit.h"

namespace ortolan::passes {

/** y = x * scale + shift; both have one number a channel. */
struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;
  bool only_shifts() const;
};

/** What `node` does with its input `x`, a tensor of `rank` dimensions whose axis 1 are the channels; nothing when that
    is not of this kind, not known, or not finite. */
std::optional<Affine> affine_of(const Node& node, const ValueInfo& x, int64_t channels, size_t rank);

/** Nodes that follow each other, and alone use what is before them, as one. */
struct AffineChain {
  Affine affine;
  std::vector<Node*> nodes;
};
/** The chain that begins at the only user of `value`; nodes is empty when there is none. */
AffineChain affine_after(const ValueInfo& value, int64_t channels, size_t rank);

/** The numbers of a float or double tensor with `count` elements; nothing for others. */
std::optional<std::vector<double>> numbers(const Tensor* tensor, int64_t count);
/** The numbers rounded once to `type`, which is float or double; nothing when one is not finite there. */
std::optional<Tensor> rounded(const std::vector<double>& numbers, ElementType type, Shape shape);
/** weights[outer][channel][inner] times scale[channel]; nothing when a product is not finite. They may lie unaligned
    and must not be empty; `pool` may be NULL. */
std::optional<Tensor> scaled(base::ThreadPool* pool, const Tensor& weights, int64_t outer, int64_t inner,
                             const std::vector<double>& scale);

/** True when a changed copy of the weights may be made: they are small or belong to few nodes. */
bool may_copy(const ValueInfo& weights);

}  // namespace ortolan::passes
