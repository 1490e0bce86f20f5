// What ortolan's ElementwiseChain computes: elementwise steps over the node's inputs and the results of earlier steps.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace ortolan::ops {
using namespace graph;

/** One elementwise operator that the chain is made of. */
struct ElementwiseStep {
  static constexpr int64_t kNone = -1;

  std::string op;    // Add, Sum, Sub, Mul, Div, Min, Max, Pow, or the name of an activation as in ortolan.activation
  std::string node;  // the name of the node that it was
  std::vector<float> parameters;  // of the activation
  int64_t a = 0, b = kNone;       // operands: an input, or the number of inputs plus a step; kNone: there is none
  std::string label() const;      // "node 'name' (Op)" for messages
};

/** Steps in an order in which they can run; the last one's result is the chain's. */
using ElementwiseProgram = std::vector<ElementwiseStep>;

/** Sets the attributes that hold the program. */
void write_program(const ElementwiseProgram& program, Node& node);
/** Reads them. Throws kInvalidGraph unless operands are inputs or earlier steps and every step but the last is one. */
ElementwiseProgram read_program(const Node& node);

}  // namespace ortolan::ops
