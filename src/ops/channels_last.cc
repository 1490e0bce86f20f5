// Operators whose data has its channels last: what providers get that prefer them so.
#include "ops/channels_last.h"

#include <algorithm>
#include <mutex>
#include <numeric>

#include "ops/infer_context.h"

namespace ortolan::ops {
namespace {

constexpr std::string_view kWithChannels[] = {
    "BatchNormalization", "InstanceNormalization", "Conv",          "QLinearConv",
    "ConvTranspose",      "AveragePool",           "LpPool",        "MaxPool",
    "GlobalLpPool",       "GlobalAveragePool",     "GlobalMaxPool", "LRN",
    "GridSample",         "DepthToSpace",          "SpaceToDepth"};

struct ChannelsLastRow : SchemaRow {
  const SchemaRow* first;
};

TypeInfo to_first(const TypeInfo& type) { return in_order(type, order_to_channels_first(type.shape.rank())); }
TypeInfo to_last(const TypeInfo& type) { return in_order(type, order_to_channels_last(type.shape.rank())); }

/** The rule of the operator that the row stands for, asked about the same data with its channels second. */
void channels_last_rule(InferContext& context) {
  std::vector<InferInput> inputs(context.input_count());
  for (size_t i = 0; i < inputs.size(); ++i) {
    inputs[i].present = context.has_input(i);
    inputs[i].type = i == 0 ? to_first(context.input_type(i)) : context.input_type(i);
    inputs[i].value = i == 0 ? nullptr : context.value(i);
  }
  std::vector<InferOutput> outputs(context.output_count());
  for (size_t i = 0; i < outputs.size(); ++i) outputs[i].wanted = context.has_output(i);
  InferContext first(context.node(), inputs, outputs);
  channels_first_schema(*context.node().schema).rule(first);
  for (size_t i = 0; i < outputs.size(); ++i) {
    context.set_type(i, i == 0 ? to_last(outputs[i].type) : std::move(outputs[i].type));
  }
}

}  // namespace

bool can_put_channels_last(const Node& node) {
  bool known = node.domain.empty() && std::ranges::find(kWithChannels, node.op_type) != std::end(kWithChannels);
  if (!known || node.schema == nullptr || node.input(0) == nullptr || node.output(0) == nullptr) return false;
  bool gives_indices = node.op_type == "MaxPool" && node.output(1) != nullptr;  // which count in the dimensions' order
  if (gives_indices) return false;
  const SymbolicShape &from = node.input(0)->type.shape, &to = node.output(0)->type.shape;
  return from.has_rank() && from.rank() >= 3 && to.has_rank() && to.rank() == from.rank();
}

bool has_channels_last(const Node& node) { return node.schema != nullptr && node.schema->rule == channels_last_rule; }

const SchemaRow& channels_last_schema(const SchemaRow& row) {
  static auto* const mutex = new std::mutex;
  static auto* const rows = new std::unordered_map<const SchemaRow*, std::unique_ptr<ChannelsLastRow>>;
  std::lock_guard lock(*mutex);
  std::unique_ptr<ChannelsLastRow>& made = (*rows)[&row];
  if (made == nullptr) {
    made = std::make_unique<ChannelsLastRow>(ChannelsLastRow{row, &row});
    made->domain = kChannelsLastDomain;
    made->rule = channels_last_rule;
  }
  return *made;
}

const SchemaRow& channels_first_schema(const SchemaRow& row) { return *static_cast<const ChannelsLastRow&>(row).first; }

std::vector<int64_t> order_to_channels_last(size_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (rank > 2) std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

std::vector<int64_t> order_to_channels_first(size_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (rank > 2) std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return order;
}

TypeInfo in_order(TypeInfo type, const std::vector<int64_t>& order) {
  if (!type.shape.has_rank() || type.shape.rank() != order.size()) return type;
  const DimVector before = type.shape.dims();
  for (size_t i = 0; i < order.size(); ++i) type.shape[i] = before[static_cast<size_t>(order[i])];
  return type;
}

}  // namespace ortolan::ops
