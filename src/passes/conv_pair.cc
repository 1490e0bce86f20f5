// Joins a depthwise Conv with the 1x1 Conv that makes its input for it alone: PointwiseDepthwiseConv keeps the values
// between, which are the largest of such networks, in the caches.
#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

constexpr size_t kImageRank = 4;

/** A Conv of floats with constant weights of two spatial dimensions and nothing but an activation after it. */
bool is_plain_conv(const Node& node, const PassContext& context) {
  const bool is_conv = node.op_type == "Conv" && (node.domain.empty() || node.domain == "ortolan");
  if (!is_conv || !may_fuse(node, context) || node.input(3) || !node.input(0)) return false;
  const TypeInfo& type = node.output(0)->type;
  const Tensor* weights = stored_input(node, 1);
  return type.is_tensor() && type.element == ElementType::kFloat && weights && weights->rank() == kImageRank &&
         weights->element_count() > 0;
}

bool is_all(const std::vector<int64_t>& values, int64_t value) {
  return std::ranges::all_of(values, [&](int64_t v) { return v == value; });
}

bool is_pointwise(const Node& conv) {
  const Shape& w = stored_input(conv, 1)->shape();
  return w[2] == 1 && w[3] == 1 && conv.int_or("group", 1) == 1 && is_all(conv.ints("strides"), 1) &&
         is_all(conv.ints("pads"), 0);
}

bool is_depthwise_of(const Node& conv, int64_t channels) {
  const Shape& w = stored_input(conv, 1)->shape();
  return channels > 1 && w[0] == channels && w[1] == 1 && conv.int_or("group", 1) == channels;
}

/** Whether the channels of an image, where they are known, could leave a core's caches. */
bool may_be_large(const SymbolicShape& image) {
  constexpr int64_t kSmallCache = 512 << 10;
  if (!image.has_rank() || image.rank() != kImageRank) return false;
  Dim floats = multiply(image[1], multiply(image[2], image[3]));
  return !floats.known() || floats.value() > kSmallCache / static_cast<int64_t>(sizeof(float));
}

void move_activation(const Node& from, Node& to) {
  if (!from.has_attribute("ortolan.activation")) return;
  to.set_attribute("ortolan.first_activation", std::string(from.string_or("ortolan.activation", "")));
  const std::vector<float>& parameters = from.floats("ortolan.activation_params");
  if (!parameters.empty()) to.set_attribute("ortolan.first_activation_params", parameters);
}

bool fuse_conv_pair_at(Node& node, const PassContext& context) {
  if (!is_plain_conv(node, context) || !is_used(node)) return false;
  ValueInfo* between = node.input(0);
  if (!between->producer || between->graph != &node.graph() || !used_once(*between)) return false;
  Node& first = *between->producer;
  if (!is_plain_conv(first, context) || !is_pointwise(first) || !may_be_large(between->type.shape)) return false;
  if (!is_depthwise_of(node, stored_input(first, 1)->shape()[0])) return false;
  move_activation(first, node);
  node.op_type = "PointwiseDepthwiseConv";
  node.domain.clear();
  std::vector<ValueInfo*> inputs{first.input(0), node.input(1), first.input(1), node.input(2), first.input(2)};
  while (!inputs.back()) inputs.pop_back();
  for (size_t i = 0; i < inputs.size(); ++i) node.set_input(i, inputs[i]);
  make_own(node, context);
  return true;
}

}  // namespace

bool fuse_conv_pairs(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (const auto& node : graph.nodes()) changed |= fuse_conv_pair_at(*node, context);
  return changed;
}

}  // namespace ortolan::passes
