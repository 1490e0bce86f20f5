// Builds small graphs, rewrites them, and runs them with and without rewriting.
#include "pass_test.h"

#include "ops/schema.h"
#include "runtime/kernels/evaluate.h"
#include "runtime/resolve.h"

namespace ortolan::test {
namespace {

constexpr int64_t kUnknownDim = 2;

std::shared_ptr<Environment> environment() {
  static auto& shared = *new std::shared_ptr<Environment>(
      std::make_shared<Environment>(Logger(stderr_sink(), "test", Severity::kWarning)));
  return shared;
}

/** Calls `use` with a context like a session's. */
template <class Use>
void with_context(Work& work, int level, Use&& use) {
  ThreadPool::Options one;
  one.threads = 1;
  ThreadPool pool(one);
  auto cpu = make_cpu_execution_provider();
  Evaluator evaluator(*cpu, pool, int64_t{1} << 30);
  auto evaluate = [&](const Node& node) {
    ++work.evaluations;
    return evaluator.run(node);
  };
  auto resolve = [&](Node& node) {
    ++work.resolutions;
    ops::resolve_schema(node);
  };
  auto infer = [&](Graph& graph) {
    ++work.inferences;
    infer_types(graph);
  };
  passes::PassContext context{evaluate, resolve, infer};
  context.find_quantized = level > 1;
  use(context);
}

Value random_value(const TypeInfo& type, uint32_t seed) {
  Shape shape;
  for (size_t i = 0; i < type.shape.rank(); ++i) {
    shape.push_back(type.shape[i].known() ? type.shape[i].value() : kUnknownDim);
  }
  if (type.element == ElementType::kDouble) return Value(random_tensor<double>(shape, seed, -3, 3));
  if (type.element == ElementType::kInt64) return Value(random_tensor<int64_t>(shape, seed, 0, 3));
  if (type.element == ElementType::kFloat16) return Value(random_tensor<base::Half>(shape, seed, -3, 3));
  if (type.element == ElementType::kBFloat16) return Value(random_tensor<base::BFloat16>(shape, seed, -3, 3));
  return Value(random_tensor<float>(shape, seed, -3, 3));
}

}  // namespace

ValueInfo* TestGraph::input(const std::string& name, const DimVector& dims, ElementType type) {
  ValueInfo* value = graph_.add_value(name, TypeInfo::of_tensor(type, SymbolicShape(dims)));
  value->is_input = true;
  graph_.inputs.push_back(value);
  return value;
}

ValueInfo* TestGraph::random(const std::string& name, Shape shape, double low, double high) {
  auto seed = static_cast<uint32_t>(graph_.values().size()) + 17;
  return constant(name, random_tensor<float>(std::move(shape), seed, low, high));
}

ValueInfo* TestGraph::ints(const std::string& name, const std::vector<int64_t>& values) {
  return constant(name, vector_tensor<int64_t>(std::span<const int64_t>(values)));
}

ValueInfo* TestGraph::node(const std::string& op, std::vector<ValueInfo*> inputs, const std::string& output,
                           std::vector<Attribute> attributes, const std::string& domain) {
  ValueInfo* value = graph_.add_value(output);
  Node* node = graph_.add_node(output, op, domain, std::move(inputs), {value});
  for (Attribute& attribute : attributes) node->set_attribute(attribute.name, std::move(attribute.value));
  return value;
}

std::unique_ptr<Model> PassTest::model() const {
  auto model = std::make_unique<Model>();
  model->ir_version = 8;
  model->context->opsets[""] = opset_;
  model->graph = std::make_unique<Graph>(model->context);
  model->graph->name = "g";
  TestGraph graph(*model->graph);
  build_(graph);
  return model;
}

Work rewrite_as_session(Model& model, int level) {
  Work work;
  resolve_model(model, {});
  with_context(work, level, [&](const passes::PassContext& context) {
    passes::rewrite(*model.graph, 1, std::min(level, 1), context);
    passes::rewrite(*model.graph, 2, level, context);
  });
  return work;
}

std::unique_ptr<Model> PassTest::rewritten(int level) const {
  auto result = model();
  rewrite_as_session(*result, level);
  Work work;
  with_context(work, level, [&](const passes::PassContext& context) {
    for (const passes::Pass& pass : passes::all_passes()) {
      if (pass.level > level) continue;
      EXPECT_FALSE(pass.run(*result->graph, context)) << pass.name << " changes it again";
    }
  });
  return result;
}

Counts count_nodes(Graph& graph) {
  Counts counts;
  for_each_graph(graph, [&](Graph& part) {
    for (const auto& node : part.nodes()) {
      ++counts[node->domain.empty() ? node->op_type : join(node->domain, ".", node->op_type)];
    }
  });
  return counts;
}

Counts PassTest::after(int level) const { return count_nodes(*rewritten(level)->graph); }

std::vector<Value> run_model(std::unique_ptr<Model> model, std::span<const Value> inputs,
                             const SessionOptions& options) {
  std::vector<std::string> names, outputs;
  for (const ValueInfo* input : model->graph->inputs) {
    if (!input->constant) names.push_back(input->name);
  }
  for (const ValueInfo* output : model->graph->outputs) outputs.push_back(output->name);
  auto session = Session::from_model(environment(), std::move(model), options);
  std::vector<const char*> name_texts, output_texts;
  std::vector<const Value*> feeds;
  for (size_t i = 0; i < names.size(); ++i) {
    name_texts.push_back(names[i].c_str());
    feeds.push_back(&inputs[i]);
  }
  for (const std::string& output : outputs) output_texts.push_back(output.c_str());
  std::vector<Value> results(outputs.size());
  session->run(nullptr, name_texts, feeds, output_texts, results);
  return results;
}

std::vector<Value> PassTest::run(RewriteLevel level) const {
  SessionOptions options;
  options.level = level;
  auto made = model();
  std::vector<Value> values;
  for (const ValueInfo* input : made->graph->inputs) {
    if (!input->constant) values.push_back(random_value(input->type, static_cast<uint32_t>(values.size()) + 1));
  }
  return run_model(std::move(made), values, options);
}

void PassTest::expect_same_results(double tolerance) const {
  auto plain = run(RewriteLevel::kNone);
  for (RewriteLevel level : {RewriteLevel::kBasic, RewriteLevel::kAll}) {
    auto results = run(level);
    ASSERT_EQ(results.size(), plain.size());
    for (size_t i = 0; i < plain.size(); ++i) {
      bool exact = tolerance == 0 && level == RewriteLevel::kBasic;
      if (exact || !plain[i].is_tensor() || !kFloatTypes.contains(plain[i].tensor().type())) {
        EXPECT_TRUE(same_value(results[i], plain[i])) << "output " << i;
      } else {
        double within = tolerance > 0 ? tolerance : 1e-5;
        EXPECT_TRUE(near(results[i].tensor(), plain[i].tensor().shape(), doubles(plain[i].tensor()), within))
            << "output " << i << " at level " << static_cast<int>(level);
      }
    }
  }
}

}  // namespace ortolan::test
