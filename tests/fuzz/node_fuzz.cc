// Fuzz target: bytes choose a few nodes of any operators, one behind the other, with their attributes, constants and
// inputs. As a session at both ends of the rewrite levels they end in an Error or, twice, in the same results.
#include <cstdio>
#include <cstdlib>

#include "ops/hostile_draw.h"
#include "ops/run_watch.h"
#include "runtime/resolve.h"

using namespace ortolan;
using namespace ortolan::test;

namespace {

std::shared_ptr<Environment> environment() {
  static auto& shared =
      *new std::shared_ptr<Environment>(std::make_shared<Environment>(Logger(stderr_sink(), "fuzz", Severity::kFatal)));
  return shared;
}

/** Nodes in their order; input i of a later node may be the result of an earlier one. */
struct NodeList {
  struct Link {
    size_t node, input, from;
  };
  std::vector<HostileNode> nodes;
  std::vector<Link> links;
  bool constant = false;  // inputs stand in the model where they can

  bool deterministic() const { return std::ranges::all_of(nodes, &HostileNode::deterministic); }
};

NodeList draw_list(Draw& draw) {
  NodeList list;
  list.constant = draw.once_in(3);
  for (int64_t left = 1 + draw.below(4); left > 0; --left) {
    size_t node = list.nodes.size();
    list.nodes.push_back(draw.node(draw.one_of(all_operators())));
    for (size_t i = 0; node > 0 && i < list.nodes.back().node.inputs.size(); ++i) {
      if (i == 0 ? !draw.once_in(8) : draw.once_in(4)) {
        list.links.push_back({node, i, static_cast<size_t>(draw.below(static_cast<int64_t>(node)))});
      }
    }
  }
  return list;
}

/** A model of the list, and what to feed. */
struct Program {
  std::unique_ptr<Model> model = std::make_unique<Model>();
  std::vector<std::string> input_names, output_names;
  std::vector<const Value*> inputs;

  explicit Program(const NodeList& list) {
    model->ir_version = 8;
    for (const HostileNode& hostile : list.nodes)
      model->context->opsets.emplace(hostile.node.domain, hostile.node.opset);
    model->graph = std::make_unique<Graph>(model->context);
    for (size_t n = 0; n < list.nodes.size(); ++n) add(list, n);
  }

 private:
  void add(const NodeList& list, size_t n) {
    const NodeCase& node = list.nodes[n].node;
    Graph& graph = *model->graph;
    std::vector<ValueInfo*> values, results;
    for (size_t i = 0; i < node.inputs.size(); ++i) values.push_back(input(list, n, i));
    for (size_t i = 0; i < list.nodes[n].output_count; ++i) {
      output_names.push_back(join("y", n, "_", i));
      results.push_back(graph.add_value(output_names.back()));
      graph.mark_output(results.back());
    }
    Node* made = graph.add_node(join("n", n), node.op, node.domain, values, results);
    made->opset = node.opset;
    for (const Attribute& attribute : node.attributes) made->set_attribute(attribute.name, attribute.value);
    for (const auto& [name, fill] : node.subgraphs) {
      auto inner = std::make_shared<Graph>(graph.shared_context(), &graph);
      fill(*inner);
      made->set_attribute(name, std::move(inner));
    }
  }
  ValueInfo* input(const NodeList& list, size_t n, size_t i) {
    for (const NodeList::Link& link : list.links) {
      if (link.node == n && link.input == i) return model->graph->find(join("y", link.from, "_0"));
    }
    const std::optional<Value>& value = list.nodes[n].node.inputs[i];
    if (!value) return nullptr;
    std::string name = join("x", n, "_", i);
    if (list.constant && value->is_tensor()) return model->graph->add_initializer(name, value->tensor());
    ValueInfo* info = model->graph->add_value(name, type_of(*value));
    info->is_input = true;
    model->graph->inputs.push_back(info);
    input_names.push_back(name);
    inputs.push_back(&*value);
    return info;
  }
};

std::vector<Value> run(Session& session, const Program& program, RunOptions& options) {
  std::vector<const char*> names, wanted;
  for (const std::string& name : program.input_names) names.push_back(name.c_str());
  for (const std::string& name : program.output_names) wanted.push_back(name.c_str());
  std::vector<Value> results(wanted.size());
  session.run(&options, names, program.inputs, wanted, results);
  return results;
}

void expect_same(const NodeList& list, const std::vector<Value>& first, const std::vector<Value>& second) {
  for (size_t i = 0; i < first.size(); ++i) {
    if (same_value(first[i], second[i])) continue;
    std::fprintf(stderr, "output %zu is %s, then %s\n", i, describe(first[i]).c_str(), describe(second[i]).c_str());
    for (const HostileNode& hostile : list.nodes) std::fprintf(stderr, "%s\n", describe(hostile).c_str());
    std::abort();
  }
}

void run_twice(const NodeList& list, RewriteLevel level) {
  SessionOptions options;
  RunOptions run_options;
  options.level = level;
  options.intra_op_threads = 1;
  options.config["ortolan.max_tensor_bytes"] = "4194304";
  RunWatch::instance().begin(&run_options, options.cancel_load.get());
  try {
    Program program(list);
    auto session = Session::from_model(environment(), std::move(program.model), options);
    auto first = run(*session, program, run_options);
    auto second = run(*session, program, run_options);
    if (list.deterministic()) expect_same(list, first, second);
  } catch (const Error&) {
  }
  RunWatch::instance().end();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Draw draw{Numbers(std::span(data, size))};
  NodeList list = draw_list(draw);
  for (RewriteLevel level : {RewriteLevel::kNone, RewriteLevel::kAll}) run_twice(list, level);
  return 0;
}
