// The shapes with graphs and functions within the model's graph.
#include "load_work/nested_shapes.h"

#include <utility>
#include <vector>

#include "load_work/shape_graph.h"

namespace ortolan::test {
namespace {

MessageGraph branch(const std::string& x, size_t i) {
  MessageGraph graph;
  graph.output(own_sum(graph, x, i), kTwo);
  return graph;
}

/** An If for each part, all with branches that read the one x. */
std::string branches(size_t n, const char* condition) {
  MessageGraph graph = with_input();
  graph.node("ReduceMax", {"x"}, "most", {});
  graph.node("Greater", {"most", graph.constant("zero", {1}, 0)}, "asked");
  graph.constant("always", {1}, 1, kBool);
  Names all;
  for (size_t i = 0; i < n; ++i) {
    std::vector<WireWriter> both;
    both.push_back(graph_attribute("then_branch", branch("x", 2 * i).out));
    both.push_back(graph_attribute("else_branch", branch("x", 2 * i + 1).out));
    all.push_back(graph.node("If", {condition}, numbered("z", i), std::move(both)));
  }
  return summed(std::move(graph), all);
}

WireWriter function(const std::string& name) {
  WireWriter out;
  out.text(1, name);
  out.bytes(4, "a");
  out.bytes(5, "b");
  out.message(7, node_message("Sin", {"a"}, {"inner"}));
  out.message(7, node_message("Neg", {"inner"}, {"b"}));
  WireWriter import;
  import.integer(2, 17);
  out.message(9, std::move(import));
  out.text(10, "own");
  return out;
}

}  // namespace

std::string taken_branches(size_t n) { return branches(n, "always"); }
std::string open_branches(size_t n) { return branches(n, "asked"); }

std::string captures(size_t n) {
  MessageGraph graph = with_input(), inner, other;
  Names all;
  for (size_t i = 0; i < n; ++i) all.push_back(own_sum(graph, "x", i));
  inner.output(inner.node("Sum", all, "inner"), kTwo);
  other.output(other.node("Max", all, "other"), kTwo);
  graph.node("ReduceMax", {"x"}, "most", {});
  graph.node("Greater", {"most", graph.constant("zero", {1}, 0)}, "asked");
  std::vector<WireWriter> both;
  both.push_back(graph_attribute("then_branch", std::move(inner.out)));
  both.push_back(graph_attribute("else_branch", std::move(other.out)));
  graph.node("If", {"asked"}, "y", std::move(both));
  return finished(std::move(graph), "y");
}

std::string functions(size_t n) {
  MessageGraph graph = with_input();
  Names all;
  for (size_t i = 0; i < n; ++i) all.push_back(graph.node(numbered("F", i), {"x"}, numbered("y", i), {}, "own"));
  graph.output(graph.node("Sum", all, "sum"), kTwo);
  MessageModel model(std::move(graph));
  model.import("own", 1);
  for (size_t i = 0; i < n; ++i) model.out.message(25, function(numbered("F", i)));
  return model.bytes();
}

std::string calls(size_t n) {
  MessageGraph graph = with_input();
  std::string at = "x";
  for (size_t i = 0; i < n; ++i) at = graph.node("F", {at}, numbered("y", i), {}, "own");
  graph.output(at, kTwo);
  MessageModel model(std::move(graph));
  model.import("own", 1);
  model.out.message(25, function("F"));
  return model.bytes();
}

std::string loop(size_t n) {
  MessageGraph graph = with_input(), body;
  body.input("number", {}, kInt64);
  body.input("go", {}, kBool);
  body.input("carried", kTwo);
  std::string at = "carried";
  for (size_t i = 0; i < n; ++i) at = own_sum(body, at, i);
  body.node("Identity", {"go"}, "go_on");
  body.output("go_on", {}, kBool);
  body.output(at, kTwo);
  std::vector<WireWriter> attributes;
  attributes.push_back(graph_attribute("body", std::move(body.out)));
  graph.node("Loop", {graph.constant("steps", {}, 1, kInt64), "", "x"}, "y", std::move(attributes));
  return finished(std::move(graph), "y");
}

}  // namespace ortolan::test
