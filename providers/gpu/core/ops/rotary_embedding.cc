// RotaryEmbedding: pairs of each head's elements are turned by angles that depend on the position. ONNX's has the
// positions last, com.microsoft's first.
#include "gpu/core/attention/attention_plan.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

struct Places {
  size_t cosine, sine, ids;
};
constexpr Places kOnnx = {1, 2, 3}, kMicrosoft = {2, 3, 1};

const Places& places_of(const Node& node) { return node.domain.empty() ? kOnnx : kMicrosoft; }

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
  if (!refusal.empty()) return refusal;
  const Places& places = places_of(candidate.node());
  for (size_t i : {places.cosine, places.sine}) {
    refusal = refuse_unless(candidate, i, {candidate.type(0)});
    if (!refusal.empty()) return refusal;
  }
  return "";
}

void take_positions(Lowering& l, Rotary& rotary, const FreshRows& fresh) {
  size_t ids = places_of(l.node()).ids;
  const Shape tokens = {fresh.batch, fresh.rows};
  if (!l.has(ids)) return;  // the caches have a row for each token
  bool one = l.shape(ids) != tokens;
  if (one && (l.node().domain.empty() || l.count(ids) != 1))
    l.fail("position_ids have " + std::to_string(l.count(ids)) + " elements; they need one for each token");
  rotary.positions = one ? Rotary::kFirstId : Rotary::kIds;
  rotary.ids = l.input(ids);
}

Rotary rotary_of(Lowering& l) {
  const Places& places = places_of(l.node());
  const Shape& cache = l.shape(places.cosine);
  if (cache.size() < 2 || cache != l.shape(places.sine)) l.fail("cos_cache and sin_cache differ in shape");
  Rotary rotary;
  rotary.pairs = cache.back();
  rotary.length = element_count(cache, 0, cache.size() - 1);
  rotary.interleaved = l.node().integer("interleaved", 0) != 0;
  rotary.cosine = l.input(places.cosine);
  rotary.sine = l.input(places.sine);
  return rotary;
}

/** Without num_heads, the caches say how long a head of com.microsoft's is. */
int64_t heads_of(const Lowering& l, int64_t pairs) {
  const Shape& x = l.shape(0);
  if (x.size() == 4) return x[1];
  int64_t heads = l.node().integer("num_heads", 0);
  if (heads == 0 && !l.node().domain.empty() && pairs > 0) heads = x[2] / (2 * pairs);
  if (heads <= 0 || x[2] % heads != 0)
    l.fail("rows of " + std::to_string(x[2]) + " elements do not split into " + std::to_string(heads) + " heads");
  return heads;
}

FreshRows rows_of(Lowering& l, const Rotary& rotary) {
  const Shape& x = l.shape(0);
  if (x.size() != 3 && x.size() != 4) l.fail("the input has rank " + std::to_string(x.size()) + "; it needs 3 or 4");
  FreshRows fresh{};
  fresh.batch = x[0], fresh.heads = heads_of(l, rotary.pairs), fresh.rows = x[x.size() - 2];
  fresh.size = x.size() == 4 ? x[3] : x[2] / fresh.heads;
  fresh.from = (x.size() == 4 ? rows_by_head : rows_by_position)(l.input(0), fresh.heads, fresh.rows, fresh.size);
  int64_t turned = l.node().integer("rotary_embedding_dim", 0);
  if (2 * rotary.pairs != (turned == 0 ? fresh.size : turned) || 2 * rotary.pairs > fresh.size)
    l.fail("the caches turn " + std::to_string(2 * rotary.pairs) + " elements of a head of " +
           std::to_string(fresh.size));
  return fresh;
}

void lower(Lowering& l) {
  Rotary rotary = rotary_of(l);
  FreshRows fresh = rows_of(l, rotary);
  take_positions(l, rotary, fresh);
  bool enough = rotary.positions != Rotary::kRow || rotary.length == fresh.batch * fresh.rows;
  if (!enough) l.fail("cos_cache has no row for each token");
  fresh.rotary = rotary;
  HeadRows to = fresh.from;
  to.memory = l.output(0, l.shape(0));
  rotate_rows(l, fresh, to);
}

constexpr Operator kRows[] = {
    {"", "RotaryEmbedding", 23, kNewest, refuse, lower},
    {"com.microsoft", "RotaryEmbedding", 1, kNewest, refuse, lower},
};

}  // namespace

std::span<const Operator> rotary_embedding_operators() { return kRows; }

}  // namespace ortolan::gpu
