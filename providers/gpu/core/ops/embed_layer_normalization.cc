// com.microsoft.EmbedLayerNormalization: sums of rows of tables, normalised.
#include "gpu/core/elements/moves.h"
#include "gpu/core/elements/row_items.h"

namespace ortolan::gpu {
namespace {

enum Input : size_t { kWords, kSegments, kWordTable, kPlaceTable, kSegmentTable, kScale, kShift, kMask, kPlaces };

bool has_segments(const Node& node) { return node.has_input(kSegments) && node.has_input(kSegmentTable); }

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, kWordTable, {ElementType::kFloat, ElementType::kFloat16});
  for (size_t i : {kPlaceTable, kSegmentTable, kScale, kShift}) {
    if (refusal.empty() && candidate.has(i)) refusal = refuse_unless(candidate, i, {candidate.type(kWordTable)});
  }
  for (size_t i : {kWords, kSegments, kMask, kPlaces}) {
    if (refusal.empty() && candidate.has(i)) refusal = refuse_unless(candidate, i, {ElementType::kInt32});
  }
  return refusal;
}

void check(const Lowering& l, int64_t hidden) {
  const Shape &ids = l.shape(kWords), &words = l.shape(kWordTable), &places = l.shape(kPlaceTable);
  if (ids.size() != 2 || words.size() != 2 || places.size() != 2) l.fail("input_ids and the tables must have rank 2");
  bool fits = places[1] == hidden && l.count(kScale) == hidden && l.count(kShift) == hidden;
  if (has_segments(l.node())) {
    const Shape& segments = l.shape(kSegmentTable);
    fits = fits && l.shape(kSegments) == ids && segments.size() == 2 && segments[1] == hidden;
  }
  if (l.has(kPlaces)) fits = fits && (l.count(kPlaces) == ids[1] || l.count(kPlaces) == ids[0] * ids[1]);
  if (l.has(kMask)) fits = fits && l.count(kMask) == ids[0] * ids[1];
  if (!fits) l.fail("its inputs do not fit input_ids in batch and sequence, or word_embedding in hidden size");
}

void count_mask(Lowering& l, int64_t batch, int64_t sequence) {
  Memory counts = l.output(1, ElementType::kInt32, {batch});
  if (!l.has(kMask)) return fill(l, counts, 4, batch, {});
  l.call("count_ones")
      .group(1)
      .rounds(sequence)
      .read(l.input(kMask))
      .write(counts)
      .params(batch, sequence)
      .run_items(batch);
}

void lower(Lowering& l) {
  int64_t hidden = l.shape(kWordTable).back();
  check(l, hidden);
  int64_t batch = l.shape(kWords)[0], sequence = l.shape(kWords)[1];
  ElementType type = l.type(kWordTable);
  Shape shape = {batch, sequence, hidden};
  auto optional = [&](size_t i) { return l.input(l.has(i) ? i : kWords); };
  bool segments = has_segments(l.node());
  int64_t words = l.shape(kWordTable)[0], places = l.shape(kPlaceTable)[0];
  int64_t kinds = segments ? l.shape(kSegmentTable)[0] : 0, rows = batch * sequence;
  if (rows > 0 && (words == 0 || places == 0 || (segments && kinds == 0))) l.fail("a table has no rows");
  ErrorBit error = l.error("an id is outside of its table of " + std::to_string(words) + " words, " +
                           std::to_string(places) + " places or " + std::to_string(kinds) + " segments");
  KernelCall call = l.call("embed_layer_norm");
  call.row_group(hidden).constant("HALF", type == ElementType::kFloat16).constant("SEGMENTS", segments);
  call.constant("PLACES", l.has(kPlaces)).constant("TOTAL", l.node().has_output(2));
  call.read(l.input(kWords)).read(optional(kSegments)).read(optional(kPlaces)).read(l.input(kWordTable));
  call.read(l.input(kPlaceTable)).read(optional(kSegmentTable)).read(l.input(kScale)).read(l.input(kShift));
  call.write(l.output(0, type, shape)).write(l.node().has_output(2) ? l.output(2, type, shape) : l.scratch(4));
  call.write(error.word);
  call.params(hidden, sequence, l.has(kPlaces) ? l.count(kPlaces) : sequence, words, places, kinds,
              l.node().number("epsilon", 1e-12f), error.bit);
  call.run(hidden == 0 ? 0 : rows);
  if (l.node().has_output(1)) count_mask(l, batch, sequence);
}

constexpr Operator kRows[] = {{"com.microsoft", "EmbedLayerNormalization", 1, kNewest, refuse, lower}};

}  // namespace

std::span<const Operator> embed_layer_normalization_operators() { return kRows; }

}  // namespace ortolan::gpu
