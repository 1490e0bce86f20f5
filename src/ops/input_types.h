// What a schema row says of the types of one input.
#pragma once

#include "ops/schema.h"

namespace ortolan::ops {

/** The entry for input i: its own, or the one for the rest; NULL where the row says nothing of it. */
const InputTypes* limit_of(const SchemaRow& row, size_t i);

}  // namespace ortolan::ops
