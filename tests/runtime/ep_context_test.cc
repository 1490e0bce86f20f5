// Compiled models: written where the options say, read back and run, and refused when something in them is wrong.
#include "runtime/ep_context.h"

#include <gtest/gtest.h>
#include <tuple>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../thrown_text.h"
#include "model_builder.h"
#include "onnx/reader.h"
#include "onnx/writer.h"
#include "runtime/session.h"
#include "runtime/session_builder.h"

namespace ortolan::runtime {
namespace {

namespace fs = std::filesystem;
constexpr const char* kType = "ContextExecutionProvider";

/** y = a * b of one shape, or a * a of one input; with `grown`, an output that is one row longer than the inputs. */
class Product final : public OpKernel {
 public:
  explicit Product(bool grown) : grown_(grown) {}
  void compute(KernelContext& context) const override {
    const Tensor &a = context.input(0), &b = context.input(context.input_count() - 1);
    Shape shape = a.shape();
    if (grown_) shape[0] += 1;
    Tensor& y = context.output(0, shape);
    for (int64_t i = 0; i < a.element_count(); ++i) {
      y.mutable_data<float>()[i] = a.span<float>()[i] * b.span<float>()[i];
    }
  }

 private:
  bool grown_;
};

struct Settings {
  std::string info;  // of compatibility_info
  Compatibility judgement = Compatibility::kOptimal;
  bool without_node = false;  // gives no EPContext nodes
  std::string renamed;        // a value of theirs that gets another name
  bool other_node = false;    // gives another node instead
  bool grown = false;         // of Product
  WeightlessSupport weightless = WeightlessSupport::kUnknown;
};

/** Compiles each Mul to an EPContext node of its own, and takes such nodes back. */
class ContextProvider final : public ExecutionProvider {
 public:
  explicit ContextProvider(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}
  const std::string& type() const override {
    static const std::string name = kType;
    return name;
  }
  const std::vector<std::pair<std::string, std::string>>& options() const override { return options_; }
  std::string compatibility_info(const Graph&) override { return settings_->info; }
  WeightlessSupport weightless_support() const override { return settings_->weightless; }
  Capability get_capability(const Graph& graph) override {
    Capability capability;
    for (const auto& node : graph.nodes()) {
      bool own = is_ep_context(*node) && node->string_or("source", "") == kType;
      if (node->provider.empty() && (own || node->op_type == "Mul")) capability.groups.push_back({{node.get()}, true});
    }
    return capability;
  }
  std::vector<CompiledGroup> compile(std::span<const FusedGroup> groups) override {
    std::vector<CompiledGroup> compiled;
    for (const FusedGroup& group : groups) {
      const Node& node = *group.nodes.front();
      if (is_ep_context(node)) {
        require(node.string_of("ep_cache_context") == "multiply", ErrorCode::kEpFail, "the data is damaged");
      }
      compiled.push_back(
          {std::make_unique<Product>(settings_->grown), settings_->without_node ? nullptr : node_for(group)});
    }
    return compiled;
  }

 private:
  std::shared_ptr<Graph> node_for(const FusedGroup& group) const {
    auto graph = std::make_shared<Graph>(group.graph->shared_context());
    std::vector<ValueInfo*> inputs, outputs;
    auto add = [&](const ValueInfo* value) {
      return graph->add_value(value->name == settings_->renamed ? "elsewhere" : value->name);
    };
    for (const ValueInfo* input : group.inputs) inputs.push_back(add(input));
    for (const ValueInfo* output : group.outputs) outputs.push_back(add(output));
    Node* node = graph->add_node(group.name, settings_->other_node ? "Mul" : "EPContext", "com.microsoft",
                                 std::move(inputs), std::move(outputs));
    node->opset = 1;
    node->set_attribute("ep_cache_context", std::string("multiply"));
    node->set_attribute("source", std::string(kType));
    return graph;
  }
  std::shared_ptr<Settings> settings_;
  std::vector<std::pair<std::string, std::string>> options_;
};

class ContextFactory final : public ProviderFactory {
 public:
  explicit ContextFactory(std::shared_ptr<Settings> settings) : settings_(std::move(settings)) {}
  const std::string& type() const override {
    static const std::string name = kType;
    return name;
  }
  std::unique_ptr<ExecutionProvider> make(const SessionOptions&, const Logger&) const override {
    return std::make_unique<ContextProvider>(settings_);
  }
  Compatibility judge(const std::string& info) const override {
    EXPECT_EQ(info, "made by hand");
    return settings_->judgement;
  }

 private:
  std::shared_ptr<Settings> settings_;
};

/** o = (x + w) * (x + w) - b for x [N, 2] or of the shape. */
std::unique_ptr<Model> source(SymbolicShape shape = {}) {
  Builder build;
  if (!shape.has_rank()) shape = SymbolicShape(DimVector{build.model->context->symbols.named("N"), Dim(2)});
  ValueInfo* x = build.input("x", std::move(shape));
  ValueInfo* w = build.graph().add_initializer("w", vector_tensor<float>(std::vector<float>{2, 3}));
  ValueInfo* b = build.graph().add_initializer("b", vector_tensor<float>(std::vector<float>{4, 5}));
  ValueInfo* y = build.node("Add", {x, w}, "y");
  build.graph().mark_output(build.node("Sub", {build.node("Mul", {y, y}, "z"), b}, "o"));
  return std::move(build.model);
}

class EpContextTest : public ::testing::Test {
 protected:
  EpContextTest() {
    char pattern[] = "/tmp/ep_context_test.XXXXXX";
    folder_ = mkdtemp(pattern);
    options_.providers = {{kType, {}, std::make_shared<ContextFactory>(settings_), true}};
    onnx::write_model_file(*source(), path("m.onnx"));
  }
  ~EpContextTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }

  std::string compiled(CompiledOutput output = {}) {
    std::string bytes;
    output.write = [&](std::span<const std::byte> piece, uint64_t) {
      bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
    };
    SessionBuilder builder(environment(), options_, nullptr);
    builder.write_compiled([](const onnx::ReadOptions&) { return source(); }, output);
    return bytes;
  }

  std::unique_ptr<Session> session(const std::string& bytes) {
    return Session::from_bytes(environment(), std::as_bytes(std::span(bytes)), options_);
  }

  static void expect_results(const Session& session) {
    Tensor x(ElementType::kFloat, Shape{2, 2});
    const double w[] = {2, 3}, b[] = {4, 5};
    for (int i = 0; i < 4; ++i) x.mutable_data<float>()[i] = static_cast<float>(i) - 1;
    Value value(x), result;
    const Value* values[] = {&value};
    const char *in[] = {"x"}, *out[] = {"o"};
    session.run(nullptr, in, values, out, std::span(&result, 1));
    for (int i = 0; i < 4; ++i) {
      double sum = x.span<float>()[i] + w[i % 2];
      EXPECT_FLOAT_EQ(result.tensor().span<float>()[i], sum * sum - b[i % 2]);
    }
  }

  template <class Body>
  [[nodiscard]] static std::string failure(ErrorCode code, Body&& body) {
    try {
      body();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.text();
      return error.text();
    }
    ADD_FAILURE() << "nothing was thrown";
    return {};
  }

  /** A model of one EPContext node whose data is in the file called `data`. */
  std::string write_context(const std::string& data, const std::string& name = "c.onnx", bool typed = true) {
    Builder build;
    ValueInfo* x = build.input("x", SymbolicShape(Shape{2, 2}));
    ValueInfo* z = build.graph().add_value(
        "z", typed ? TypeInfo::of_tensor(ElementType::kFloat, SymbolicShape(Shape{2, 2})) : TypeInfo{});
    Node* node = build.graph().add_node("part", "EPContext", "com.microsoft", {x, x}, {z});
    node->opset = 1;
    node->set_attribute("ep_cache_context", data);
    node->set_attribute("embed_mode", int64_t{0});
    node->set_attribute("source", std::string("ElsewhereExecutionProvider"));
    build.graph().mark_output(build.node("Identity", {z}, "o"));
    build.model->context->opsets["com.microsoft"] = 1;
    onnx::write_model_file(*build.model, path(name));
    return path(name);
  }

  std::string folder_;
  std::shared_ptr<Settings> settings_ = std::make_shared<Settings>();
  SessionOptions options_;
};

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

TEST_F(EpContextTest, ProviderMustGiveOneEpContextNode) {
  settings_->without_node = true;
  std::string text = failure(ErrorCode::kFail, [&] { compiled(); });
  EXPECT_NE(text.find("gave no EPContext node"), std::string::npos) << text;
  settings_->without_node = false;
  settings_->other_node = true;
  text = failure(ErrorCode::kFail, [&] { compiled(); });
  EXPECT_NE(text.find("something else than one EPContext node"), std::string::npos) << text;
  settings_->other_node = false;
  settings_->renamed = "y";
  text = failure(ErrorCode::kFail, [&] { compiled(); });
  EXPECT_NE(text.find("whose input 'elsewhere' is no value of the graph"), std::string::npos) << text;
  settings_->renamed = "z";
  text = failure(ErrorCode::kFail, [&] { compiled(); });
  EXPECT_NE(text.find("does not make the group's output 'z'"), std::string::npos) << text;
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

TEST_F(EpContextTest, JudgesCompatibility) {
  settings_->info = "made by hand";
  std::string bytes = compiled();
  settings_->judgement = Compatibility::kUnsupported;
  std::string text = failure(ErrorCode::kFail, [&] { session(bytes); });
  EXPECT_NE(text.find("'made by hand'"), std::string::npos) << text;
  settings_->judgement = Compatibility::kPreferRecompilation;
  expect_results(*session(bytes));
  options_.config["session.fail_on_suboptimal_compiled_model"] = "1";
  text = failure(ErrorCode::kFail, [&] { session(bytes); });
  EXPECT_NE(text.find("below its best"), std::string::npos) << text;
}

TEST_F(EpContextTest, CompilingCanBeForbidden) {
  std::string bytes = compiled();
  options_.config["session.disable_model_compile"] = "1";
  expect_results(*session(bytes));
  std::string text = failure(ErrorCode::kModelRequiresCompilation,
                             [&] { Session::from_file(environment(), path("m.onnx"), options_); });
  EXPECT_NE(text.find("would have to compile node"), std::string::npos) << text;
}

TEST_F(EpContextTest, SaysWhichProviderIsMissing) {
  std::string model = write_context("data.bin");
  std::string text = failure(ErrorCode::kNotImplemented, [&] { Session::from_file(environment(), model, options_); });
  EXPECT_NE(text.find("execution provider 'ElsewhereExecutionProvider' compiled; register that provider"),
            std::string::npos)
      << text;
}

TEST_F(EpContextTest, FilesStayInTheModelsFolder) {
  fs::create_directory(path("sub"));
  std::ofstream(path("secret.bin")) << "secret";
  fs::create_directory(path("inner"));
  fs::create_symlink(path("secret.bin"), path("inner/link.bin"));
  fs::create_symlink(path("sub"), path("inner/way"));
  for (const char* file : {"../secret.bin", "a/../../secret.bin", "/etc/passwd", "link.bin", "way/data.bin"}) {
    std::string model = write_context(file, "inner/c.onnx");
    std::string text = failure(ErrorCode::kInvalidGraph, [&] { Session::from_file(environment(), model, options_); });
    EXPECT_NE(text.find("node 'part' (EPContext): ep_cache_context"), std::string::npos) << text;
  }
  std::ofstream(path("inner/data.bin")) << "data";
  fs::create_symlink("data.bin", path("inner/near.bin"));
  for (const char* file : {"data.bin", "sub/data.bin", "./data.bin", "near.bin"}) {
    std::string model = write_context(file, "inner/c.onnx");
    std::string text = failure(ErrorCode::kNotImplemented, [&] { Session::from_file(environment(), model, options_); });
    EXPECT_NE(text.find("it holds what execution provider 'ElsewhereExecutionProvider' compiled"), std::string::npos)
        << text;
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

TEST_F(EpContextTest, AttributesOfTheWrongKind) {
  const AttributeValue text(std::string("..")), whole(int64_t{0}), real(2.f);
  const std::tuple<const char*, AttributeValue, const char*> wrong[] = {
      {"embed_mode", text, "is a string, but must be an int"},
      {"embed_mode", real, "is a float, but must be an int"},
      {"ep_cache_context", whole, "is an int, but must be a string"},
      {"ep_cache_context", real, "is a float, but must be a string"},
      {"source", whole, "is an int, but must be a string"},
      {"source", real, "is a float, but must be a string"}};
  for (const auto& [name, value, part] : wrong) {
    std::unique_ptr<Model> model = onnx::read_model_file(write_context("data.bin"));
    model->graph->nodes()[0]->set_attribute(name, value);
    EXPECT_TRUE(test::throws(join("attribute '", name, "' ", part),
                             [&] { Session::from_model(environment(), std::move(model), options_); }));
  }
}

TEST_F(EpContextTest, ModelMustStateTheTypesOfOutputs) {
  std::string model = write_context("data.bin", "c.onnx", false);
  std::string text = failure(ErrorCode::kInvalidGraph, [&] { Session::from_file(environment(), model, options_); });
  EXPECT_NE(text.find("does not state the type of output 'z'"), std::string::npos) << text;
}

TEST_F(EpContextTest, StatedShapesMustBeWhatTheProviderMakes) {
  settings_->grown = true;
  std::unique_ptr<Model> model = source(SymbolicShape(Shape{2, 2}));
  auto made = Session::from_model(environment(), std::move(model), options_);
  Value value(Tensor(ElementType::kFloat, Shape{2, 2}));
  const Value* values[] = {&value};
  const char *in[] = {"x"}, *out[] = {"o"};
  std::string text = failure(ErrorCode::kRuntimeException, [&] {
    for (int i = 0; i < 3; ++i) {  // shapes are planned once they come again
      Value result;
      made->run(nullptr, in, values, out, std::span(&result, 1));
    }
  });
  EXPECT_NE(text.find("float[2,2], but the kernel makes float[3,2]"), std::string::npos) << text;
}

}  // namespace
}  // namespace ortolan::runtime
