// Operators whose data has its channels last: what providers get that prefer them so.
#pragma once

#include <string_view>

#include "ops/schema.h"

namespace ortolan::ops {

/** The operator of a name in this domain is that of ai.onnx, but for input 0 and output 0: the dimension that comes
    second there is the last one here. Weights are as they were. */
inline constexpr const char* kChannelsLastDomain = "com.ms.internal.nhwc";

/** Whether a node of ai.onnx has such a form, as far as its operator and the ranks of its data tell. */
bool can_put_channels_last(const Node& node);

/** Whether it has that form now. */
bool has_channels_last(const Node& node);

/** The schema of the operator of that row in kChannelsLastDomain; it lives as long as the process. */
const SchemaRow& channels_last_schema(const SchemaRow& row);
/** The row that such a schema stands for. */
const SchemaRow& channels_first_schema(const SchemaRow& row);

/** What Transpose calls perm, for data of that rank. */
std::vector<int64_t> order_to_channels_last(size_t rank);
std::vector<int64_t> order_to_channels_first(size_t rank);
/** The type with its dimensions in that order. */
TypeInfo in_order(TypeInfo type, const std::vector<int64_t>& order);

}  // namespace ortolan::ops
