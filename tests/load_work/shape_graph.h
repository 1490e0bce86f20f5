// What graphs of the shapes are made of: an input, sums, an output.
#pragma once

#include <string>
#include <utility>

#include "load_work/message_graph.h"

namespace ortolan::test {

inline const Dims kTwo{2};

/** A graph of one input `x`. */
inline MessageGraph with_input() {
  MessageGraph graph;
  graph.input("x", kTwo);
  return graph;
}

inline std::string finished(MessageGraph graph, const std::string& result, Dims dims = kTwo) {
  graph.output(result, dims);
  return MessageModel(std::move(graph)).bytes();
}

/** The sum of all, which no pass makes less of. */
inline std::string summed(MessageGraph graph, const Names& terms) {
  return finished(std::move(graph), graph.node("Sum", terms, "sum"));
}

/** x plus a number that no other node adds. */
inline std::string own_sum(MessageGraph& graph, const std::string& x, size_t i) {
  return graph.node("Add", {x, graph.constant(numbered("c", i), kTwo, static_cast<float>(i))}, numbered("y", i));
}

}  // namespace ortolan::test
