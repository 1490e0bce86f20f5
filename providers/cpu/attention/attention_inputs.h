// What com.microsoft's attention operators share in reading their inputs.
#pragma once

#include "cpu/attention/attention_core.h"

namespace ortolan::cpu {

/** attention_bias, [batch or 1, heads or 1, queries or 1, keys], as what the plan adds to scores. */
ScoreBias added_bias(KernelContext& context, const Tensor& bias, const AttentionPlan& plan);

/** A mask of int32, where `filter` is added to the scores of keys that are masked. Its forms: ends [batch], ends and
    starts [2*batch], lengths and cumulated lengths [3*batch+2]; or positive for each key to see: [batch, keys],
    [batch, 1], [batch, keys since `first_position`], [batch, queries, keys], [batch, 1, n, n] with n >= keys, of which
   rows from `first_position` on count. Throws for other shapes. */
ScoreBias filter_bias(KernelContext& context, const Tensor& mask, const AttentionPlan& plan, float filter);

/** `rows` ([batch, count, heads * size] by its strides) with the `heads * size` elements of `bias` from `offset` on
    added to each, as [batch, count, heads * size] in scratch memory. */
HeadRows with_bias(KernelContext& context, const HeadRows& rows, int64_t batch, int64_t count, int64_t heads,
                   int64_t size, const Tensor& bias, int64_t offset);

/** The one element of an int32 input; throws, naming it, where it has another count. */
int64_t int32_scalar(const Tensor& tensor, const char* name);

}  // namespace ortolan::cpu
