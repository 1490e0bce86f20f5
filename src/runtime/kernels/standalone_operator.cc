// One operator outside any model: a graph of one node for each combination of input types.
#include "runtime/kernels/standalone_operator.h"

#include "ops/schema.h"
#include "runtime/execution/compiled_graph.h"
#include "runtime/resolve.h"

namespace ortolan::runtime {
namespace {

/** What is fixed for all calls with such a value: its type without the shape. */
TypeInfo open_type(const Value& value) {
  TypeInfo type = type_of(value);
  type.shape = SymbolicShape();
  return type;
}

}  // namespace

struct StandaloneOperator::Compiled {
  Compiled(std::unique_ptr<Graph> made, const CompileServices& services)
      : graph(std::move(made)), code(*graph, services) {}
  std::unique_ptr<Graph> graph;
  CompiledGraph code;
};

StandaloneOperator::StandaloneOperator(std::string domain, std::string name, int opset,
                                       std::vector<Attribute> attributes, size_t output_count, ThreadPool& threads)
    : domain_(std::move(domain)),
      name_(std::move(name)),
      opset_(opset),
      attributes_(std::move(attributes)),
      output_count_(output_count),
      threads_(threads),
      cpu_(make_cpu_execution_provider()) {
  require(ops::find_schema(domain_, name_, opset_) != nullptr, ErrorCode::kNotImplemented, "there is no operator '",
          name_, "' of domain '", domain_, "' in opset ", opset_);
}

StandaloneOperator::~StandaloneOperator() = default;

std::unique_ptr<Graph> StandaloneOperator::make_graph(std::span<const Value* const> inputs) const {
  auto context = std::make_shared<ModelContext>();
  context->opsets[domain_] = opset_;
  auto graph = std::make_unique<Graph>(std::move(context));
  std::vector<ValueInfo*> ins, outs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    ins.push_back(nullptr);
    if (inputs[i] == nullptr) continue;
    ins.back() = graph->add_value(join("input", i), open_type(*inputs[i]));
    ins.back()->is_input = true;
    graph->inputs.push_back(ins.back());
  }
  for (size_t i = 0; i < output_count_; ++i) {
    outs.push_back(graph->add_value(join("output", i)));
    graph->mark_output(outs.back());
  }
  Node* node = graph->add_node(name_, name_, domain_, std::move(ins), std::move(outs));
  for (const Attribute& attribute : attributes_) node->set_attribute(attribute.name, attribute.value);
  node->opset = opset_;
  ops::resolve_schema(*node, {});
  ops::check_input_types(*node);
  infer_types(*graph);
  std::string why;
  require(cpu_->kernel_registry()->find(*node, &why) != nullptr, ErrorCode::kNotImplemented, node->label(), ": ", why);
  node->provider = cpu_->type();
  return graph;
}

const StandaloneOperator::Compiled& StandaloneOperator::compiled_for(std::span<const Value* const> inputs) const {
  std::string key;
  for (const Value* input : inputs) base::append(key, input == nullptr ? "-;" : join(open_type(*input), ";"));
  std::lock_guard lock(mutex_);
  std::unique_ptr<Compiled>& compiled = compiled_[key];
  if (compiled == nullptr) {
    static const auto* const kNoConfig = new std::map<std::string, std::string>;
    CompileServices services;
    services.threads = &threads_;
    services.weights = &weights_;
    services.config = kNoConfig;
    services.provider = cpu_.get();
    services.plan_memory = false;
    compiled = std::make_unique<Compiled>(make_graph(inputs), services);
  }
  return *compiled;
}

void StandaloneOperator::run(const RunServices& services, std::span<const Value* const> inputs,
                             std::span<Value> outputs) const {
  require(outputs.size() == output_count_, ErrorCode::kInvalidArgument, "the operator '", name_, "' was made for ",
          output_count_, " outputs, not ", outputs.size());
  const Compiled& compiled = compiled_for(inputs);
  std::vector<const Value*> given;
  for (const Value* input : inputs) {
    if (input != nullptr) given.push_back(input);
  }
  std::vector<int> wanted;
  for (size_t i = 0; i < outputs.size(); ++i) wanted.push_back(static_cast<int>(i));
  compiled.code.run(services, given, wanted, outputs);
}

}  // namespace ortolan::runtime
