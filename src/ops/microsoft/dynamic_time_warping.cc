// DynamicTimeWarping: the cheapest way through a matrix of costs from its first to its last element, as the rows and
// the columns that it visits.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void dynamic_time_warping(InferContext& context) {
  context.require_rank(0, 2, 3);
  context.set_output(0, ElementType::kInt32, DimVector{2, Dim{}});
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "DynamicTimeWarping", 1, kLatest, 1, 1, dynamic_time_warping, {{0, ElementType::kFloat}}}};

}  // namespace

extern const SchemaTable dynamic_time_warping_rows;
const SchemaTable dynamic_time_warping_rows(kRows);

}  // namespace ortolan::ops::microsoft
