// Nodes that compute the same whatever order the dimensions of their tensors come in, and how they take another order.
#pragma once

#include <span>

#include "graph/graph.h"

namespace ortolan::passes {
using namespace graph;

/** `order` is that of a Transpose: dimension i of its result is dimension order[i] of its input. A node of the result
    is layout-free where it can be a node of the input in its place, with its own result to be transposed likewise. */
bool is_layout_free(const Node& node, std::span<const int64_t> order);
/** Of a layout-free node: whether input `i` is such a tensor, and no size, bound, scale or single number. */
bool is_laid_out(const Node& node, size_t i);
/** Whether the results have the dimensions of the tensors too. Else other dimensions are gone, and what is left keeps
    its order. */
bool has_laid_out_results(const Node& node);
/** Makes a layout-free node one for tensors as they are before the Transpose. Constants that say axes are replaced; the
    caller changes the laid-out inputs and results. */
void take_order(Node& node, std::span<const int64_t> order);

}  // namespace ortolan::passes
