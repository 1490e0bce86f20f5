// Builds small graphs, rewrites them, and runs them with and without rewriting.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ops/op_test.h"
#include "passes/pass.h"

namespace ortolan::test {

/** A model under construction. */
class TestGraph {
 public:
  explicit TestGraph(Graph& graph) : graph_(graph) {}

  ValueInfo* input(const std::string& name, const DimVector& dims, ElementType type = ElementType::kFloat);
  ValueInfo* constant(const std::string& name, Tensor tensor) {
    return graph_.add_initializer(name, std::move(tensor));
  }
  /** A float constant of these numbers. */
  ValueInfo* floats(const std::string& name, Shape shape, const std::vector<float>& values) {
    return constant(name, tensor_of<float>(std::move(shape), values));
  }
  /** A random float constant; the same in each build. */
  ValueInfo* random(const std::string& name, Shape shape, double low = -1, double high = 1);
  ValueInfo* ints(const std::string& name, const std::vector<int64_t>& values);
  ValueInfo* scalar(const std::string& name, float value) { return floats(name, {}, {value}); }
  /** A node named after its one output. */
  ValueInfo* node(const std::string& op, std::vector<ValueInfo*> inputs, const std::string& output,
                  std::vector<Attribute> attributes = {}, const std::string& domain = "");
  void output(ValueInfo* value) { graph_.mark_output(value); }
  Graph& graph() { return graph_; }

 private:
  Graph& graph_;
};

using Counts = std::map<std::string, int>;

/** One graph, built anew for each use. */
class PassTest {
 public:
  explicit PassTest(FunctionRef<void(TestGraph&)> build, int opset = 17) : build_(build), opset_(opset) {}

  std::unique_ptr<Model> model() const;
  /** The rewritten model. Fails the test when any pass would still change it. */
  std::unique_ptr<Model> rewritten(int level) const;
  /** How many nodes of each operator are left at `level`; "domain.Name" outside of ai.onnx. */
  Counts after(int level) const;
  /** The outputs for random inputs, unknown dimensions being 2. */
  std::vector<Value> run(RewriteLevel level) const;
  /** Levels 0, 1 and 99 give the same within `tolerance` (0: exactly, but for level 99). */
  void expect_same_results(double tolerance = 1e-5) const;

 private:
  FunctionRef<void(TestGraph&)> build_;
  int opset_;
};

/** The outputs of a session of that model. `inputs` are those without a default, in order. */
std::vector<Value> run_model(std::unique_ptr<Model> model, std::span<const Value> inputs,
                             const SessionOptions& options);

Counts count_nodes(Graph& graph);

/** How often the passes of one rewrite() asked the runtime for something. */
struct Work {
  int evaluations = 0;
  int resolutions = 0;
  int inferences = 0;
};
/** What a session does: the basic passes, then the others up to `level`. */
Work rewrite_as_session(Model& model, int level);

}  // namespace ortolan::test
