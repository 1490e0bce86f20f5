// The shapes: each input is two floats.
#include "load_work/shapes.h"

#include "load_work/message_graph.h"
#include "load_work/nested_shapes.h"
#include "load_work/shape_graph.h"

namespace ortolan::test {
namespace {

std::string attributes(size_t n) {
  MessageGraph graph = with_input();
  std::vector<WireWriter> list;
  for (size_t i = 0; i < n; ++i) list.push_back(int_attribute(numbered("a", i), static_cast<int64_t>(i)));
  graph.node("Softmax", {"x"}, "y", std::move(list));
  return finished(std::move(graph), "y");
}

/** One Transpose, and nodes that read it and know nothing of the order of dimensions. */
std::string readers_of_transpose(size_t n) {
  MessageGraph graph = with_input();
  graph.node("Unsqueeze", {"x", graph.constant("axis", {1}, 0, kInt64)}, "row");
  graph.node("Expand", {"row", graph.constant("size", {2}, 2, kInt64)}, "square");
  graph.node("Transpose", {"square"}, "t", {});
  Names all;
  for (size_t i = 0; i < n; ++i) all.push_back(own_sum(graph, "t", i));
  return finished(std::move(graph), graph.node("Sum", all, "sum"), {2, 2});
}

std::string pairs_of_transposes(size_t n) {
  MessageGraph graph = with_input();
  std::string at = graph.node("Unsqueeze", {"x", graph.constant("axis", {1}, 0, kInt64)}, "matrix");
  for (size_t i = 0; i < n; ++i) {
    at = graph.node("Transpose", {at}, numbered("t", i));
    at = graph.node("Sigmoid", {at}, numbered("s", i));
  }
  return finished(std::move(graph), at, {-1, -1});
}

std::string fan_out(size_t n) {
  MessageGraph graph = with_input();
  for (size_t i = 0; i < n; ++i) graph.output(own_sum(graph, "x", i), kTwo);
  return MessageModel(std::move(graph)).bytes();
}

std::string wide_sum(size_t n) {
  MessageGraph graph = with_input();
  Names all;
  for (size_t i = 0; i < n; ++i) all.push_back(own_sum(graph, "x", i));
  return summed(std::move(graph), all);
}

std::string constants(size_t n) {
  MessageGraph graph = with_input();
  Names all = {"x"};
  for (size_t i = 0; i < n; ++i) {
    std::vector<WireWriter> value;
    value.push_back(tensor_attribute("value", filled_tensor("", kTwo, static_cast<float>(i))));
    all.push_back(graph.node("Constant", {}, numbered("c", i), std::move(value)));
  }
  return summed(std::move(graph), all);
}

std::string inputs(size_t n) {
  MessageGraph graph;
  Names all;
  for (size_t i = 0; i < n; ++i) all.push_back(graph.input(numbered("x", i), kTwo));
  return summed(std::move(graph), all);
}

std::string symbols(size_t n) {
  MessageGraph graph;
  Names all;
  for (size_t i = 0; i < n; ++i) {
    graph.out.message(11, typed_value(numbered("x", i), kTwo, kFloat, numbered("N", i)));
    all.push_back(graph.node("Neg", {numbered("x", i)}, numbered("y", i)));
  }
  return finished(std::move(graph), graph.node("Sum", all, "sum"), {-1});
}

/** A chain of nodes of one input. */
std::string chain(size_t n, std::string (*link)(MessageGraph& graph, const std::string& x, size_t i)) {
  MessageGraph graph = with_input();
  std::string at = "x";
  for (size_t i = 0; i < n; ++i) at = link(graph, at, i);
  return finished(std::move(graph), at, {-1});
}

std::string chain_of_sums(size_t n) { return chain(n, own_sum); }

std::string chain_of_activations(size_t n) {
  return chain(n, [](MessageGraph& graph, const std::string& x, size_t i) {
    return graph.node(i % 2 == 0 ? "Sigmoid" : "Softmax", {x}, numbered("y", i));
  });
}

std::string chain_of_identities(size_t n) {
  return chain(n, [](MessageGraph& graph, const std::string& x, size_t i) {
    return graph.node(i % 2 == 0 ? "Identity" : "Dropout", {x}, numbered("y", i));
  });
}

std::string chain_of_views(size_t n) {
  return chain(n, [](MessageGraph& graph, const std::string& x, size_t i) {
    std::string axis = graph.constant(numbered("axis", i), {1}, 0, kInt64);
    std::string up = graph.node("Unsqueeze", {x, axis}, numbered("u", i));
    return graph.node("Squeeze", {graph.node("Sin", {up}, numbered("s", i)), axis}, numbered("y", i));
  });
}

std::string chain_of_shapes(size_t n) {
  return chain(n, [](MessageGraph& graph, const std::string& x, size_t i) {
    std::string size = graph.node("Shape", {x}, numbered("n", i));
    return graph.node("Reshape", {graph.node("Sin", {x}, numbered("s", i)), size}, numbered("y", i));
  });
}

/** 16-bit floats that are only moved, then computed. */
std::string chain_of_halves(size_t n) {
  MessageGraph graph = with_input();
  std::vector<WireWriter> to_half, to_float;
  to_half.push_back(int_attribute("to", kHalf));
  to_float.push_back(int_attribute("to", kFloat));
  std::string at = graph.node("Cast", {"x"}, "half", std::move(to_half));
  for (size_t i = 0; i < n; ++i) {
    std::string repeats = graph.constant(numbered("r", i), {1}, 1, kInt64);
    at = graph.node("Tile", {at, repeats}, numbered("t", i));
  }
  for (size_t i = 0; i < n; ++i) at = graph.node(i % 2 == 0 ? "Sin" : "Neg", {at}, numbered("s", i));
  return finished(std::move(graph), graph.node("Cast", {at}, "y", std::move(to_float)), {-1});
}

/** Nodes of which all but two do what others do. */
std::string duplicates(size_t n) {
  MessageGraph graph = with_input();
  Names all;
  for (size_t i = 0; i < n; ++i) all.push_back(graph.node("Exp", {"x"}, numbered("y", i)));
  for (size_t i = 0; i < n; ++i) all[i] = graph.node("Sin", {all[i]}, numbered("z", i));
  return summed(std::move(graph), all);
}

std::string split(size_t n) {
  MessageGraph graph;
  graph.input("x", kTwo);
  graph.node("Expand", {"x", graph.constant("size", {1}, 1, kInt64)}, "same");
  std::string repeats = graph.constant("repeats", {1}, static_cast<float>(n), kInt64);
  graph.node("Tile", {"same", repeats}, "long");
  Names parts;
  for (size_t i = 0; i < n; ++i) parts.push_back(numbered("p", i));
  graph.out.message(1, node_message("Split", {"long"}, parts));
  for (size_t i = 0; i < n; ++i) graph.output(graph.node("Identity", {parts[i]}, numbered("y", i)), kTwo);
  return MessageModel(std::move(graph)).bytes();
}

std::string concat(size_t n) {
  MessageGraph graph = with_input();
  Names all;
  for (size_t i = 0; i < n; ++i) all.push_back(own_sum(graph, "x", i));
  std::vector<WireWriter> axis;
  axis.push_back(int_attribute("axis", 0));
  graph.node("Concat", all, "y", std::move(axis));
  return finished(std::move(graph), "y", {-1});
}

std::string products(size_t n) {
  MessageGraph graph = with_input();
  std::string at = graph.node("Unsqueeze", {"x", graph.constant("axis", {1}, 0, kInt64)}, "row");
  for (size_t i = 0; i < n; ++i) {
    std::string weights = graph.constant(numbered("w", i), {2, 2}, static_cast<float>(i));
    at = graph.node("MatMul", {at, weights}, numbered("y", i));
  }
  return finished(std::move(graph), at, {1, 2});
}

std::string unused_initializers(size_t n) {
  MessageGraph graph = with_input();
  for (size_t i = 0; i < n; ++i) graph.constant(numbered("c", i), kTwo, static_cast<float>(i));
  graph.node("Neg", {"x"}, "y");
  return finished(std::move(graph), "y");
}

/** Products of bytes that share the weights and their bias. */
std::string quantized(size_t n) {
  MessageGraph graph = with_input();
  const int64_t columns = 16;
  graph.constant("scale", {}, 1);
  graph.constant("zero", {}, 0, kInt8);
  graph.constant("bytes", {2, columns}, 1, kInt8);
  graph.constant("bias", {columns}, 1);
  graph.node("Unsqueeze", {"x", graph.constant("axis", {1}, 0, kInt64)}, "row");
  graph.node("DequantizeLinear", {graph.node("QuantizeLinear", {"row", "scale", "zero"}, "q"), "scale", "zero"}, "a");
  graph.node("DequantizeLinear", {"bytes", "scale", "zero"}, "w");
  Names all;
  for (size_t i = 0; i < n; ++i) {
    std::string product = graph.node("Gemm", {"a", "w", "bias"}, numbered("g", i));
    std::string scale = graph.constant(numbered("s", i), {}, static_cast<float>(i + 1));
    std::string bytes = graph.node("QuantizeLinear", {product, scale, "zero"}, numbered("q", i));
    std::string again = graph.node("DequantizeLinear", {bytes, scale, "zero"}, numbered("d", i));
    all.push_back(graph.node("ReduceMax", {again}, numbered("m", i)));
  }
  return finished(std::move(graph), graph.node("Sum", all, "sum"), {1, 1});
}

/** What describes a model: imports, metadata, types of values. */
std::string descriptions(size_t n) {
  MessageGraph graph = with_input();
  graph.node("Neg", {"x"}, "y");
  graph.output("y", kTwo);
  for (size_t i = 0; i < n; ++i) graph.out.message(13, typed_value("y", kTwo));
  MessageModel model(std::move(graph));
  for (size_t i = 0; i < n; ++i) {
    model.import(numbered("domain", i), 1);
    WireWriter entry;
    entry.text(1, numbered("key", i));
    entry.text(2, "value");
    model.out.message(14, std::move(entry));
  }
  return model.bytes();
}

/** Values that die leave small gaps between those that live on, into which larger ones do not fit. */
std::string gaps(size_t n) {
  MessageGraph graph = with_input();
  Names dying, living;
  for (size_t i = 0; i < n; ++i) {
    std::string sum = own_sum(graph, "x", i);
    dying.push_back(graph.node("Softmax", {sum}, numbered("d", i)));
    living.push_back(graph.node("LogSoftmax", {sum}, numbered("l", i)));
  }
  std::string most = graph.node("Max", dying, "most");
  std::string large = graph.node("Tile", {most, graph.constant("times", {1}, 16, kInt64)}, "large");
  for (size_t i = 0; i < n; ++i) {
    large = graph.node("CumSum", {large, graph.constant(numbered("axis", i), {1}, 0, kInt64)}, numbered("s", i));
  }
  graph.output(large, {-1});
  return summed(std::move(graph), living);
}

/** A long name that each node's new values could be called after. */
std::string long_name(size_t n) {
  MessageGraph graph = with_input();
  std::string weights = graph.constant(std::string(4 * n, 'w'), {2, 2}, 1);
  std::string at = graph.node("Unsqueeze", {"x", graph.constant("axis", {1}, 0, kInt64)}, "row");
  for (size_t i = 0; i < n / 16; ++i) {
    at = graph.node("Gemm", {at, weights}, numbered("g", i));
    at = graph.node("Mul", {at, graph.constant(numbered("c", i), {1}, 2.0f)}, numbered("y", i));
  }
  return finished(std::move(graph), at, {1, 2});
}

/** Nodes of one name. */
std::string equal_names(size_t n) {
  MessageGraph graph = with_input();
  Names all;
  for (size_t i = 0; i < n; ++i) {
    std::string addend = graph.constant(numbered("c", i), kTwo, static_cast<float>(i));
    all.push_back(numbered("y", i));
    graph.out.message(1, node_message("Add", {"x", addend}, {all.back()}, {}, "", "same"));
  }
  return summed(std::move(graph), all);
}

/** A sequence of many tensors, and each of them taken out again. */
std::string sequence(size_t n) {
  MessageGraph graph = with_input();
  Names all;
  for (size_t i = 0; i < n; ++i) all.push_back(own_sum(graph, "x", i));
  graph.node("SequenceConstruct", all, "list");
  for (size_t i = 0; i < n; ++i) {
    std::string place = graph.constant(numbered("i", i), {}, static_cast<float>(i), kInt64);
    all[i] = graph.node("SequenceAt", {"list", place}, numbered("z", i));
  }
  return summed(std::move(graph), all);
}

constexpr ModelShape kShapes[] = {
    {"attributes", attributes},
    {"readers_of_transpose", readers_of_transpose},
    {"pairs_of_transposes", pairs_of_transposes},
    {"fan_out", fan_out},
    {"wide_sum", wide_sum},
    {"constants", constants},
    {"inputs", inputs},
    {"symbols", symbols},
    {"chain_of_sums", chain_of_sums},
    {"chain_of_activations", chain_of_activations},
    {"chain_of_identities", chain_of_identities},
    {"chain_of_views", chain_of_views},
    {"chain_of_shapes", chain_of_shapes},
    {"chain_of_halves", chain_of_halves},
    {"duplicates", duplicates},
    {"split", split},
    {"concat", concat},
    {"products", products},
    {"unused_initializers", unused_initializers},
    {"quantized", quantized},
    {"taken_branches", taken_branches},
    {"open_branches", open_branches},
    {"captures", captures},
    {"functions", functions},
    {"calls", calls},
    {"descriptions", descriptions},
    {"gaps", gaps},
    {"equal_names", equal_names},
    {"sequence", sequence},
    {"loop", loop},
    {"long_name", long_name},
};

}  // namespace

std::span<const ModelShape> model_shapes() { return kShapes; }

}  // namespace ortolan::test
