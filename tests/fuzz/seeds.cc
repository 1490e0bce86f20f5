// Writes small models of many kinds to a folder: where fuzzing begins.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "model_builder.h"

using namespace ortolan;
using namespace ortolan::onnx;

namespace {

void save(const std::filesystem::path& folder, const char* name, const std::string& bytes) {
  std::ofstream(folder / name, std::ios::binary) << bytes;
}

WireWriter int64s(std::string_view name, std::initializer_list<int64_t> values) {
  WireWriter out = raw_tensor(name, {static_cast<int64_t>(values.size())}, "", 7);
  out.packed(7, std::vector<int64_t>(values));
  return out;
}

WireWriter floats(std::string_view name, std::initializer_list<int64_t> dims) {
  int64_t count = 1;
  for (int64_t dim : dims) count *= dim;
  std::string raw;
  for (int64_t i = 0; i < count; ++i) {
    float value = 0.25f * static_cast<float>(i % 7) - 0.5f;
    raw.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return raw_tensor(name, dims, raw);
}

GraphText with_input() { return GraphText().input("x"); }

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
    return 2;
  }
  std::filesystem::path folder = arguments[1];
  std::filesystem::create_directories(folder);
  for (const char* op :
       {"Relu", "Neg", "Softmax", "Shape", "Transpose", "Flatten", "NonZero", "Identity", "ReduceSum"}) {
    save(folder, op, ModelText(with_input().node({op, {"x"}, {"y"}, "n"}).output("y")).bytes());
  }
  for (const char* op : {"Add", "MatMul", "Concat", "Equal", "Pow", "Div"}) {
    auto graph = with_input().initializer(floats("w", {2, 2}));
    save(folder, op, ModelText(graph.node(NodeText(op, {"x", "w"}, {"y"}).integer("axis", 1)).output("y")).bytes());
  }
  for (const char* op : {"Reshape", "Expand", "Tile", "Gather", "Unsqueeze", "Squeeze", "Pad", "Slice", "Split"}) {
    auto graph = with_input().initializer(int64s("s", {1, 2})).initializer(int64s("t", {2, 1}));
    bool three = std::string_view(op) == "Slice";
    NodeText node = three ? NodeText(op, {"x", "s", "t"}, {"y"}) : NodeText(op, {"x", "s"}, {"y"});
    save(folder, op, ModelText(graph.node(std::move(node)).output("y")).bytes());
  }
  auto conv = GraphText().initializer(floats("x", {1, 2, 5, 5})).initializer(floats("w", {2, 2, 3, 3}));
  conv.initializer(floats("s", {2})).node({"Conv", {"x", "w", "s"}, {"c"}});
  conv.node({"BatchNormalization", {"c", "s", "s", "s", "s"}, {"b"}});
  conv.node(NodeText("MaxPool", {"b"}, {"y"}).integer("ceil_mode", 1)).output("y");
  save(folder, "conv", ModelText(std::move(conv)).bytes());
  GraphText then_branch, body;
  then_branch.node({"Neg", {"x"}, {"n"}}).output("n");
  auto branches = with_input().initializer(raw_tensor("c", {}, std::string(1, '\1'), 9));
  branches.node(
      NodeText("If", {"c"}, {"y"}).graph("then_branch", then_branch.out).graph("else_branch", then_branch.out));
  save(folder, "if", ModelText(branches.output("y")).bytes());
  body.input("i").input("c").input("v").node({"Identity", {"c"}, {"d"}}).node({"Add", {"v", "v"}, {"u"}});
  body.output("d").output("u");
  auto loop = with_input().initializer(int64s("m", {3})).initializer(raw_tensor("c", {}, std::string(1, '\1'), 9));
  loop.node(NodeText("Loop", {"m", "c", "x"}, {"y"}).graph("body", std::move(body.out)));
  save(folder, "loop", ModelText(loop.output("y")).bytes());
  FunctionText function("f", {"a"}, {"b"}, {"to"});
  function.node(NodeText("Cast", {"a"}, {"b"}).reference("to", "to"));
  auto call = with_input().node(NodeText("f", {"x"}, {"y"}, "call", "own").integer("to", 1)).output("y");
  save(folder, "function", ModelText(std::move(call)).import("own", 1).function(std::move(function)).bytes());
  WireWriter sparse;
  sparse.message(1, floats("w", {2}));
  sparse.message(2, int64s("", {0, 3}));
  sparse.packed(3, std::vector<int64_t>{4});
  save(folder, "sparse",
       ModelText(GraphText().add(15, std::move(sparse)).node({"Abs", {"w"}, {"y"}}).output("y")).bytes());
  return 0;
}
