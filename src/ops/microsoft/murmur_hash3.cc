// MurmurHash3: the 32-bit hash of each element's bytes (x86 variant) with attribute seed, unsigned unless positive is
// 0.
#include "ops/shape_rules.h"

namespace ortolan::ops::microsoft {
namespace {

void murmur_hash3(InferContext& context) {
  bool positive = context.node().int_or("positive", 1) != 0;
  context.set_output(0, positive ? ElementType::kUInt32 : ElementType::kInt32, context.shape(0));
}

constexpr TypeSet kKeys = ElementType::kInt32 | ElementType::kUInt32 | ElementType::kInt64 | ElementType::kUInt64 |
                          ElementType::kFloat | ElementType::kDouble | ElementType::kString;
constexpr SchemaRow kRows[] = {{"com.microsoft", "MurmurHash3", 1, kLatest, 1, 1, murmur_hash3, {{0, kKeys}}}};

}  // namespace

extern const SchemaTable murmur_hash3_rows;
const SchemaTable murmur_hash3_rows(kRows);

}  // namespace ortolan::ops::microsoft
