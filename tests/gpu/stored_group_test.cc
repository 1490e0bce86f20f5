// Groups as bytes: what comes back, what is said of bytes that are no group, and groups that no host has checked.
#include "gpu/core/graph/stored_group.h"

#include <gtest/gtest.h>
#include <algorithm>

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "gpu/hostile_graph.h"
#include "gpu/single_node.h"
#include "gpu/testdevice/test_device.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr size_t kHashPlace = 24, kHeaderBytes = 32;

/** y = max(a * w + b, 0) with a [n, 3], and what other nodes have beside. */
Graph small_graph() {
  static const std::vector<float> w = {1, 2, 3, 4, 5, 6}, b = {7, 8};
  auto view = [](const std::vector<float>& floats) { return HostBytes{std::as_bytes(std::span(floats)), nullptr}; };
  Graph graph;
  graph.values = {{"a", ElementType::kFloat, Shape{-1, 3}, {}},
                  {"w", ElementType::kFloat, Shape{3, 2}, view(w)},
                  {"b", ElementType::kFloat, Shape{2}, view(b)},
                  {"c", ElementType::kFloat, {}, {}},
                  {"y", ElementType::kFloat, Shape{-1, 2}, {}}};
  graph.nodes = {{"product", "", "Gemm", 13, {{"alpha", 1.0f}, {"transA", int64_t{0}}}, {0, 1, 2}, {3}, {}},
                 {"cut", "", "Relu", 14, {}, {3}, {4}, {}}};
  graph.inputs = {0};
  graph.outputs = {4};
  return graph;
}

testing::AssertionResult refused(const Bytes& bytes, const std::string& part) {
  return ortolan::test::throws<Error>(part, [&] { load_group({bytes, nullptr}); });
}

/** The bytes with the hash of what they are now. */
Bytes sealed(Bytes bytes) {
  uint64_t hash = XXH3_64bits(bytes.data() + kHeaderBytes, bytes.size() - kHeaderBytes);
  std::memcpy(bytes.data() + kHashPlace, &hash, sizeof hash);
  return bytes;
}

void expect_equal(const HostBytes& a, const HostBytes& b) {
  EXPECT_TRUE(std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end()));
}

void expect_equal(const Graph& a, const Graph& b) {
  EXPECT_EQ(a.inputs, b.inputs);
  EXPECT_EQ(a.outputs, b.outputs);
  ASSERT_EQ(a.values.size(), b.values.size());
  for (size_t i = 0; i < a.values.size(); i++) {
    EXPECT_EQ(a.values[i].name, b.values[i].name);
    EXPECT_EQ(a.values[i].type, b.values[i].type);
    EXPECT_EQ(a.values[i].shape, b.values[i].shape);
    ASSERT_EQ(a.values[i].constant.has_value(), b.values[i].constant.has_value());
    if (a.values[i].constant) expect_equal(*a.values[i].constant, *b.values[i].constant);
  }
  ASSERT_EQ(a.nodes.size(), b.nodes.size());
  for (size_t i = 0; i < a.nodes.size(); i++) {
    EXPECT_EQ(describe(a.nodes[i]) + a.nodes[i].domain, describe(b.nodes[i]) + b.nodes[i].domain);
    EXPECT_EQ(a.nodes[i].since_version, b.nodes[i].since_version);
    EXPECT_EQ(a.nodes[i].inputs, b.nodes[i].inputs);
    EXPECT_EQ(a.nodes[i].outputs, b.nodes[i].outputs);
    EXPECT_EQ(a.nodes[i].attributes.size(), b.nodes[i].attributes.size());
  }
}

TEST(StoredGroup, ComesBackAsItWas) {
  Graph graph = small_graph();
  graph.nodes[0].domain = "some.domain";
  auto& attributes = graph.nodes[1].attributes;
  attributes = {{"text", std::string("a\0b", 3)},
                {"integers", std::vector<int64_t>{1, INT64_MIN}},
                {"floats", std::vector<float>{0.5f}},
                {"texts", std::vector<std::string>{"", "b"}},
                {"tensor", HostTensor::of_integers(ElementType::kInt64, {2}, {3, 4})}};
  graph.nodes[1].inputs = {3, kMissing};
  auto bytes = std::make_shared<Bytes>(store_group(graph));
  Graph loaded = load_group({*bytes, bytes});
  expect_equal(loaded, graph);
  const Node& node = loaded.nodes[1];
  EXPECT_EQ(node.text("text", ""), std::string("a\0b", 3));
  EXPECT_EQ(node.integers("integers"), (std::vector<int64_t>{1, INT64_MIN}));
  EXPECT_EQ(std::get<std::vector<std::string>>(node.attributes.at("texts"))[1], "b");
  EXPECT_EQ(std::get<HostTensor>(node.attributes.at("tensor")).integers(), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(loaded.nodes[0].number("alpha", 0), 1.0f);
  EXPECT_EQ(loaded.values[1].constant->owner, bytes);
}

TEST(StoredGroup, EveryChangedByteAndEveryCutIsSeen) {
  const Bytes whole = store_group(small_graph());
  std::mt19937 random(5);
  for (size_t i = 0; i < whole.size(); i++) {
    Bytes changed = whole;
    changed[i] ^= static_cast<std::byte>(1 + random() % 255);
    EXPECT_TRUE(refused(changed, "compile the model again")) << "byte " << i;
    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(i));
    EXPECT_TRUE(refused(cut, "compile the model again")) << "cut at " << i;
  }
}

TEST(StoredGroup, WrongHeadersAreNamed) {
  const Bytes whole = store_group(small_graph());
  Bytes other = whole;
  other[0] = std::byte{'x'};
  EXPECT_TRUE(refused(other, "does not begin as one does"));
  other = whole;
  other[8] = std::byte{9};
  EXPECT_TRUE(refused(other, "is of format 9, and this library reads 1"));
  other = whole;
  std::swap(other[12], other[15]);
  EXPECT_TRUE(refused(other, "another order of bytes"));
  other = whole;
  other.push_back(std::byte{0});
  EXPECT_TRUE(refused(other, std::to_string(whole.size() + 1) + " bytes of " + std::to_string(whole.size())));
}

/** Whether the group with a change is refused with such words. */
testing::AssertionResult refused_with(const std::function<void(Graph&)>& change, const std::string& part) {
  Graph graph = small_graph();
  change(graph);
  return refused(store_group(graph), part);
}

TEST(StoredGroup, ValuesComeBeforeTheirUses) {
  EXPECT_TRUE(refused_with([](Graph& g) { std::swap(g.nodes[0], g.nodes[1]); }, "'cut' (Relu) reads value 3 too"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.nodes[1].outputs = {3}; }, "cannot make value 3"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.nodes[1].outputs = {1}; }, "cannot make value 1"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.nodes[0].inputs[0] = 5; }, "reads value 5"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.nodes[0].inputs[0] = -2; }, "reads value -2"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.outputs = {-1}; }, "nothing makes value -1"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.inputs = {0, 0}; }, "value 0 cannot be an input"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.inputs = {0, 1}; }, "value 1 cannot be an input"));
}

TEST(StoredGroup, SizesFitTypesAndShapes) {
  EXPECT_TRUE(refused_with([](Graph& g) { g.values[1].shape = Shape{3, 3}; }, "has 24 bytes, not 36"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.values[1].shape = Shape{3, -1}; }, "open dimension"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.values[0].shape = Shape{-2, 3}; }, "a dimension is -2"));
  EXPECT_TRUE(refused_with(
      [](Graph& g) {
        g.values[1].shape = Shape{INT64_MAX, INT64_MAX};
      },
      "more elements than there are numbers"));
  EXPECT_TRUE(refused_with([](Graph& g) { g.values[0].type = static_cast<ElementType>(8); }, "element type 8"));
}

TEST(StoredGroup, IsJudgedByTheDeviceThatLoadsIt) {
  TestDevice device{TestDeviceOptions()};
  Graph graph = small_graph();
  graph.nodes[1].op = "Unheard";
  EXPECT_TRUE(ortolan::test::throws<Error>("node 'cut' (Unheard) does not run on '" + device.traits().name +
                                               "': there is no kernel for it; compile the model again for this device",
                                           [&] { judge_again(graph, device.traits()); }));
}

// A node that the host must compute, on an input that only the device has.
TEST(StoredGroup, WhatOnlyTheHostComputesStaysThere) {
  TestDevice device{TestDeviceOptions()};
  Graph graph;
  for (const char* name : {"a", "b", "c"}) graph.values.push_back({name, ElementType::kDouble, Shape{2}, {}});
  graph.nodes = {{"sum", "", "Add", 14, {}, {0, 1}, {2}, {}}};
  graph.inputs = {0, 1};
  graph.outputs = {2};
  judge_again(graph, device.traits());
  EXPECT_NE(graph.nodes[0].unsupported, "");
  Engine engine(device);
  EXPECT_TRUE(ortolan::test::throws<Error>("no kernel computes it", [&] { CompiledGroup group(engine, graph); }));
}

TEST(StoredGroup, NodesMakeTheTypesThatTheGraphSays) {
  TestDevice device{TestDeviceOptions()};
  Engine engine(device);
  Graph graph = small_graph();
  graph.values[0].shape = Shape{2, 3};
  graph.values[3].type = ElementType::kFloat16;
  EXPECT_TRUE(ortolan::test::throws<Error>("node 'product' (Gemm): it makes float where the graph says float16",
                                           [&] { CompiledGroup group(engine, graph); }));
}

/** Sizes that changed bytes state end in a refusal instead of filling the machine. */
TestDeviceOptions little_memory() {
  TestDeviceOptions options;
  options.memory_bytes = size_t{1} << 28;
  options.max_buffer_bytes = size_t{1} << 26;
  return options;
}

/** Bytes with a right hash and anything behind it. */
TEST(StoredGroup, AnyBytesEndInAnErrorOrARun) {
  TestDevice device(little_memory());
  std::mt19937 random(11);
  int loaded = 0, refused = 0;
  for (int i = 0; i < 3000; i++) {
    Bytes bytes = store_group(small_graph());
    bytes[kHeaderBytes + random() % (bytes.size() - kHeaderBytes)] = static_cast<std::byte>(random());
    try {
      runs_from_bytes(device, load_group({sealed(bytes), nullptr}));
      loaded++;
    } catch (const Error&) {
      refused++;
    }
  }
  EXPECT_GT(loaded, 100);
  EXPECT_GT(refused, 100);
}

/** The node's graph, with constants of its own. */
Graph lasting_graph(const TestNode& node, const std::vector<NodeInput>& inputs) {
  Graph graph = graph_of(node, inputs, 1);
  for (Value& value : graph.values) {
    if (value.constant) value.constant = owned(*value.constant);
  }
  return graph;
}

/** Attention as exporters spell it out. */
Graph spelled_attention() {
  Graph graph =
      graph_of({"Transpose", {{"perm", std::vector<int64_t>{0, 1, 3, 2}}}}, {{random_floats({1, 2, 5, 4}, 1)}}, 1);
  auto add_value = [&](Shape shape, bool is_input) {
    graph.values.push_back({"v", ElementType::kFloat, std::move(shape), {}});
    int value = static_cast<int>(graph.values.size()) - 1;
    if (is_input) graph.inputs.push_back(value);
    return value;
  };
  auto add_node = [&](const std::string& op, const std::vector<int>& inputs, Shape shape) {
    int value = add_value(std::move(shape), false);
    graph.nodes.push_back({op, "", op, kNewest, {}, inputs, {value}, {}});
    return value;
  };
  int k = graph.outputs[0], q = add_value({1, 2, 3, 4}, true), v = add_value({1, 2, 5, 4}, true);
  int mask = add_value({1, 1, 3, 5}, true), scale = add_value({}, false);
  graph.values[scale].constant = owned(HostBytes{random_floats({}, 2).bytes, nullptr});
  int scores = add_node("Mul", {add_node("MatMul", {q, k}, {1, 2, 3, 5}), scale}, {1, 2, 3, 5});
  scores = add_node("Softmax", {add_node("Add", {scores, mask}, {1, 2, 3, 5})}, {1, 2, 3, 5});
  graph.outputs = {add_node("MatMul", {scores, v}, {1, 2, 3, 4})};
  return graph;
}

/** Nodes of several families, whose numbers decide sizes and places. */
std::vector<Graph> graphs_to_change() {
  using Integers = std::vector<int64_t>;
  const Tensor image = random_floats({1, 2, 5, 5}, 1), taps = random_floats({2, 2, 3, 3}, 2);
  const Tensor starts = integers({3}, {0, 1, 2}), ends = integers({3}, {1, 2, 3}), sizes = integers({2}, {5, 10});
  return {
      small_graph(),
      spelled_attention(),
      lasting_graph({"Conv", {{"strides", Integers{2, 1}}, {"pads", Integers{1, 1, 1, 1}}}}, {{image}, constant(taps)}),
      lasting_graph({"ConvTranspose", {{"strides", Integers{2, 2}}, {"output_padding", Integers{1, 0}}}},
                    {{image}, constant(taps)}),
      lasting_graph({"MaxPool", {{"kernel_shape", Integers{2, 2}}, {"dilations", Integers{2, 1}}}}, {{image}}),
      lasting_graph({"Reshape"}, {{image}, constant(sizes)}),
      lasting_graph({"Gather", {{"axis", int64_t{2}}}}, {{image}, constant(starts)}),
      lasting_graph({"Slice"}, {{image}, constant(starts), constant(ends), constant(starts)}),
      lasting_graph({"Transpose", {{"perm", Integers{0, 2, 3, 1}}}}, {{image}}),
      lasting_graph({"Concat", {{"axis", int64_t{1}}}}, {{image}, {image}}),
      lasting_graph({"Softmax", {{"axis", int64_t{-1}}}}, {{image}}),
      lasting_graph({"ConstantOfShape", {{"value", HostTensor::of_floats(ElementType::kFloat, {1}, {2})}}},
                    {constant(sizes)})};
}

TEST(StoredGroup, ChangedGraphsEndInAnErrorOrARun) {
  TestDevice device(little_memory());
  std::mt19937 random(13);
  int ran = 0, stopped = 0;
  for (const Graph& graph : graphs_to_change()) {
    EXPECT_TRUE(runs_from_bytes(device, graph)) << graph.nodes[0].op;
    for (int i = 0; i < 300; i++) {
      Graph changed = graph;
      for (size_t changes = 1 + random() % 3; changes > 0; changes--) make_hostile(changed, random);
      (runs_from_bytes(device, changed) ? ran : stopped)++;
    }
  }
  EXPECT_GT(ran, 300);
  EXPECT_GT(stopped, 300);
}

}  // namespace
}  // namespace ortolan::gpu::test
