// Small models of different kinds of inputs and outputs.
#include "small_models.h"

#include "model_builder.h"

namespace ortolan::fuzz {
namespace {
using namespace onnx;

constexpr int kFloatType = 1, kInt64Type = 7, kStringType = 8, kBoolType = 9;

/** A TypeProto of a tensor [N]. */
WireWriter vector_type(int element) {
  WireWriter name, shape, tensor, type;
  name.text(2, "N");
  shape.message(1, std::move(name));
  tensor.integer(1, element);
  tensor.message(2, std::move(shape));
  type.message(1, std::move(tensor));
  return type;
}

WireWriter sequence_type(WireWriter item) {
  WireWriter sequence, type;
  sequence.message(1, std::move(item));
  type.message(4, std::move(sequence));
  return type;
}

WireWriter value(std::string_view name, WireWriter type) {
  WireWriter info;
  info.text(1, name);
  info.message(2, std::move(type));
  return info;
}

std::string raw(std::initializer_list<float> values) {
  return {reinterpret_cast<const char*>(values.begin()), values.size() * sizeof(float)};
}

std::string with_weights() {
  GraphText graph;
  graph.input("x").initializer(raw_tensor("w", {2, 2}, raw({1, 2, 3, 4})));
  graph.initializer(raw_tensor("b", {2}, raw({5, 6})));
  graph.node({"MatMul", {"x", "w"}, {"m"}}).node({"Add", {"m", "b"}, {"a"}}).node({"Relu", {"a"}, {"y"}});
  return ModelText(
             std::move(graph.node({"Shape", {"y"}, {"s"}}).output("y").add(12, value("s", vector_type(kInt64Type)))))
      .bytes();
}

std::string of_strings() {
  GraphText graph;
  graph.add(11, value("t", vector_type(kStringType))).node({"Identity", {"t"}, {"u"}});
  return ModelText(std::move(graph.add(12, value("u", vector_type(kStringType))))).bytes();
}

std::string of_a_sequence() {
  GraphText graph;
  graph.add(11, value("q", sequence_type(vector_type(kFloatType)))).input("x");
  graph.node({"SequenceInsert", {"q", "x"}, {"longer"}}).node({"SequenceLength", {"longer"}, {"n"}});
  graph.add(12, value("longer", sequence_type(vector_type(kFloatType))));
  return ModelText(std::move(graph.add(12, value("n", vector_type(kInt64Type))))).bytes();
}

std::string of_a_loop() {
  GraphText body, graph;
  body.input("i").input("c").input("v").node({"Identity", {"c"}, {"d"}}).node({"Add", {"v", "v"}, {"u"}});
  body.output("d").output("u");
  WireWriter three = raw_tensor("m", {}, std::string("\3\0\0\0\0\0\0\0", 8), kInt64Type);
  graph.input("x").initializer(std::move(three)).initializer(raw_tensor("c", {}, std::string(1, '\1'), kBoolType));
  graph.node(NodeText("Loop", {"m", "c", "x"}, {"y"}).graph("body", std::move(body.out)));
  return ModelText(std::move(graph.output("y"))).bytes();
}

}  // namespace

const std::vector<std::string>& small_models() {
  static const auto& models = *new std::vector<std::string>{with_weights(), of_strings(), of_a_sequence(), of_a_loop()};
  return models;
}

}  // namespace ortolan::fuzz
