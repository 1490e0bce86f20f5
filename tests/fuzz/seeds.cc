// Writes inputs for each fuzz target to a folder of its name: where fuzzing begins.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <regex>
#include <set>

#include "model_builder.h"
#include "ort_models.h"
#include "small_models.h"

using namespace ortolan;
using namespace ortolan::onnx;

namespace {

namespace fs = std::filesystem;

void save(const fs::path& folder, const std::string& name, const std::string& bytes) {
  fs::create_directories(folder);
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

void save_operators(const fs::path& folder) {
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
}

void save_convolution(const fs::path& folder) {
  auto conv = GraphText().initializer(floats("x", {1, 2, 5, 5})).initializer(floats("w", {2, 2, 3, 3}));
  conv.initializer(floats("s", {2})).node({"Conv", {"x", "w", "s"}, {"c"}});
  conv.node({"BatchNormalization", {"c", "s", "s", "s", "s"}, {"b"}});
  conv.node(NodeText("MaxPool", {"b"}, {"y"}).integer("ceil_mode", 1)).output("y");
  save(folder, "conv", ModelText(std::move(conv)).bytes());
}

void save_branches_and_loops(const fs::path& folder) {
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
}

void save_functions_and_sparse_weights(const fs::path& folder) {
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
}

void save_models(const fs::path& folder) {
  save_operators(folder);
  save_convolution(folder);
  save_branches_and_loops(folder);
  save_functions_and_sparse_weights(folder);
  for (const std::string& model : fuzz::small_models()) save(folder, join("small ", model.size()), model);
}

WireWriter text_attribute(std::string_view name, std::string_view value) {
  WireWriter out;
  out.text(1, name);
  out.text(4, value);
  out.integer(20, 3);
  return out;
}

/** A node that holds what the tests' plugin compiled, or names a file that does. */
std::string context_model(bool embedded, std::string_view context) {
  NodeText node("EPContext", {"x", "x"}, {"y"}, "context", "com.microsoft");
  node.integer("embed_mode", embedded ? 1 : 0).integer("main_context", 1);
  node.attribute(text_attribute("source", "ContextExecutionProvider"));
  node.attribute(text_attribute("ep_cache_context", context));
  return ModelText(with_input().node(std::move(node)).output("y")).import("com.microsoft", 1).bytes();
}

void save_contexts(const fs::path& folder) {
  save(folder, "embedded", context_model(true, "multiply"));
  for (const char* file : {"data.bin", "link.bin", "../data.bin", "/etc/hostname", "missing"}) {
    save(folder, join("file ", std::string_view(file).size()), context_model(false, file));
  }
  auto graph = with_input().initializer(floats("w", {2, 2})).node({"Mul", {"x", "x"}, {"a"}});
  graph.node({"Add", {"a", "x"}, {"b"}}).node({"Mul", {"b", "b"}, {"y"}}).output("y");
  save(folder, "source", ModelText(std::move(graph)).bytes());
}

void save_ort_models(const fs::path& folder) {
  save(folder, "concat", concat_model().out.bytes());
  OrtModel nested = concat_model();
  size_t attribute = nested.out.tables(nested.out.tables(nested.graph, 2, 1)[0], 10, 1)[0];
  nested.out.number<int32_t>(attribute, 2, 5);
  nested.out.table(attribute, 7);
  save(folder, "nested", nested.out.bytes());
}

/** The keys of entries that the sources name in quotes. */
std::set<std::string> entry_keys(const fs::path& source) {
  static const std::regex kKey(
      "\"((session|ep|ortolan|memory|optimization|mlas|gpu_graph_id|disable_)[a-zA-Z0-9_.]*)\"");
  std::set<std::string> keys;
  for (const char* folder : {"include_c", "src", "providers/cpu"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (entry.path().extension() != ".h" && entry.path().extension() != ".cc") continue;
      std::ifstream file(entry.path());
      std::string text{std::istreambuf_iterator<char>(file), {}};
      for (std::sregex_iterator i(text.begin(), text.end(), kKey), end; i != end; ++i) keys.insert((*i)[1]);
    }
  }
  return keys;
}

void save_options(const fs::path& folder, const fs::path& source) {
  for (const std::string& key : entry_keys(source)) {
    for (const char* value : {"0", "1", "-1", "99999999999999999999", "exact", "1,2;3-4", "m.onnx"}) {
      save(folder, join(key, " ", value), join("s", key, "=", value, "\nr", key, "=", value, "\n"));
    }
  }
  save(folder, "dimension", "dN=4\ndN=-1\ndM=0\n");
  save(folder, "arena", "amax_mem=1000\naarena_extend_strategy=1\npdevice_id=0\n");
}

/** Bytes where each is a choice. */
void save_choices(const fs::path& folder, size_t size) {
  std::mt19937 random(1);
  for (int i = 0; i < 64; ++i) {
    std::string bytes;
    for (size_t left = size / 8 + random() % size; left > 0; --left) bytes += static_cast<char>(random());
    save(folder, join(i), bytes);
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) {
    std::fprintf(stderr, "usage: fuzz_seeds FOLDER REPOSITORY\n");
    return 2;
  }
  fs::path folder = arguments[1];
  for (const char* target : {"load_fuzz", "run_fuzz", "context_fuzz"}) save_models(folder / target);
  save_contexts(folder / "context_fuzz");
  save_ort_models(folder / "ort_fuzz");
  save_options(folder / "options_fuzz", arguments[2]);
  save_choices(folder / "calls_fuzz", 400);
  save_choices(folder / "node_fuzz", 600);
  return 0;
}
