// MoE and QMoE: each token goes through its best experts, small networks of two or three products, whose results are
// added with the router's weights. QMoE's weights have 2, 4 or 8 bits.
#include "ops/infer_context.h"

namespace ortolan::ops::microsoft {
namespace {

/** Input 3, which may be left out, stands before required ones: those are checked here. */
void require_weights(const InferContext& context, size_t fc2) {
  require(context.has_input(fc2), ErrorCode::kInvalidGraph, "input ", fc2, ", the weights of fc2, is left out");
}

void moe(InferContext& context) {
  context.require_rank(0, 2, 3);
  context.require_rank(1, 2, 2);
  context.set_output_like(0, 0);
}

void float_moe(InferContext& context) {
  require_weights(context, 4);
  moe(context);
}

void narrow_moe(InferContext& context) {
  require_weights(context, 5);
  moe(context);
}

constexpr SchemaRow kRows[] = {
    {"com.microsoft", "MoE", 1, kLatest, {3, 8}, 1, float_moe, {{kTheRest, kFloat32AndHalf, 'T'}}},
    // The types of the weights, scales and zero points are checked by the kernel: there are more than a row can list.
    {"com.microsoft",
     "QMoE",
     1,
     kLatest,
     {3, 21},
     1,
     narrow_moe,
     {{0, kFloat32AndHalf, 'T'},
      {1, kFloat32AndHalf, 'T'},
      {2, ElementType::kUInt8},
      {5, ElementType::kUInt8},
      {kTheRest, kFloat32AndHalf | ElementType::kUInt8}}},
};

}  // namespace

extern const SchemaTable moe_rows;
const SchemaTable moe_rows(kRows);
}  // namespace ortolan::ops::microsoft
