// Runs nodes in pools of several sizes, at several instruction sets: the results must be the same bit for bit.
#pragma once

#include <string>

#include "op_test.h"

namespace ortolan::test {

/** Compares what 2, 16 and 64 threads make of the node with what one makes, for inputs that come with the run and for
    constants. Fails also where 64 threads never share a loop of the node: it then proves nothing. */
void expect_same_on_any_threads(const std::string& name, const OpTest& test, size_t output_count = 1);

}  // namespace ortolan::test
