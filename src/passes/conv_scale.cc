// Folds what follows a convolution channel by channel into its weights and bias: BatchNormalization in inference, and
// Mul and Add by constants of one value a channel.
#include <cmath>
#include <optional>
#include <vector>

#include "passes/edit.h"
#include "passes/pass.h"

namespace ortolan::passes {
namespace {

/** y = x * scale + shift, each of one number a channel. */
struct Affine {
  std::vector<double> scale;
  std::vector<double> shift;
};

/** The numbers of a float or double constant with `count` elements. */
std::optional<std::vector<double>> numbers(const Tensor* tensor, int64_t count) {
  if (!tensor || !kFloat32And64.contains(tensor->type()) || tensor->element_count() != count) return std::nullopt;
  return dispatch<kFloat32And64>(tensor->type(), [&]<class T>(TypeTag<T>) {
    auto values = tensor->span<T>();
    return std::vector<double>(values.begin(), values.end());
  });
}

/** Before training_mode, it was the further outputs that asked for training. */
bool has_one_output(const Node& node) {
  for (size_t i = 1; i < node.outputs().size(); ++i) {
    if (node.output(i)) return false;
  }
  return true;
}

std::optional<Affine> from_batch_normalization(const Node& node, int64_t channels) {
  if (!has_one_output(node) || node.opset < 7 || node.int_or("training_mode", 0) != 0) return std::nullopt;
  if (node.opset < 9 && node.int_or("spatial", 1) != 1) return std::nullopt;
  auto gamma = numbers(constant_input(node, 1), channels), beta = numbers(constant_input(node, 2), channels);
  auto mean = numbers(constant_input(node, 3), channels), variance = numbers(constant_input(node, 4), channels);
  if (!gamma || !beta || !mean || !variance) return std::nullopt;
  double epsilon = node.float_or("epsilon", 1e-5f);
  Affine affine;
  for (size_t i = 0; i < gamma->size(); ++i) {
    double scale = (*gamma)[i] / std::sqrt((*variance)[i] + epsilon);
    affine.scale.push_back(scale);
    affine.shift.push_back((*beta)[i] - (*mean)[i] * scale);
  }
  return affine;
}

/** True when a constant of this shape gives each channel (axis 1 of `rank`) one value and nothing else. */
bool is_per_channel(const Shape& shape, int64_t channels, size_t rank) {
  if (shape.rank() > rank || shape.rank() + 1 < rank) return false;
  size_t offset = rank - shape.rank();
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (shape[i] != (i + offset == 1 ? channels : 1)) return false;
  }
  return true;
}

std::optional<Affine> from_arithmetic(const Node& node, const ValueInfo& convolved, int64_t channels, size_t rank) {
  if (node.opset < 7) return std::nullopt;
  size_t other = node.input(0) == &convolved ? 1 : 0;
  const Tensor* tensor = constant_input(node, other);
  if (!tensor || !is_per_channel(tensor->shape(), channels, rank)) return std::nullopt;
  auto values = numbers(tensor, channels);
  if (!values) return std::nullopt;
  std::vector<double> zeros(values->size(), 0.0), ones(values->size(), 1.0);
  if (is_op(node, "Mul")) return Affine{std::move(*values), std::move(zeros)};
  return Affine{std::move(ones), std::move(*values)};
}

std::optional<Affine> affine_after(const Node& node, const ValueInfo& convolved, int64_t channels, size_t rank) {
  if (is_op(node, "BatchNormalization") && node.input(0) == &convolved) return from_batch_normalization(node, channels);
  if (is_op(node, "Mul") || is_op(node, "Add")) return from_arithmetic(node, convolved, channels, rank);
  return std::nullopt;
}

bool is_finite(const Affine& affine) {
  for (size_t i = 0; i < affine.scale.size(); ++i) {
    if (!std::isfinite(affine.scale[i]) || !std::isfinite(affine.shift[i])) return false;
  }
  return true;
}

template <class T>
Tensor scaled_weights(const Tensor& weights, const std::vector<double>& scale) {
  Tensor result(weights.type(), weights.shape());
  const T* from = weights.data<T>();
  T* to = result.mutable_data<T>();
  int64_t inner = weights.shape().count_from(1);
  for (size_t channel = 0; channel < scale.size(); ++channel) {
    for (int64_t i = 0; i < inner; ++i) *to++ = static_cast<T>(static_cast<double>(*from++) * scale[channel]);
  }
  return result;
}

void apply(Node& conv, const Affine& affine) {
  Graph& graph = conv.graph();
  const Tensor& weights = *constant_input(conv, 1);
  const Tensor* bias = constant_input(conv, 2);
  auto channels = static_cast<int64_t>(affine.scale.size());
  dispatch<kFloat32And64>(weights.type(), [&]<class T>(TypeTag<T>) {
    Tensor shifted(weights.type(), Shape{channels});
    for (size_t i = 0; i < affine.scale.size(); ++i) {
      double before = bias ? static_cast<double>(bias->data<T>()[i]) : 0.0;
      shifted.mutable_data<T>()[i] = static_cast<T>(before * affine.scale[i] + affine.shift[i]);
    }
    bool unscaled = std::ranges::all_of(affine.scale, [](double scale) { return scale == 1.0; });
    if (!unscaled) {
      std::string name = graph.unique_name(conv.input(1)->name);
      conv.set_input(1, graph.add_initializer(name, scaled_weights<T>(weights, affine.scale)));
    }
    std::string stem = conv.input(2) ? conv.input(2)->name : conv.input(1)->name + "_bias";
    conv.set_input(2, graph.add_initializer(graph.unique_name(stem), std::move(shifted)));
  });
}

bool fold_after(Node& conv) {
  ValueInfo* convolved = conv.output(0);
  const Tensor* weights = conv.input(1) ? conv.input(1)->stored_constant() : nullptr;
  if (!convolved || !used_once(*convolved) || !weights || !kFloat32And64.contains(weights->type())) return false;
  if (weights->rank() < 3 || weights->shape()[0] == 0) return false;
  int64_t channels = weights->shape()[0];
  if (conv.input(2)) {
    const Tensor* bias = constant_input(conv, 2);
    if (!bias || bias->type() != weights->type() || bias->element_count() != channels) return false;
  }
  Node& next = *convolved->consumers[0];
  auto affine = affine_after(next, *convolved, channels, weights->rank());
  if (!affine || !is_finite(*affine) || !is_used(next)) return false;
  apply(conv, *affine);
  return bypass(next, convolved);
}

}  // namespace

bool fold_conv_scale(Graph& graph, const PassContext&) {
  bool changed = false;
  // A convolution may be followed by several such nodes, one after the other.
  for (const auto& node : graph.nodes()) {
    if (!is_op(*node, "Conv")) continue;
    while (fold_after(*node)) changed = true;
  }
  return changed;
}

}  // namespace ortolan::passes
