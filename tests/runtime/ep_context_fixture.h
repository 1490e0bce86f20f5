// A provider that compiles nodes to EPContext nodes, and models that it compiled.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model_builder.h"
#include "onnx/writer.h"
#include "runtime/session/ep_context.h"
#include "runtime/session/session.h"
#include "runtime/session/session_builder.h"

namespace ortolan::runtime {

namespace fs = std::filesystem;
inline constexpr const char* kType = "ContextExecutionProvider";

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
inline std::unique_ptr<Model> source(SymbolicShape shape = {}) {
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

}  // namespace ortolan::runtime
