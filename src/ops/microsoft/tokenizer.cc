// Tokenizer: each string of [C] or [N, C] becomes a row of tokens: what separators (regular expressions) leave, what
// one expression matches, or single characters. Rows end in pad_value up to the longest.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

/** An empty input gives [0] or [N, 0]. */
void tokenizer(InferContext& context) {
  context.require_rank(0, 1, 2);
  const SymbolicShape& input = context.shape(0);
  if (!input.has_rank() || !input.fully_known()) return context.set_output(0, ElementType::kString, {});
  DimVector dims = input.dims();
  bool empty = input.element_count().is(0);
  if (empty) {
    dims.back() = 0;
  } else {
    dims.push_back(Dim());
  }
  context.set_output(0, ElementType::kString, dims);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "Tokenizer", 1, kLatest, 1, 1, tokenizer, {{0, ElementType::kString}}},
};

}  // namespace

extern const SchemaTable tokenizer_rows;
const SchemaTable tokenizer_rows(kRows);
}  // namespace ortolan::ops::microsoft
