// ReduceLike: the first input summed over the dimensions in which the second, which broadcasts to it, has size one or
// which it lacks. What derivatives of operators that broadcast need.
#include "ops/shape_rules.h"

namespace ortolan::ops::ortolan {
namespace {

constexpr SchemaRow kRows[] = {
    {"ortolan",
     "ReduceLike",
     1,
     kLatest,
     2,
     1,
     [](InferContext& context) { context.set_output_like(0, 1); },
     {{kTheRest, kFloat32And64, 'T'}}},
};

}  // namespace

extern const SchemaTable reduce_like_rows;
const SchemaTable reduce_like_rows(kRows);
}  // namespace ortolan::ops::ortolan
