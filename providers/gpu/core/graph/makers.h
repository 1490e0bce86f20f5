// Which node of a graph makes a value, and for how many.
#pragma once

#include "gpu/core/graph/graph.h"

namespace ortolan::gpu {

/** Of a graph that lives longer and whose values keep their makers and readers. */
class Makers {
 public:
  explicit Makers(const Graph& graph);

  const Value& value(int value) const { return graph_.values[value]; }
  /** Whether the node is of ONNX's operator, with the inputs that are not optional; binary ones broadcast as numpy
   * does.
   */
  static bool is_of(const Node& node, std::string_view op);
  /** The node of that operator that makes a value for `readers` inputs of nodes and nothing else. */
  const Node* maker(int value, std::string_view op, int readers = 1) const;
  /** The number that a constant of one element and at most one axis is. */
  std::optional<float> number(int value) const;

 private:
  const Graph& graph_;
  std::vector<int> makers_;   // the node of each value; -1: none
  std::vector<int> readers_;  // inputs and outputs of the graph that are the value
};

}  // namespace ortolan::gpu
