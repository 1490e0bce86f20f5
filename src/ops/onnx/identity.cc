// Identity passes a tensor on; from opset 14 also a sequence, from 16 an optional.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr SchemaRow kRows[] = {
    {"", "Identity", 1, kLatest, 1, 1, same_as_first_input, {{0, kAllTypes}}},
};

}  // namespace

extern const SchemaTable identity_rows;
const SchemaTable identity_rows(kRows);

}  // namespace ortolan::ops::onnx
