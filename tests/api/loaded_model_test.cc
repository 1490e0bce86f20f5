// The model editor on loaded models: what they tell before they are ready, changes, and wrong ones.
#include "model_editor_fixture.h"

namespace {

class LoadedModelTest : public ModelEditorTest {
 protected:
  Session load() {
    std::string bytes = add_model().bytes();
    Session session;
    EXPECT_OK(editor().CreateModelEditorSessionFromArray(env_, bytes.data(), bytes.size(), options_, session.out()));
    return session;
  }
};

TEST_F(LoadedModelTest, KnowsItsValuesBeforeItIsReady) {
  Session session = load();
  size_t count = 0;
  char* name = nullptr;
  int opset = 0;
  EXPECT_OK(api().SessionGetInputCount(session, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_OK(api().SessionGetOutputCount(session, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(api().SessionGetInputName(session, 0, default_allocator(), &name));
  EXPECT_EQ(take(name), "x");
  EXPECT_OK(editor().SessionGetOpsetForDomain(session, "", &opset));
  EXPECT_EQ(opset, 17);
  std::vector<float> data = {1, 2};
  Value x = floats(data, {1, 2}), y;
  const OrtValue* inputs[] = {x};
  const char* in = "x";
  const char* out = "y";
  EXPECT_REFUSED(api().Run(session, nullptr, &in, inputs, 1, &out, 1, y.out()), ORT_FAIL,
                 "the session is not ready yet");
  ASSERT_OK(editor().FinalizeModelEditorSession(session, options_, nullptr));
  EXPECT_EQ(run(session, {1, 2}, {1, 2}, "z"), (std::vector<float>{121, 484}));
}

TEST_F(LoadedModelTest, NewNodesGoBeforeAndAfter) {
  Session session = load();
  Graph after = graph({}, {value_info("sum", {-1, 1}), value_info("z", {-1, 2})},
                      {node("ReduceSum", "total", {"y", "axes"}, {"sum"})});
  int64_t one = 1, axis = 1;
  Value axes;
  ASSERT_OK(
      api().CreateTensorAsOrtValue(default_allocator(), &one, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, axes.out()));
  void* memory = nullptr;
  ASSERT_OK(api().GetTensorMutableData(axes, &memory));
  std::memcpy(memory, &axis, sizeof axis);
  ASSERT_OK(editor().AddInitializerToGraph(after, "axes", axes, false));
  new (&axes) Value;
  Model change = model(std::move(after));
  ASSERT_OK(editor().ApplyModelToModelEditorSession(session, change));
  Model before = model(graph({value_info("raw", {-1, 2}, {"N", ""})}, {}, {node("Neg", "negate", {"raw"}, {"x"})}));
  ASSERT_OK(editor().ApplyModelToModelEditorSession(session, before));
  char* name = nullptr;
  EXPECT_OK(api().SessionGetInputName(session, 0, default_allocator(), &name));
  EXPECT_EQ(take(name), "raw");
  ASSERT_OK(editor().FinalizeModelEditorSession(session, nullptr, nullptr));
  EXPECT_EQ(run(session, {-1, -2}, {1, 2}, "sum", "raw"), (std::vector<float>{33}));
  EXPECT_EQ(run(session, {-1, -2}, {1, 2}, "z", "raw"), (std::vector<float>{121, 484}));
}

TEST_F(LoadedModelTest, ANewNodeFeedsWhatSubgraphsUse) {
  ModelWriter loaded, then_branch, else_branch;
  then_branch.node("Neg", {"x"}, {"minus"});
  then_branch.output("minus", 1, {"2"});
  else_branch.node("Relu", {"x"}, {"plus"});
  else_branch.output("plus", 1, {"2"});
  loaded.input("x", 1, {"2"});
  loaded.node("ReduceSum", {"x"}, {"sum"}, ModelWriter::int_attribute("keepdims", 0));
  loaded.node("Cast", {"sum"}, {"any"}, ModelWriter::int_attribute("to", ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL));
  loaded.node("If", {"any"}, {"y"},
              ModelWriter::graph_attribute("then_branch", then_branch) +
                  ModelWriter::graph_attribute("else_branch", else_branch));
  loaded.output("y", 1, {"2"});
  std::string bytes = loaded.bytes();
  Session session;
  ASSERT_OK(editor().CreateModelEditorSessionFromArray(env_, bytes.data(), bytes.size(), options_, session.out()));
  Model change = model(graph({value_info("raw", {2})}, {}, {node("Add", "twice", {"raw", "raw"}, {"x"})}));
  ASSERT_OK(editor().ApplyModelToModelEditorSession(session, change));
  ASSERT_OK(editor().FinalizeModelEditorSession(session, options_, nullptr));
  EXPECT_EQ(run(session, {1, 2}, {2}, "y", "raw"), (std::vector<float>{-2, -4}));
  EXPECT_EQ(run(session, {-3, 3}, {2}, "y", "raw"), (std::vector<float>{0, 6}));
}

TEST_F(LoadedModelTest, WrongChangesAreRefused) {
  Session session = load();
  Model nothing;
  ASSERT_OK(editor().CreateModel(nullptr, nullptr, 0, nothing.out()));
  EXPECT_REFUSED(editor().ApplyModelToModelEditorSession(session, nothing), ORT_INVALID_ARGUMENT, "no graph");
  EXPECT_REFUSED(editor().ApplyModelToModelEditorSession(session, model(graph({}, {}, {}), 13)), ORT_INVALID_ARGUMENT,
                 "uses version 17 of the operator set '', but the model to apply version 13");
  Model lost = model(graph({value_info("other", {2})}, {}, {}));
  EXPECT_REFUSED(editor().ApplyModelToModelEditorSession(session, lost), ORT_INVALID_GRAPH,
                 "the input 'x' is no more among the graph's inputs, but still used");
  EXPECT_REFUSED(editor().FinalizeModelEditorSession(session, options_, nullptr), ORT_FAIL, "create the session again");
  Session ready = load();
  ASSERT_OK(editor().FinalizeModelEditorSession(ready, options_, nullptr));
  EXPECT_REFUSED(editor().FinalizeModelEditorSession(ready, options_, nullptr), ORT_INVALID_ARGUMENT, "ready to run");
  EXPECT_REFUSED(editor().ApplyModelToModelEditorSession(ready, lost), ORT_INVALID_ARGUMENT, "ready to run");
  Session none;
  EXPECT_REFUSED(editor().CreateModelEditorSession(env_, "/nowhere.onnx", options_, none.out()), ORT_NO_SUCHFILE,
                 "/nowhere.onnx");
}

}  // namespace
