// Joins attention as models spell it: softmax(scale * q*k' + mask) * v becomes ortolan's Attention, which never stores
// the scores. Where q, k, v and the result are split into heads by Reshape and Transpose, it reads and writes the rows
// where they lie before and after those.
#include <algorithm>
#include <array>
#include <cmath>

#include "passes/edit.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {

constexpr int kBroadcasting = 7;
constexpr size_t kRank = 4;  // [batch, heads, rows, size]

using Permutation = std::array<int64_t, kRank>;
constexpr Permutation kSwapMiddle = {0, 2, 1, 3}, kSwapLast = {0, 1, 3, 2}, kSwapBoth = {0, 2, 3, 1};

bool has_rank(const ValueInfo* value, size_t rank) {
  return value && value->type.is_tensor() && value->type.element == ElementType::kFloat &&
         value->type.shape.has_rank() && value->type.shape.rank() == rank;
}

Dim dim(const ValueInfo* value, size_t i) { return value->type.shape[i]; }

struct Match {
  ValueInfo *q = nullptr, *k = nullptr, *v = nullptr, *mask = nullptr;  // k not transposed
  Node* keys = nullptr;                                                 // makes k'
  double scale = 1;
  Node* last = nullptr;
};

/** The node that makes `value` for one user alone and may be taken into another. */
Node* own_producer(const ValueInfo* value, std::string_view op, const PassContext& context) {
  if (!value || !used_once(*value)) return nullptr;
  Node* node = producer_of(value, op, *value->graph);
  return node && may_fuse(*node, context) ? node : nullptr;
}

/** x where `value` is x times a constant, which multiplies `scale`; else `value`. */
ValueInfo* unscaled(ValueInfo* value, double& scale, const PassContext& context) {
  for (bool divides : {false, true}) {
    const Node* node = own_producer(value, divides ? "Div" : "Mul", context);
    for (size_t at : {size_t{1}, size_t{0}}) {
      auto factor = node && (at == 1 || !divides) ? only_element(stored_input(*node, at)) : std::nullopt;
      double change = factor ? (divides ? 1 / *factor : *factor) : NAN;
      if (!std::isfinite(change)) continue;
      ValueInfo* x = operand_beside(node, divides ? "Div" : "Mul", *factor);
      if (!x || x == node->input(at)) continue;
      scale *= change;
      return x;
    }
  }
  return value;
}

bool is_last_axis(const Node& softmax) {
  int64_t axis = softmax.int_or("axis", softmax.opset >= 13 ? -1 : 1);
  return axis == -1 || axis == static_cast<int64_t>(kRank) - 1;
}

/** Finds the product of q and k' that makes `scores`. */
bool match_product(ValueInfo* scores, Match& match, const PassContext& context) {
  double scale = match.scale;
  Node* product = own_producer(unscaled(scores, scale, context), "MatMul", context);
  if (!product) return false;
  ValueInfo* transposed = unscaled(product->input(1), scale, context);
  Node* keys = transposed ? producer_of(transposed, "Transpose", product->graph()) : nullptr;
  if (!keys || !may_fuse(*keys, context) || !has_rank(keys->input(0), kRank)) return false;
  match.q = unscaled(product->input(0), scale, context);
  match.keys = keys;
  match.scale = scale;
  return has_rank(match.q, kRank) && std::isfinite(static_cast<float>(scale));
}

std::optional<Match> match_attention(Node& softmax, const PassContext& context) {
  ValueInfo *scores = softmax.input(0), *weights = softmax.output(0);
  if (!is_last_axis(softmax) || !has_rank(scores, kRank) || !used_once(*scores)) return std::nullopt;
  Match match;
  match.last = only_user(weights, "MatMul");
  if (!match.last || !may_fuse(*match.last, context) || match.last->input(0) != weights) return std::nullopt;
  match.v = match.last->input(1);
  if (!has_rank(match.v, kRank)) return std::nullopt;
  if (match_product(scores, match, context)) return match;
  Node* add = own_producer(scores, "Add", context);
  if (!add || add->opset < kBroadcasting) return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    if (!match_product(add->input(i), match, context)) continue;
    match.mask = add->input(1 - i);
    return match;
  }
  return std::nullopt;
}

bool has_permutation(const Node& transpose, const Permutation& perm) {
  return transpose.has_attribute("perm") && std::ranges::equal(transpose.ints("perm"), perm);
}

/** True when `apart`, [batch, rows, heads, size], is `joined`, [batch, rows, heads * size], with heads apart. */
bool splits(const ValueInfo* joined, const ValueInfo* apart) {
  if (!has_rank(joined, kRank - 1) || !has_rank(apart, kRank)) return false;
  Dim heads = dim(apart, 2), size = dim(apart, 3), width = dim(joined, 2);
  return dim(joined, 0).same_as(dim(apart, 0)) && dim(joined, 1).same_as(dim(apart, 1)) && heads.known() &&
         size.known() && width.known() && heads.value() > 0 && width.value() % heads.value() == 0 &&
         width.value() / heads.value() == size.value();
}

/** What a Transpose splits into heads: [batch, rows, heads * size]; NULL when it does not. */
ValueInfo* rows_before(const Node* transpose, const Permutation& perm, const PassContext& context) {
  if (!transpose || !may_fuse(*transpose, context) || !has_permutation(*transpose, perm)) return nullptr;
  const Node* reshape = producer_of(transpose->input(0), "Reshape", transpose->graph());
  if (!reshape || !may_fuse(*reshape, context) || !splits(reshape->input(0), reshape->output(0))) return nullptr;
  return reshape->input(0);
}

/** The Reshape that joins the heads of `result`, [batch, heads, rows, size], again; NULL where none alone uses it. */
Node* joining_reshape(const ValueInfo* result, const PassContext& context) {
  Node* transpose = only_user(result, "Transpose");
  if (!transpose || !may_fuse(*transpose, context) || !has_permutation(*transpose, kSwapMiddle)) return nullptr;
  Node* reshape = only_user(transpose->output(0), "Reshape");
  bool joins = reshape && may_fuse(*reshape, context) && reshape->input(0) == transpose->output(0) &&
               splits(reshape->output(0), transpose->output(0));
  return joins ? reshape : nullptr;
}

/** True when q, k and v, all [batch, heads, rows, size], surely agree without broadcasting, and the mask with them. */
bool fits(const ValueInfo* q, Dim keys, Dim key_heads, Dim key_batch, const Match& match) {
  const ValueInfo* v = match.v;
  Dim batch = dim(q, 0), heads = dim(q, 1);
  bool agree = batch.same_as(key_batch) && batch.same_as(dim(v, 0)) && heads.known() && heads.value() > 0 &&
               heads.same_as(key_heads) && heads.same_as(dim(v, 1)) && keys.same_as(dim(v, 2));
  if (!agree || !match.mask) return agree;
  const SymbolicShape& mask = match.mask->type.shape;
  if (match.mask->type.element != ElementType::kFloat || !mask.has_rank() || mask.rank() > kRank) return false;
  const Dim scores[kRank] = {batch, heads, dim(q, 2), keys};
  for (size_t i = 0; i < mask.rank(); ++i) {
    if (!mask[i].is(1) && !mask[i].same_as(scores[kRank - mask.rank() + i])) return false;
  }
  return true;
}

void replace(Node& last, const Match& match, std::vector<ValueInfo*> inputs, const PassContext& context) {
  if (match.mask) inputs.push_back(match.mask);
  auto heads = dim(match.q, 1).value();
  Node* node = replace_node(last, "Attention", "ortolan", std::move(inputs), context);
  node->set_attribute("q_num_heads", heads);
  node->set_attribute("kv_num_heads", heads);
  node->set_attribute("scale", static_cast<float>(match.scale));
}

bool fuse_attention_at(Node& softmax, const PassContext& context) {
  auto match = match_attention(softmax, context);
  if (!match) return false;
  Graph& graph = softmax.graph();
  ValueInfo* k = match->keys->input(0);
  bool by_position = has_permutation(*match->keys, kSwapBoth);
  if (!by_position && !has_permutation(*match->keys, kSwapLast)) return false;
  size_t rows = by_position ? 1 : 2, heads = by_position ? 2 : 1;
  if (!fits(match->q, dim(k, rows), dim(k, heads), dim(k, 0), *match)) return false;
  const Node* to_heads = by_position ? match->keys : producer_of(k, "Transpose", graph);
  ValueInfo* q_rows = rows_before(producer_of(match->q, "Transpose", graph), kSwapMiddle, context);
  ValueInfo* k_rows = rows_before(to_heads, by_position ? kSwapBoth : kSwapMiddle, context);
  ValueInfo* v_rows = rows_before(producer_of(match->v, "Transpose", graph), kSwapMiddle, context);
  Node* reshape = joining_reshape(match->last->output(0), context);
  if (q_rows && k_rows && v_rows && reshape) {
    replace(*reshape, *match, {q_rows, k_rows, v_rows}, context);
  } else if (!by_position) {
    replace(*match->last, *match, {match->q, k, match->v}, context);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool fuse_attention(Graph& graph, const PassContext& context) {
  bool changed = false;
  for (size_t i = 0, count = graph.nodes().size(); i < count; ++i) {
    Node& node = *graph.nodes()[i];
    if (is_op(node, "Softmax") && may_fuse(node, context) && is_used(node)) changed |= fuse_attention_at(node, context);
  }
  return changed;
}

}  // namespace ortolan::passes
