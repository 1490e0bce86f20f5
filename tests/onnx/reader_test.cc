// What the reader makes of good models: names, scopes, functions, constants, tensors of every kind.
#include <gtest/gtest.h>

#include "graph/constant_value.h"
#include "model_builder.h"
#include "onnx/writer.h"

namespace ortolan::onnx {
namespace {

GraphText relu_graph() { return GraphText().input("x").node({"Relu", {"x"}, {"y"}}).output("y"); }

TEST(Reader, ReadsNodesTypesAndOpsets) {
  auto model = read(ModelText(relu_graph()).import("ai.onnx.ml", 3).bytes());
  const Graph& graph = *model->graph;
  ASSERT_EQ(graph.nodes().size(), 1u);
  const Node& relu = *graph.nodes()[0];
  EXPECT_EQ(relu.op_type, "Relu");
  EXPECT_EQ(relu.opset, 17);
  EXPECT_EQ(relu.input(0), graph.inputs[0]);
  EXPECT_EQ(relu.output(0), graph.outputs[0]);
  EXPECT_EQ(model->context->opsets.at("ai.onnx.ml"), 3);
  const SymbolicShape& shape = graph.inputs[0]->type.shape;
  EXPECT_EQ(model->context->symbols.name_of(shape[0]), "N");
  EXPECT_TRUE(shape[1].is(2));
  EXPECT_TRUE(shape[0].same_as(graph.outputs[0]->type.shape[0]));
}

TEST(Reader, FreeDimensionsGetTheirNumbers) {
  ReadOptions options;
  options.dimensions_by_name["N"] = 5;
  auto model = read(ModelText(relu_graph()).bytes(), options);
  EXPECT_TRUE(model->graph->inputs[0]->type.shape[0].is(5));
}

TEST(Reader, ModelsWithoutAVersionHaveTheHighest) {
  EXPECT_EQ(read(ModelText(relu_graph()).bytes())->model_version, INT64_MAX);
  for (int64_t version : {int64_t{0}, int64_t{7}, INT64_MAX}) {
    ModelText text(relu_graph());
    text.out.integer(5, version);
    auto model = read(text.bytes());
    EXPECT_EQ(model->model_version, version);
    EXPECT_EQ(read(write_model_bytes(*model))->model_version, version);
  }
}

TEST(Reader, SortsNodes) {
  auto model = read(
      ModelText(GraphText().input("x").node({"Neg", {"a"}, {"y"}}).node({"Relu", {"x"}, {"a"}}).output("y")).bytes());
  EXPECT_EQ(model->graph->nodes()[0]->op_type, "Relu");
}

TEST(Reader, InitializersThatAreInputsDependOnTheIrVersion) {
  for (int64_t ir : {3, 8}) {
    auto model = read(ModelText(GraphText()
                                    .input("x")
                                    .input("w")
                                    .initializer(raw_tensor("w", {2}, std::string(8, '\0')))
                                    .node({"Add", {"x", "w"}, {"y"}})
                                    .output("y"),
                                ir)
                          .bytes());
    ValueInfo* w = model->graph->find("w");
    EXPECT_TRUE(w->constant.has_value());
    EXPECT_EQ(w->is_input, ir == 8);
    EXPECT_EQ(w->fixed_constant() != nullptr, ir == 3);
    EXPECT_EQ(model->graph->inputs.size(), ir == 8 ? 2u : 1u);
  }
}

TEST(Reader, SparseConstantsBecomeDense) {
  WireWriter sparse;
  sparse.message(1, raw_tensor("", {1}, std::string("\0\0\x80\x3f", 4)));
  WireWriter indices = raw_tensor("", {1}, "", 7);
  indices.packed(7, std::vector<int64_t>{2});
  sparse.message(2, std::move(indices));
  sparse.packed(3, std::vector<int64_t>{3});
  WireWriter attribute;
  attribute.text(1, "sparse_value");
  attribute.message(22, std::move(sparse));
  attribute.integer(20, 11);
  NodeText node("Constant", {}, {"c"});
  auto model = read(ModelText(GraphText().node(std::move(node.attribute(std::move(attribute)))).output("c")).bytes());
  Tensor dense = graph::constant_value(*model->graph->nodes().at(0));
  EXPECT_EQ(std::vector<float>(dense.span<float>().begin(), dense.span<float>().end()), (std::vector<float>{0, 0, 1}));
}

TEST(Reader, SubgraphsSeeOuterValuesAndMayReturnThem) {
  GraphText inner;
  inner.node({"Neg", {"x"}, {"n"}}).output("n").output("x");
  auto model = read(ModelText(GraphText()
                                  .input("x")
                                  .node(NodeText("If", {"x"}, {"y", "z"}).graph("then_branch", std::move(inner.out)))
                                  .output("y"))
                        .bytes());
  const Node& branch = *model->graph->nodes()[0];
  EXPECT_EQ(branch.captured(), std::vector<ValueInfo*>{model->graph->find("x")});
  Graph& body = branch.graph_of("then_branch");
  EXPECT_EQ(body.outputs[0]->name, "n");
  ASSERT_EQ(body.outputs[1]->graph, &body);
  EXPECT_EQ(body.outputs[1]->producer->op_type, "Identity");
  EXPECT_EQ(body.outputs[1]->producer->input(0), model->graph->find("x"));
}

TEST(Reader, InlinesFunctionsWithAttributesAndNewNames) {
  FunctionText twice("Twice", {"a", "unused"}, {"b", "same"}, {"to"});
  twice.node(NodeText("Cast", {"a"}, {"t"}).reference("to", "to")).node({"Add", {"t", "t"}, {"b"}});
  twice.node({"Identity", {"a"}, {"same"}});
  FunctionText outer("Outer", {"a"}, {"b"}, {"to"});
  outer.node(NodeText("Twice", {"a"}, {"t"}, "in", "own").reference("to", "to"));
  outer.node({"Twice", {"t"}, {"b"}, "out", "own"});
  auto model = read(ModelText(GraphText()
                                  .input("x")
                                  .input("t")
                                  .node(NodeText("Outer", {"x"}, {"y"}, "call", "own").integer("to", 1))
                                  .output("y"))
                        .import("own", 1)
                        .function(std::move(twice))
                        .function(std::move(outer))
                        .bytes());
  const Graph& graph = *model->graph;
  ASSERT_EQ(graph.nodes().size(), 6u);
  EXPECT_EQ(graph.nodes()[0]->op_type, "Cast");
  EXPECT_EQ(graph.nodes()[0]->input(0), graph.inputs[0]);
  EXPECT_EQ(graph.nodes()[0]->int_of("to"), 1);
  EXPECT_EQ(graph.nodes()[0]->name, "call/in/");
  EXPECT_NE(graph.nodes()[0]->output(0), graph.inputs[1]);
  int casts_without_type = 0;
  for (const auto& node : graph.nodes()) casts_without_type += node->op_type == "Cast" && !node->has_attribute("to");
  EXPECT_EQ(casts_without_type, 1);
  EXPECT_EQ(graph.outputs[0]->producer->op_type, "Add");
}

TEST(Reader, LargeAlignedTensorsAreViews) {
  for (size_t shift = 0; shift < 4; ++shift) {
    GraphText graph;
    graph.out.text(10, std::string(shift + 1, 'd'));
    graph.input("x").initializer(raw_tensor("w", {2048}, std::string(8192, 'a')));
    graph.node({"Add", {"x", "w"}, {"y"}}).output("y");
    std::string text = ModelText(std::move(graph)).bytes();
    auto bytes = std::make_shared<std::string>(text);
    auto model = read_model_bytes({std::as_bytes(std::span(*bytes)), bytes});
    auto* data = static_cast<const char*>(model->graph->find("w")->constant->raw());
    bool inside = data >= bytes->data() && data < bytes->data() + bytes->size();
    bool aligned = reinterpret_cast<uintptr_t>(bytes->data() + text.find("aaaa")) % 4 == 0;
    EXPECT_EQ(inside, aligned);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 4, 0u);
    ReadOptions options;
    options.copy_bytes = true;
    model = read_model_bytes({std::as_bytes(std::span(*bytes)), nullptr}, options);
    bytes.reset();
    EXPECT_EQ(*model->graph->find("w")->constant->data<float>(), *reinterpret_cast<const float*>("aaaa"));
  }
}

/** The constant "w" of a model whose initializer is `tensor`. */
Tensor initializer(WireWriter tensor, const ReadOptions& options = {}) {
  GraphText graph;
  graph.initializer(std::move(tensor)).node({"Identity", {"w"}, {"y"}}).output("y");
  return *read(ModelText(std::move(graph)).bytes(), options)->graph->find("w")->constant;
}

WireWriter typed_tensor(int type, std::initializer_list<int64_t> dims, uint32_t field,
                        std::initializer_list<int64_t> values) {
  WireWriter out = raw_tensor("w", dims, "", type);
  out.packed(field, std::vector<int64_t>(values));
  return out;
}

TEST(Reader, TypedFields) {
  Tensor half = initializer(typed_tensor(10, {2}, 5, {0x3c00, 0xc000}));
  EXPECT_EQ(static_cast<const uint16_t*>(half.raw())[1], 0xc000);
  Tensor small = initializer(typed_tensor(3, {3}, 5, {-128, 127, 255}));
  EXPECT_EQ(small.data<int8_t>()[0], -128);
  Tensor nibbles = initializer(typed_tensor(22, {3}, 5, {0x21, 0x0f}));
  EXPECT_EQ(unpack_element(ElementType::kInt4, nibbles.raw(), 1), 2);
  EXPECT_EQ(unpack_element(ElementType::kInt4, nibbles.raw(), 2), -1);
  Tensor wide = initializer(typed_tensor(13, {1}, 11, {int64_t{-1}}));
  EXPECT_EQ(wide.data<uint64_t>()[0], UINT64_MAX);
  Tensor truth = initializer(typed_tensor(9, {2}, 5, {0, 2}));
  EXPECT_EQ(static_cast<const uint8_t*>(truth.raw())[1], 1);
  Tensor raw_truth = initializer(raw_tensor("w", {2}, std::string("\x00\x07", 2), 9));
  EXPECT_EQ(static_cast<const uint8_t*>(raw_truth.raw())[1], 1);
  WireWriter words = raw_tensor("w", {2}, "", 8);
  words.bytes(6, "");
  words.bytes(6, "two");
  EXPECT_EQ(initializer(std::move(words)).data<std::string>()[1], "two");
  WireWriter unpacked = raw_tensor("w", {2}, "");
  unpacked.real(4, 1.5f);
  unpacked.real(4, -2.5f);
  EXPECT_EQ(initializer(std::move(unpacked)).data<float>()[1], -2.5f);
  EXPECT_EQ(initializer(raw_tensor("w", {0, 5}, "")).element_count(), 0);
}

TEST(Reader, OfSeveralFieldsRawDataCountsBeforeTheTypesOwn) {
  for (bool raw_first : {true, false}) {
    WireWriter tensor = raw_tensor("w", {1}, raw_first ? std::string("\0\0\x80\x3f", 4) : "");
    tensor.real(4, 5.0f);
    if (!raw_first) tensor.text(9, std::string("\0\0\x80\x3f", 4));
    EXPECT_EQ(*initializer(std::move(tensor)).data<float>(), 1.0f);
  }
  for (bool own_first : {true, false}) {
    WireWriter tensor = raw_tensor("w", {1}, "");
    if (own_first) tensor.real(4, 5.0f);
    tensor.packed(7, std::vector<int64_t>{1, 2});
    if (!own_first) tensor.real(4, 5.0f);
    EXPECT_EQ(*initializer(std::move(tensor)).data<float>(), 5.0f);
  }
}

TEST(Reader, SegmentsAreNotLookedAt) {
  WireWriter segment, tensor = raw_tensor("w", {1}, std::string("\0\0\x80\x3f", 4));
  segment.integer(2, 1);
  tensor.message(3, std::move(segment));
  EXPECT_EQ(*initializer(std::move(tensor)).data<float>(), 1.0f);
}

TEST(Reader, InitializersWithoutNamesAreNotRead) {
  auto model = read(ModelText(relu_graph().initializer(raw_tensor("", {9}, "short"))).bytes());
  EXPECT_EQ(model->graph->values().size(), 2u);
}

TEST(Reader, SparseInitializersAreMadeDense) {
  WireWriter sparse;
  sparse.message(1, raw_tensor("w", {2}, std::string("\0\0\x80\x3f\0\0\0\x40", 8)));
  sparse.message(2, typed_tensor(7, {2, 2}, 7, {0, 1, 1, 0}));
  sparse.packed(3, std::vector<int64_t>{2, 2});
  GraphText graph;
  graph.add(15, std::move(sparse)).node({"Identity", {"w"}, {"y"}}).output("y");
  auto model = read(ModelText(std::move(graph)).bytes());
  auto values = model->graph->find("w")->constant->span<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{0, 1, 2, 0}));
}

TEST(Reader, CallersInitializersReplaceTheModels) {
  ReadOptions options;
  options.initializers["w"] = scalar(3.0f);
  WireWriter elsewhere;
  elsewhere.text(1, "location");
  elsewhere.text(2, "nowhere");
  WireWriter tensor = raw_tensor("w", {1}, "");
  tensor.message(13, std::move(elsewhere));
  tensor.integer(14, 1);
  EXPECT_EQ(*initializer(std::move(tensor), options).data<float>(), 3.0f);
}

TEST(Reader, DefaultOpsetsServeDomainsThatAreNotImported) {
  auto model =
      read(ModelText(GraphText().input("x").node({"Gelu", {"x"}, {"y"}, "", "com.microsoft"}).output("y")).bytes());
  EXPECT_EQ(model->graph->nodes()[0]->opset, 1);
  EXPECT_EQ(model->context->opsets.at("com.microsoft"), 1);
}

TEST(Reader, KnownDomainsThatAreNotImportedGetTheirNewestVersion) {
  for (int64_t ir : {1, 3, 8}) {
    WireWriter model;
    GraphText graph = relu_graph();
    graph.node({"Binarizer", {"x"}, {"b"}, "", "ai.onnx.ml"}).node({"Gelu", {"x"}, {"g"}, "", "com.microsoft"});
    model.integer(1, ir);
    model.message(7, std::move(graph.out));
    model.message(8, opset("some.domain", 3));
    auto read_model = read(bytes_of(model));
    EXPECT_EQ(read_model->graph->nodes()[0]->opset, 26);
    EXPECT_EQ(read_model->graph->nodes()[1]->opset, 5);
    EXPECT_EQ(read_model->graph->nodes()[2]->opset, 1);
  }
}

TEST(Reader, VersionsOfTheFormatBelowOneAreRead) {
  for (int64_t ir : {int64_t{0}, int64_t{-1}, INT64_MIN, int64_t{13}}) {
    EXPECT_EQ(read(ModelText(relu_graph(), ir).bytes())->ir_version, ir);
  }
  EXPECT_NE(refusal(ModelText(relu_graph(), 14).bytes()).text.find("its ir_version 14 is newer than 13"),
            std::string::npos);
  WireWriter none;
  none.message(7, std::move(relu_graph().out));
  none.message(8, opset("", 17));
  EXPECT_NE(refusal(bytes_of(none)).text.find("it has no ir_version"), std::string::npos);
}

}  // namespace
}  // namespace ortolan::onnx
