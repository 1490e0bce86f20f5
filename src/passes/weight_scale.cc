// Takes arithmetic of one value a channel (BatchNormalization in inference, constant Mul, Div, Add, Sub) into the
// weights and bias of the Conv or Gemm before it, and BatchNormalization into those of an unpadded Conv after it.
// Numbers are computed in double and rounded once.
#include <algorithm>

#include "base/memory/mapped_file.h"
#include "passes/basic.h"
#include "passes/channel_affine.h"

namespace ortolan::passes {
namespace {

/** A Conv or Gemm with constant weights seen as [outer][channel][inner], where channels are those of the result. */
struct Weighted {
  Node* node = nullptr;
  const Tensor* weights = nullptr;  // as stored: for type and shape
  const Tensor* bias = nullptr;     // one value a channel, or NULL
  int64_t channels = 0;
  int64_t outer = 1;
  int64_t inner = 1;
};

/** False when the node has a bias that is not constant, or not one value a channel. */
bool find_bias(Weighted& weighted) {
  if (!weighted.node->input(2)) return true;
  weighted.bias = constant_input(*weighted.node, 2);
  if (!weighted.bias || weighted.bias->type() != weighted.weights->type()) return false;
  const Shape& shape = weighted.bias->shape();
  bool row = shape.rank() == 1 || (shape.rank() == 2 && shape[0] == 1);
  return row && shape.element_count() == weighted.channels;
}

std::optional<Weighted> weighted_node(Node& node) {
  bool gemm = is_op(node, "Gemm");
  if (!gemm && !is_op(node, "Conv")) return std::nullopt;
  if (!node.output(0) || !node.input(1) || !used_once(*node.output(0))) return std::nullopt;
  const Tensor* weights = stored_input(node, 1);
  if (!weights || !kFloat32And64.contains(weights->type()) || weights->element_count() == 0) return std::nullopt;
  const Shape& shape = weights->shape();
  Weighted weighted{&node, weights};
  if (gemm) {
    bool plain = node.opset >= 7 && shape.rank() == 2 && (!node.input(2) || node.float_or("beta", 1) == 1);
    if (!plain) return std::nullopt;
    bool transposed = node.int_or("transB", 0) != 0;
    weighted.channels = shape[transposed ? 0 : 1];
    weighted.outer = transposed ? 1 : shape[0];
    weighted.inner = transposed ? shape[1] : 1;
  } else {
    if (shape.rank() < 3) return std::nullopt;
    weighted.channels = shape[0];
    weighted.inner = shape.count_from(1);
  }
  if (!may_copy(*node.input(1)) || !find_bias(weighted)) return std::nullopt;
  return weighted;
}

void set_constant(Node& node, size_t i, std::string_view stem, Tensor content) {
  Graph& graph = node.graph();
  node.set_input(i, graph.add_initializer(graph.unique_name(stem), std::move(content)));
}

void set_bias(Node& node, Tensor bias) {
  set_constant(node, 2, node.input(2) ? node.input(2)->name : node.input(1)->name + "_bias", std::move(bias));
  if (node.op_type == "Gemm") node.set_attribute("beta", 1.0f);
}

/** Lets go of the memory that reading the weights took, where they lie in a file: other weights stand in for them. */
void release_pages(const Tensor& weights, const PassContext& context) {
  for (const auto& file : context.files) {
    if (file->contains(weights.raw())) {
      file->release({static_cast<const std::byte*>(weights.raw()), weights.byte_count()});
    }
  }
}

bool fold_after(Node& node, const PassContext& context) {
  auto weighted = weighted_node(node);
  if (!weighted) return false;
  size_t rank = weighted->weights->rank();
  AffineChain chain = affine_after(*node.output(0), weighted->channels, rank);
  if (chain.nodes.empty()) return false;
  const Affine& affine = chain.affine;
  std::vector<double> shift = affine.shift;
  if (weighted->bias) {
    auto before = *numbers(weighted->bias, weighted->channels);
    for (size_t i = 0; i < shift.size(); ++i) shift[i] += before[i] * affine.scale[i];
  }
  auto bias = rounded(shift, weighted->weights->type(), Shape{weighted->channels});
  std::optional<Tensor> weights;
  if (!affine.only_shifts()) {
    weights = scaled(context.threads, *stored_input(node, 1), weighted->outer, weighted->inner, affine.scale);
  }
  if (!bias || (!weights && !affine.only_shifts())) return false;
  set_bias(node, std::move(*bias));
  if (weights) {
    release_pages(*weighted->weights, context);
    set_constant(node, 1, node.input(1)->name, std::move(*weights));
  }
  for (Node* next : chain.nodes) bypass(*next, node.output(0));
  return true;
}

bool is_unpadded(const Node& conv) {
  auto pads = conv.ints("pads");
  std::string_view automatic = conv.string_or("auto_pad", "NOTSET");
  bool none = automatic == "VALID" || automatic == "NOTSET" || automatic.empty();
  return none && std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; });
}

/** Conv(x * scale + shift): each weight is scaled by its input channel, and the shifts' sums go to the bias. */
bool apply_before(Node& conv, const Tensor& weights, const Tensor* bias, const Affine& affine) {
  const Shape& shape = weights.shape();
  int64_t outputs = shape[0], inputs = shape[1], taps = shape.count_from(2);
  int64_t group_outputs = outputs / (static_cast<int64_t>(affine.scale.size()) / inputs);
  std::vector<double> sums(static_cast<size_t>(outputs), 0.0), products;
  if (bias) sums = *numbers(bias, outputs);
  auto numbers_before = *numbers(&weights, weights.element_count());
  products.reserve(numbers_before.size());
  for (int64_t o = 0, at = 0; o < outputs; ++o) {
    for (int64_t i = 0; i < inputs; ++i) {
      auto channel = static_cast<size_t>(o / group_outputs * inputs + i);
      for (int64_t tap = 0; tap < taps; ++tap, ++at) {
        double weight = numbers_before[static_cast<size_t>(at)];
        products.push_back(weight * affine.scale[channel]);
        sums[static_cast<size_t>(o)] += weight * affine.shift[channel];
      }
    }
  }
  auto new_weights = rounded(products, weights.type(), shape);
  auto new_bias = rounded(sums, weights.type(), Shape{outputs});
  if (!new_weights || !new_bias) return false;
  set_bias(conv, std::move(*new_bias));
  set_constant(conv, 1, conv.input(1)->name, std::move(*new_weights));
  return true;
}

bool fold_before(Node& conv, const Graph& graph) {
  Node* normalization = producer_of(conv.input(0), "BatchNormalization", graph);
  const Tensor* weights = stored_input(conv, 1);
  if (!normalization || !normalization->input(0) || !used_once(*conv.input(0)) || !weights) return false;
  const Shape& shape = weights->shape();
  int64_t groups = conv.int_or("group", 1);
  if (!is_unpadded(conv) || !kFloat32And64.contains(weights->type()) || shape.rank() < 3) return false;
  if (weights->element_count() == 0 || groups <= 0 || groups > shape[0] || shape[0] % groups != 0) return false;
  if (!may_copy(*conv.input(1))) return false;
  const Tensor* bias = constant_input(conv, 2);
  if (conv.input(2) && !numbers(bias, shape[0])) return false;
  if (bias && bias->type() != weights->type()) return false;
  auto affine = affine_of(*normalization, *normalization->input(0), checked_mul(shape[1], groups), shape.rank());
  if (!affine || !apply_before(conv, *constant_input(conv, 1), bias, *affine)) return false;
  return bypass(*normalization, normalization->input(0));
}

}  // namespace

bool fold_into_weights(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (const auto& node : graph.nodes()) {
    if (!is_used(*node)) continue;
    changed |= fold_after(*node, context);
    if (is_op(*node, "Conv")) changed |= fold_before(*node, graph);
  }
  return changed;
}

}  // namespace ortolan::passes
