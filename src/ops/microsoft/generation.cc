// Generation of token sequences by decoder graphs: BeamSearch keeps the best of several sequences an entry of the
// batch, GreedySearch always takes the best token, Sampling draws it; WhisperBeamSearch starts from audio features.
#include "ops/generation_layout.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void infer_graphs(InferContext& context) {
  GenerationLayout layout(context.node());
  for (const char* attribute : {"encoder", "init_decoder", "decoder"}) {
    if (!context.node().has_attribute(attribute)) continue;
    bool used = layout.is_gpt() ? attribute[0] != 'e' : attribute[0] != 'i';
    std::vector<TypeInfo> feeds;
    if (used) feeds = generation_feeds(context.node(), layout, attribute, context.element(0));
    context.infer_subgraph(attribute, feeds);
  }
}

/** Input i, a single number, where known. */
Dim number(const InferContext& context, size_t i) {
  auto values = context.int64s(i);
  return values && values->size() == 1 ? Dim((*values)[0]) : Dim{};
}

Dim batch(InferContext& context) {
  size_t rank = context.node().int_or("model_type", context.node().op_type == "WhisperBeamSearch" ? 2 : 0) == 2 ? 3 : 2;
  context.require_rank(0, rank, rank);
  return context.has_shape(0) ? context.shape(0)[0] : Dim{};
}

void beam_search(InferContext& context) {
  infer_graphs(context);
  Dim entries = batch(context), returned = number(context, 4);
  ElementType scores = context.element(5) == ElementType::kUndefined ? ElementType::kFloat : context.element(5);
  context.set_output(0, ElementType::kInt32, DimVector{entries, returned, number(context, 1)});
  context.set_output(1, scores, DimVector{entries, returned});
  context.set_output(2, scores, DimVector{Dim{}, entries, number(context, 3), Dim{}});
  context.set_output(3, ElementType::kFloat, SymbolicShape::of_rank(5));
  context.set_output(4, scores, DimVector{entries});
}

void greedy_search(InferContext& context) {
  infer_graphs(context);
  Dim entries = batch(context);
  context.set_output(0, ElementType::kInt32, DimVector{entries, number(context, 1)});
  context.set_output(1, ElementType::kFloat, DimVector{entries, Dim{}});
}

constexpr TypeSet kScores = ElementType::kFloat | ElementType::kFloat16;
constexpr TypeSet kFirst = kScores | ElementType::kInt32;
constexpr SchemaRow row(const char* name, Arity inputs, Arity outputs, ShapeRule rule, int8_t first_score,
                        int8_t last_score) {
  return {"com.microsoft",
          name,
          1,
          kLatest,
          inputs,
          outputs,
          rule,
          {{0, kFirst}, {1, ElementType::kInt32}, {first_score, kScores, 'T'}, {last_score, kScores, 'T'}},
          kStatedShapes};
}

constexpr SchemaRow kRows[] = {
    row("BeamSearch", {5, 12}, {1, 3}, beam_search, 5, 6),
    row("WhisperBeamSearch", {5, 15}, {1, 5}, beam_search, 5, 6),
    row("GreedySearch", {2, 7}, 1, greedy_search, 3, 3),
    row("Sampling", {2, 9}, {1, 2}, greedy_search, 3, 3),
};

}  // namespace

extern const SchemaTable generation_rows;
const SchemaTable generation_rows(kRows);

}  // namespace ortolan::ops::microsoft
