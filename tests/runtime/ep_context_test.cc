// Compiled models: written where the options say, read back and run.
#include "runtime/session/ep_context.h"

#include <fstream>

#include "ep_context_fixture.h"
#include "onnx/reader.h"

namespace ortolan::runtime {
namespace {

TEST_F(EpContextTest, WritesAndRunsCompiledModel) {
  settings_->info = "made by hand";
  std::string bytes = compiled();
  auto model = onnx::read_model_bytes({std::as_bytes(std::span(bytes)), nullptr});
  ASSERT_EQ(model->graph->nodes().size(), 3u);
  EXPECT_EQ(model->graph->nodes()[1]->op_type, "EPContext");
  EXPECT_EQ(model->graph->nodes()[1]->string_of("source"), kType);
  EXPECT_NE(model->graph->find("w"), nullptr);
  ASSERT_EQ(model->metadata.size(), 1u);
  EXPECT_EQ(model->metadata[0].first, "ep_compatibility_info.ContextExecutionProvider");
  expect_results(*session(bytes));
}

TEST_F(EpContextTest, SessionWritesItWhenAsked) {
  options_.config["ep.context_enable"] = "1";
  expect_results(*Session::from_file(environment(), path("m.onnx"), options_));
  EXPECT_TRUE(fs::exists(path("m_ctx.onnx")));
  std::string text = failure(ErrorCode::kFail, [&] { Session::from_file(environment(), path("m.onnx"), options_); });
  EXPECT_NE(text.find("exists already; remove it or name another"), std::string::npos) << text;
  options_.config["ep.context_file_path"] = folder_;
  text = failure(ErrorCode::kInvalidArgument, [&] { Session::from_file(environment(), path("m.onnx"), options_); });
  EXPECT_NE(text.find("which is a folder"), std::string::npos) << text;
  options_.config["ep.context_file_path"] = path("given.onnx");
  options_.config["ep.context_node_name_prefix"] = "part1_";
  options_.config["ep.context_model_external_initializers_file_name"] = "given.bin";
  Session::from_file(environment(), path("m.onnx"), options_);
  auto model = onnx::read_model_file(path("given.onnx"));
  EXPECT_EQ(model->graph->nodes()[1]->name.find("part1_ContextExecutionProvider"), 0u);
  EXPECT_EQ(fs::file_size(path("given.bin")), 64u + 8u);
  options_.config.clear();
  expect_results(*Session::from_file(environment(), path("given.onnx"), options_));
}

TEST_F(EpContextTest, NamesItsFileAfterTheSource) {
  CompiledOutput output;
  EXPECT_EQ(compiled_path(output, "a.b/model.onnx"), "a.b/model_ctx.onnx");
  EXPECT_EQ(compiled_path(output, "a.b/model"), "a.b/model_ctx.onnx");
  EXPECT_EQ(compiled_path(output, "m"), "m_ctx.onnx");
  std::string text = failure(ErrorCode::kFail, [&] { compiled_path(output, ""); });
  EXPECT_NE(text.find("nothing says where the compiled model goes"), std::string::npos) << text;
}

TEST_F(EpContextTest, NothingCompiled) {
  options_.providers.clear();
  std::string bytes = compiled();
  expect_results(*session(bytes));
  CompiledOutput output;
  output.nothing_compiled = NothingCompiled::kFail;
  std::string text = failure(ErrorCode::kFail, [&] { compiled(output); });
  EXPECT_NE(text.find("no provider of the session compiled any node"), std::string::npos) << text;
  output.nothing_compiled = NothingCompiled::kSkip;
  EXPECT_EQ(compiled(output), "");
}

TEST_F(EpContextTest, WeightsGoWhereTheOptionsSay) {
  CompiledOutput output;
  output.place = [](const std::string& name, const Tensor& value) -> std::optional<ExternalPlace> {
    EXPECT_EQ(value.byte_count(), 8u);
    if (name != "w") return std::nullopt;
    return ExternalPlace{"weights.bin", 16, 8};
  };
  std::string bytes = compiled(output);
  std::ofstream file(path("weights.bin"), std::ios::binary);
  const float w[] = {0, 0, 0, 0, 2, 3};
  file.write(reinterpret_cast<const char*>(w), sizeof w);
  file.close();
  std::ofstream(path("c.onnx"), std::ios::binary) << bytes;
  expect_results(*Session::from_file(environment(), path("c.onnx"), options_));
  options_.config["ep.enable_weightless"] = "1";
  compiled();  // the provider does not say, which is worth a warning only
  settings_->weightless = WeightlessSupport::kNone;
  std::string text = failure(ErrorCode::kEpFail, [&] { compiled(); });
  EXPECT_NE(text.find("asks for compiled data without weights"), std::string::npos) << text;
}

/** o = if c then x * w else x * x. */
std::unique_ptr<Model> branching() {
  Builder build;
  Graph& graph = build.graph();
  ValueInfo* c = build.input("c", SymbolicShape(Shape{}), ElementType::kBool);
  ValueInfo* x = build.input("x", SymbolicShape(Shape{2}));
  ValueInfo* w = graph.add_initializer("w", vector_tensor<float>(std::vector<float>{2, 3}));
  ValueInfo* o = graph.add_value("o");
  Node* node = graph.add_node("branch", "If", "", {c}, {o});
  node->opset = 17;
  for (const char* name : {"then_branch", "else_branch"}) {
    auto branch = std::make_shared<Graph>(build.model->context, &graph);
    bool then = name[0] == 't';
    branch->mark_output(Builder::node_in(*branch, "Mul", {x, then ? w : x}, then ? "t" : "e"));
    node->set_attribute(name, branch);
  }
  graph.mark_output(o);
  return std::move(build.model);
}

TEST_F(EpContextTest, CompilesInBranches) {
  CompiledOutput output;
  output.path = path("branches.onnx");
  SessionBuilder builder(environment(), options_, nullptr);
  builder.write_compiled([](const onnx::ReadOptions&) { return branching(); }, output);
  auto made = Session::from_file(environment(), output.path, options_);
  for (bool condition : {true, false}) {
    Value c(scalar<bool>(condition)), x(vector_tensor<float>(std::vector<float>{5, 7})), result;
    const Value* values[] = {&c, &x};
    const char *in[] = {"c", "x"}, *out[] = {"o"};
    made->run(nullptr, in, values, out, std::span(&result, 1));
    EXPECT_EQ(result.tensor().span<float>()[0], condition ? 10 : 25);
    EXPECT_EQ(result.tensor().span<float>()[1], condition ? 21 : 49);
  }
}

TEST_F(EpContextTest, NodesOfSeveralModelsHaveNamesOfTheirOwn) {
  auto node_name = [&](const std::string& file) {
    onnx::write_model_file(*source(), path(file));
    CompiledOutput output;
    output.path = path("out.onnx");
    SessionBuilder builder(environment(), options_, nullptr);
    builder.write_compiled([&](const onnx::ReadOptions& read) { return onnx::read_model_file(path(file), read); },
                           output);
    return onnx::read_model_file(output.path)->graph->nodes()[1]->name;
  };
  std::string first = node_name("first.onnx");
  EXPECT_EQ(node_name("first.onnx"), first);
  EXPECT_NE(node_name("second.onnx"), first);
}

}  // namespace
}  // namespace ortolan::runtime
