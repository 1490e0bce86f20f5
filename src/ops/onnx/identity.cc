// Identity passes a tensor on; from opset 14 also a sequence, from 16 an optional.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void identity_rule(InferContext& context) {
  context.set_output_like(0, 0);
  if (auto content = context.dims(0)) context.set_content(0, std::move(*content));
}

constexpr SchemaRow kRows[] = {
    {"", "Identity", 1, kLatest, 1, 1, identity_rule, {{0, kAllTypes}}},
};

}  // namespace

extern const SchemaTable identity_rows;
const SchemaTable identity_rows(kRows);

}  // namespace ortolan::ops::onnx
