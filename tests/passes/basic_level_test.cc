// Rewrites of the basic level: the operators that are left, the same results as without rewrites, nothing to do the
// second time.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "ops/schema.h"
#include "passes/pass.h"
#include "runtime/kernels/evaluate.h"
#include "runtime/resolve.h"
#include "runtime/session/session.h"

namespace ortolan::passes {
namespace {

using namespace runtime;

constexpr int kOpset = 17;

/** Builds the graph of a test. */
class Builder {
 public:
  Builder() {
    model_->ir_version = 8;
    model_->context->opsets[""] = kOpset;
    model_->graph = std::make_unique<Graph>(model_->context);
  }
  Graph& graph() { return *model_->graph; }
  std::unique_ptr<Model> take() { return std::move(model_); }

  ValueInfo* input(const char* name, DimVector dims, ElementType type = ElementType::kFloat) {
    ValueInfo* value = graph().add_value(name, TypeInfo::of_tensor(type, SymbolicShape(std::move(dims))));
    value->is_input = true;
    graph().inputs.push_back(value);
    return value;
  }
  ValueInfo* weights(const char* name, Shape shape, float low = -1, float high = 1) {
    std::mt19937 random(static_cast<uint32_t>(std::string_view(name).size() + name[0]));
    std::uniform_real_distribution<float> draw(low, high);
    Tensor tensor(ElementType::kFloat, std::move(shape));
    for (float& value : tensor.mutable_span<float>()) value = draw(random);
    return graph().add_initializer(name, std::move(tensor));
  }
  ValueInfo* int64s(const char* name, std::vector<int64_t> values) {
    return graph().add_initializer(name, vector_tensor(std::span<const int64_t>(values)));
  }
  ValueInfo* node(const char* op, std::vector<ValueInfo*> inputs, const char* output,
                  std::vector<Attribute> attributes = {}) {
    ValueInfo* value = graph().add_value(output);
    Node* made = graph().add_node(join(output, "_node"), op, "", std::move(inputs), {value});
    for (Attribute& attribute : attributes) made->set_attribute(attribute.name, std::move(attribute.value));
    return value;
  }
  void output(ValueInfo* value) { graph().mark_output(value); }

 private:
  std::unique_ptr<Model> model_ = std::make_unique<Model>();
};

using Build = void (*)(Builder&);

std::unique_ptr<Model> made(Build build) {
  Builder builder;
  build(builder);
  return builder.take();
}

/** Rewrites with the runtime's services; then every pass must have nothing left to do. */
void rewrite_fully(Model& model) {
  resolve_model(model, {});
  static auto& threads = *new ThreadPool(ThreadPool::Options{.threads = 1});
  auto cpu = make_cpu_execution_provider();
  Evaluator evaluator(*cpu, threads, 1 << 30);
  auto evaluate = [&](const Node& node) { return evaluator.run(node); };
  auto resolve = [](Node& node) { ops::resolve_schema(node); };
  PassContext context{evaluate, resolve, [](Graph& graph) { infer_types(graph); }};
  rewrite(*model.graph, 1, 1, context);
  for (const Pass& pass : all_passes()) {
    for_each_graph(*model.graph, [&](Graph& graph) {
      if (pass.level != 1) return;
      EXPECT_FALSE(pass.run(graph, context)) << pass.name << " is not idempotent";
    });
  }
}

/** The operators left, in order. */
std::string left(Build build) {
  auto model = made(build);
  rewrite_fully(*model);
  std::string text;
  for (const auto& node : model->graph->nodes()) text += (text.empty() ? "" : " ") + node->op_type;
  return text;
}

Tensor made_up(const TypeInfo& type) {
  Shape shape;
  for (Dim dim : type.shape.dims()) shape.push_back(dim.known() ? dim.value() : 3);
  Tensor tensor(type.element, shape);
  std::mt19937 random(11);
  std::uniform_real_distribution<float> draw(-2, 2);
  if (type.element == ElementType::kBool) {
    for (bool& value : tensor.mutable_span<bool>()) value = random() % 2;
  } else {
    dispatch<kNumericTypes>(type.element, [&]<class T>(TypeTag<T>) {
      for (T& value : tensor.mutable_span<T>()) value = static_cast<T>(draw(random));
    });
  }
  return tensor;
}

std::vector<Value> results(Build build, RewriteLevel level) {
  static const auto& environment = *new std::shared_ptr<Environment>(
      std::make_shared<Environment>(Logger(stderr_sink(), "test", Severity::kWarning)));
  SessionOptions options;
  options.level = level;
  options.intra_op_threads = 1;
  auto session = Session::from_model(environment, made(build), options);
  std::vector<Value> inputs;
  std::vector<const char*> input_names, output_names;
  for (const SessionValue& input : session->inputs()) {
    inputs.emplace_back(made_up(input.type));
    input_names.push_back(input.name.c_str());
  }
  std::vector<const Value*> pointers;
  for (const Value& value : inputs) pointers.push_back(&value);
  for (const SessionValue& output : session->outputs()) output_names.push_back(output.name.c_str());
  std::vector<Value> outputs(output_names.size());
  session->run(nullptr, input_names, pointers, output_names, outputs);
  return outputs;
}

void expect_close(const Tensor& a, const Tensor& b) {
  ASSERT_EQ(a.type(), b.type());
  ASSERT_TRUE(a.shape() == b.shape()) << join(a.shape(), " ", b.shape());
  dispatch<kNumericTypes>(a.type(), [&]<class T>(TypeTag<T>) {
    for (int64_t i = 0; i < a.element_count(); ++i) {
      auto x = static_cast<double>(static_cast<float>(a.data<T>()[i]));
      auto y = static_cast<double>(static_cast<float>(b.data<T>()[i]));
      ASSERT_NEAR(x, y, 1e-5 * (1 + std::abs(x))) << "element " << i;
    }
  });
}

/** The operators left; results must be those of the graph as it was. */
std::string checked(Build build) {
  auto plain = results(build, RewriteLevel::kNone);
  auto rewritten = results(build, RewriteLevel::kAll);
  for (size_t i = 0; i < plain.size(); ++i) expect_close(plain[i].tensor(), rewritten[i].tensor());
  return left(build);
}

Attribute ints(const char* name, std::vector<int64_t> values) { return {name, std::move(values)}; }
Attribute integer(const char* name, int64_t value) { return {name, value}; }

TEST(Passes, FoldsConstantsAndKnownShapes) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {2, 3, 4});
              ValueInfo* shape = b.node("Shape", {x}, "shape");
              ValueInfo* some = b.node("Gather", {shape, b.int64s("index", {0})}, "some");
              ValueInfo* target = b.node("Concat", {some, b.int64s("rest", {12})}, "target", {integer("axis", 0)});
              ValueInfo* w = b.node("Transpose", {b.weights("w", {5, 12})}, "w_t");
              b.output(b.node("MatMul", {b.node("Reshape", {x, target}, "flat"), w}, "y"));
            }),
            "Reshape MatMul");
}

TEST(Passes, KeepsWhatWouldGrow) {
  EXPECT_EQ(left([](Builder& b) {
              b.output(b.node("ConstantOfShape", {b.int64s("shape", {4000, 4000})}, "y"));
            }),
            "ConstantOfShape");
  EXPECT_EQ(left([](Builder& b) { b.output(b.node("ConstantOfShape", {b.int64s("shape", {4, 4})}, "y")); }), "");
}

TEST(Passes, NeverFoldsRandomNumbersOrOverridableInitializers) {
  EXPECT_EQ(left([](Builder& b) {
              ValueInfo* first = b.node("RandomNormal", {}, "r", {ints("shape", {2})});
              ValueInfo* second = b.node("RandomNormal", {}, "s", {ints("shape", {2})});
              b.output(b.node("Sub", {first, second}, "y"));
            }),
            "RandomNormal RandomNormal Sub");
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* w = b.weights("w", {2});
              w->is_input = true;
              b.graph().inputs.push_back(w);
              b.output(b.node("Neg", {w}, "y"));
            }),
            "Neg");
}

TEST(Passes, RemovesNoOps) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {2, 3});
              ValueInfo* a = b.node("Identity", {b.node("Relu", {x}, "r")}, "a");
              a = b.node("Dropout", {a}, "b");
              a = b.node("Cast", {a}, "c", {integer("to", 1)});
              a = b.node("Reshape", {a, b.int64s("same", {2, 3})}, "d");
              a = b.node("Transpose", {a}, "e", {ints("perm", {0, 1})});
              a = b.node("Concat", {a}, "f", {integer("axis", 0)});
              b.output(b.node("Identity", {a}, "y"));
            }),
            "Relu");
}

TEST(Passes, KeepsOutputsThatAreInputs) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {2, 3});
              b.output(b.node("Identity", {x}, "y"));
              ValueInfo* r = b.node("Relu", {x}, "r");
              b.output(r);
              b.output(b.node("Identity", {r}, "z"));
            }),
            "Identity Relu Identity");
}

TEST(Passes, ViewsThatUndoEachOtherVanish) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {2, Dim{}, 3});
              ValueInfo* r = b.node("Relu", {x}, "r");
              ValueInfo* wide = b.node("Unsqueeze", {r, b.int64s("a", {1})}, "wide");
              b.output(b.node("Abs", {b.node("Squeeze", {wide, b.int64s("b", {1})}, "narrow")}, "y"));
            }),
            "Relu Unsqueeze Squeeze Abs");
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* r = b.node("Relu", {b.input("x", {2, 5, 3})}, "r");
              ValueInfo* wide = b.node("Unsqueeze", {r, b.int64s("a", {1})}, "wide");
              b.output(b.node("Abs", {b.node("Squeeze", {wide, b.int64s("b", {1})}, "narrow")}, "y"));
            }),
            "Relu Abs");
}

TEST(Passes, TransposesJoinOrCancel) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {2, 3, 4});
              ValueInfo* t = b.node("Transpose", {x}, "t", {ints("perm", {1, 2, 0})});
              b.output(b.node("Relu", {b.node("Transpose", {t}, "u", {ints("perm", {2, 0, 1})})}, "y"));
              b.output(b.node("Transpose", {t}, "z"));
            }),
            "Relu Transpose");
}

TEST(Passes, CastsJoinOnlyWithoutLoss) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {6}, ElementType::kInt32);
              ValueInfo* wide = b.node("Cast", {x}, "wide", {integer("to", 7)});
              b.output(b.node("Neg", {b.node("Cast", {wide}, "back", {integer("to", 6)})}, "y"));
            }),
            "Neg");
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* whole = b.node("Cast", {b.input("x", {6})}, "whole", {integer("to", 7)});
              b.output(b.node("Cast", {whole}, "y", {integer("to", 1)}));
            }),
            "Cast Cast");
}

TEST(Passes, MergesCommonSubexpressions) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {2, 4});
              ValueInfo* one = b.node("Add", {x, b.graph().add_initializer("c", scalar(2.0f))}, "one");
              ValueInfo* two = b.node("Add", {x, b.graph().add_initializer("d", scalar(2.0f))}, "two");
              ValueInfo* soft = b.node("Softmax", {one}, "s", {integer("axis", 0)});
              ValueInfo* other = b.node("Softmax", {two}, "t", {integer("axis", 1)});
              b.output(b.node("Sub", {soft, other}, "y"));
            }),
            "Add Softmax Softmax Sub");
}

TEST(Passes, FoldsIntoConvolutions) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {1, 3, 8, 8});
              ValueInfo* c = b.node("Conv", {x, b.weights("w", {4, 3, 3, 3})}, "c", {ints("pads", {1, 1, 1, 1})});
              ValueInfo* n = b.node("BatchNormalization",
                                    {c, b.weights("gamma", {4}), b.weights("beta", {4}), b.weights("mean", {4}),
                                     b.weights("variance", {4}, 0.1f, 2)},
                                    "n");
              ValueInfo* m = b.node("Mul", {b.weights("scale", {4, 1, 1}), n}, "m");
              b.output(b.node("Add", {m, b.weights("shift", {1, 4, 1, 1})}, "y"));
            }),
            "Conv");
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {1, 3, 4, 4});
              ValueInfo* c = b.node("Conv", {x, b.weights("w", {4, 3, 1, 1})}, "c");
              b.output(b.node("Add", {c, b.weights("row", {4})}, "y"));
              b.output(b.node("Mul", {c, b.weights("scale", {4, 1, 1})}, "z"));
            }),
            "Conv Add Mul");
}

TEST(Passes, MatMulAndAddBecomeGemm) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {5, 3});
              ValueInfo* p = b.node("MatMul", {x, b.weights("w", {3, 4})}, "p");
              b.output(b.node("Add", {b.weights("bias", {4}), p}, "y"));
            }),
            "Gemm");
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {2, 5, 3});
              ValueInfo* p = b.node("MatMul", {x, b.weights("w", {3, 4})}, "p");
              b.output(b.node("Add", {p, b.weights("bias", {4})}, "y"));
            }),
            "MatMul Add");
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* x = b.input("x", {1, 3});
              ValueInfo* p = b.node("MatMul", {x, b.weights("w", {3, 4})}, "p");
              b.output(b.node("Add", {p, b.weights("bias", {5, 4})}, "y"));
            }),
            "MatMul Add");
}

/** A branch that gives relu(x) + c twice: as a node's output and through a constant. */
std::shared_ptr<Graph> branch(Builder& b, ValueInfo* x, const char* op) {
  auto graph = std::make_shared<Graph>(b.graph().shared_context(), &b.graph());
  ValueInfo* made = graph->add_value("made");
  graph->add_node("inner", op, "", {x}, {made});
  ValueInfo* fixed = graph->add_initializer("fixed", scalar(7.0f));
  graph->mark_output(made);
  graph->mark_output(fixed);
  return graph;
}

void branches(Builder& b, ValueInfo* condition) {
  ValueInfo* x = b.input("x", {3});
  ValueInfo* y = b.graph().add_value("y");
  ValueInfo* z = b.graph().add_value("z");
  Node* node = b.graph().add_node("if", "If", "", {condition}, {y, z});
  node->set_attribute("then_branch", branch(b, x, "Relu"));
  node->set_attribute("else_branch", branch(b, x, "Neg"));
  b.output(b.node("Add", {y, z}, "sum"));
  b.output(y);
}

TEST(Passes, TakesConstantBranches) {
  EXPECT_EQ(checked([](Builder& b) { branches(b, b.graph().add_initializer("c", scalar(true))); }), "Relu Add");
  EXPECT_EQ(checked([](Builder& b) { branches(b, b.graph().add_initializer("c", scalar(false))); }), "Neg Add");
  EXPECT_EQ(checked([](Builder& b) { branches(b, b.input("c", {}, ElementType::kBool)); }), "If Add");
}

TEST(Passes, ValuesUsedInSubgraphsSurvive) {
  EXPECT_EQ(checked([](Builder& b) {
              ValueInfo* c = b.input("c", {}, ElementType::kBool);
              ValueInfo* x = b.input("x", {3});
              ValueInfo* a = b.node("Identity", {b.node("Abs", {x}, "a")}, "i");
              ValueInfo* y = b.graph().add_value("y");
              ValueInfo* z = b.graph().add_value("z");
              Node* node = b.graph().add_node("if", "If", "", {c}, {y, z});
              node->set_attribute("then_branch", branch(b, a, "Relu"));
              node->set_attribute("else_branch", branch(b, a, "Neg"));
              b.output(y);
            }),
            "Abs If");
}

}  // namespace
}  // namespace ortolan::passes
