// A node of a test as a model of its own.
#pragma once

#include "op_test.h"

namespace ortolan::test {

std::unique_ptr<Model> model_of(const NodeCase& node, Way way, size_t output_count);

}  // namespace ortolan::test
