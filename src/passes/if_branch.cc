// Replaces an If whose condition is constant by the nodes of the branch that it takes.
#include <unordered_map>

#include "passes/edit.h"
#include "passes/pass.h"

namespace ortolan::passes {
namespace {

/** Moves the content of `branch` into the graph of `node`, whose outputs then come from there. */
class BranchMove {
 public:
  BranchMove(Node& node, Graph& branch) : node_(node), graph_(node.graph()), branch_(branch) {}

  void run() {
    take_outputs();
    for (const auto& value : branch_.values()) move_value(*value);
    for (const auto& node : branch_.nodes()) move_node(*node);
  }

 private:
  /** A branch output that a node of it makes, once, becomes the If's own output; others are copied to it. */
  void take_outputs() {
    for (size_t i = 0; i < branch_.outputs.size(); ++i) {
      ValueInfo* to = node_.output(i);
      if (!to) continue;
      node_.set_output(i, nullptr);
      ValueInfo* from = branch_.outputs[i];
      if (from->producer && moved_.try_emplace(from, to).second) continue;
      copies_.emplace_back(from, to);
    }
  }
  void move_value(ValueInfo& value) {
    auto taken = moved_.find(&value);
    if (taken == moved_.end()) {
      ValueInfo* copy = graph_.add_value(graph_.unique_name(value.name), value.type);
      copy->content = value.content;
      copy->constant = value.constant;
      taken = moved_.emplace(&value, copy).first;
    }
    branch_.replace_uses(&value, taken->second);
    for (auto& [from, to] : copies_) {
      if (from == &value) copy_value(taken->second, to);
    }
  }
  void copy_value(ValueInfo* from, ValueInfo* to) {
    Node* identity = graph_.add_node("", "Identity", "", {from}, {to});
    identity->opset = node_.opset;
    identities_.push_back(identity);
  }
  void move_node(const Node& node) {
    std::vector<ValueInfo*> outputs;
    for (ValueInfo* value : node.outputs()) outputs.push_back(value ? moved_.at(value) : nullptr);
    Node* copy = graph_.add_node(node.name, node.op_type, node.domain, node.inputs(), std::move(outputs));
    copy->overload = node.overload;
    copy->opset = node.opset;
    copy->schema = node.schema;
    for (const Attribute& attribute : node.attributes()) copy->set_attribute(attribute.name, attribute.value);
    for (auto& [name, subgraph] : copy->subgraphs()) subgraph->set_outer(&graph_);
  }

 public:
  const std::vector<Node*>& identities() const { return identities_; }

 private:
  Node& node_;
  Graph& graph_;
  Graph& branch_;
  std::unordered_map<ValueInfo*, ValueInfo*> moved_;
  std::vector<std::pair<ValueInfo*, ValueInfo*>> copies_;
  std::vector<Node*> identities_;
};

std::shared_ptr<Graph> taken_branch(const Node& node) {
  const Tensor* condition = constant_input(node, 0);
  if (!condition || condition->type() != ElementType::kBool || condition->element_count() != 1) return nullptr;
  const Attribute* branch = node.find_attribute(*condition->data<bool>() ? "then_branch" : "else_branch");
  const auto* graph = branch ? std::get_if<std::shared_ptr<Graph>>(&branch->value) : nullptr;
  if (!graph || !*graph || !(*graph)->inputs.empty() || (*graph)->outputs.size() != node.outputs().size()) {
    return nullptr;
  }
  return *graph;
}

}  // namespace

bool take_constant_branches(Graph& graph, const PassContext& context) {
  std::vector<Node*> found;
  for (const auto& node : graph.nodes()) {
    if (is_op(*node, "If") && taken_branch(*node)) found.push_back(node.get());
  }
  for (Node* node : found) {
    auto branch = taken_branch(*node);
    BranchMove move(*node, *branch);
    move.run();
    for (Node* identity : move.identities()) context.resolve(*identity);
  }
  if (found.empty()) return false;
  graph.remove_unreachable();
  graph.sort();
  return true;
}

}  // namespace ortolan::passes
