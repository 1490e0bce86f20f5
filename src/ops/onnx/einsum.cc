// Einsum: sums of products over dimensions that an equation labels, as "bij,bjk->bik".
#include <map>

#include "ops/einsum_equation.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** Of two dimensions with one label: equal, or one of them 1. */
Dim merged(Dim a, Dim b, EinsumLabel label) {
  if (a.is(1)) return b;
  if (b.is(1) || a.same_as(b)) return a;
  if (a.known() && b.known()) {
    fail(ErrorCode::kInvalidArgument, "dimensions ", a.value(), " and ", b.value(), " have one label",
         label < kEllipsisLabel ? join(" '", static_cast<char>(label), "'") : "", " but different sizes");
  }
  if (a.known() && a.value() > 1) return a;
  return b.known() && b.value() > 1 ? b : Dim{};
}

void einsum_shape(InferContext& context) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < context.input_count(); ++i) {
    if (!context.has_shape(i)) return context.set_output(0, context.element(0), {});
    ranks.push_back(context.shape(i).rank());
  }
  EinsumTerms terms = einsum_terms(context.node().string_of("equation"), ranks);
  std::map<EinsumLabel, Dim> sizes;
  for (size_t i = 0; i < ranks.size(); ++i) {
    for (size_t d = 0; d < ranks[i]; ++d) {
      EinsumLabel label = terms.inputs[i][d];
      auto [at, is_new] = sizes.emplace(label, context.shape(i)[d]);
      if (!is_new) at->second = merged(at->second, context.shape(i)[d], label);
    }
  }
  DimVector dims;
  for (EinsumLabel label : terms.output) dims.push_back(sizes.at(label));
  context.set_output(0, context.element(0), SymbolicShape(std::move(dims)));
}

constexpr SchemaRow kRows[] = {{"",
                                "Einsum",
                                12,
                                kLatest,
                                {1, kVariadic},
                                1,
                                einsum_shape,
                                {{0, kNumericTypes, 'T'}, {kTheRest, kNumericTypes, 'T'}}}};

}  // namespace

extern const SchemaTable einsum_rows;
constinit const SchemaTable einsum_rows(kRows);

}  // namespace ortolan::ops::onnx
