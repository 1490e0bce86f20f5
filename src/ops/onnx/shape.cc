// Shape gives the dimensions of a tensor (from opset 15 a range of them: start, end), Size the number of elements.
#include "ops/infer_context.h"

namespace ortolan::ops::onnx {
namespace {

int64_t clamped(int64_t position, int64_t rank) {
  if (position < 0) position += rank;
  return std::clamp<int64_t>(position, 0, rank);
}

void shape_rule(InferContext& context) {
  if (!context.has_shape(0)) {
    context.set_output(0, ElementType::kInt64, DimVector{Dim{}});
    return;
  }
  const DimVector& dims = context.shape(0).dims();
  auto rank = static_cast<int64_t>(dims.size());
  int64_t first = clamped(context.node().int_or("start", 0), rank);
  int64_t last = std::max(first, clamped(context.node().int_or("end", rank), rank));
  context.set_output(0, ElementType::kInt64, DimVector{Dim(last - first)});
  context.set_content(0, DimVector(dims.begin() + first, dims.begin() + last));
}

void size_rule(InferContext& context) {
  context.set_output(0, ElementType::kInt64, Shape{});
  if (context.has_shape(0)) context.set_content(0, DimVector{context.shape(0).element_count()});
}

constexpr SchemaRow kRows[] = {
    {"", "Shape", 1, kLatest, 1, 1, shape_rule, {{0, kAllTypes}}},
    {"", "Size", 1, kLatest, 1, 1, size_rule, {{0, kAllTypes}}},
};

}  // namespace

extern const SchemaTable shape_rows;
const SchemaTable shape_rows(kRows);

}  // namespace ortolan::ops::onnx
