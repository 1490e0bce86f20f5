// Makes one ElementwiseChain of connected elementwise float operators: of a last one and all before it whose results
// serve no other.
#include <algorithm>
#include <unordered_map>

#include "graph/shown_name.h"
#include "ops/elementwise_program.h"
#include "passes/activations.h"
#include "passes/extended.h"

namespace ortolan::passes {
namespace {
using ops::ElementwiseProgram;
using ops::ElementwiseStep;

constexpr size_t kMostNodes = 32;
constexpr size_t kMostInputs = 16;

struct BinaryOperator {
  std::string_view op;
  int since;  // the first opset that broadcasts by numpy's rule
  bool variadic = false;
};

constexpr BinaryOperator kBinary[] = {
    {"Add", 7}, {"Sub", 7}, {"Mul", 7}, {"Div", 7}, {"Pow", 7}, {"Min", 8, true}, {"Max", 8, true}, {"Sum", 8, true},
};

bool is_float(const ValueInfo* value) {
  return value && value->type.is_tensor() && value->type.element == ElementType::kFloat;
}

/** Powers are only taken to a constant number, because other exponents are computed in another way. */
bool is_binary(const Node& node) {
  auto known = std::ranges::find(kBinary, node.op_type, &BinaryOperator::op);
  if (!node.domain.empty() || known == std::end(kBinary) || node.opset < known->since) return false;
  size_t count = node.inputs().size();
  if (count < 2 || count > kMostInputs || (!known->variadic && count != 2) ||
      !std::ranges::all_of(node.inputs(), is_float))
    return false;
  return node.op_type != "Pow" || only_element(stored_input(node, 1)).has_value();
}

bool is_elementwise(const Node& node, const PassContext& context) {
  bool plain = node.outputs().size() == 1 && is_float(node.output(0)) && is_float(node.input(0));
  return plain && may_fuse(node, context) && is_used(node) && (is_binary(node) || activation_of(node));
}

/** False where the dimensions are surely or likely different: one is a number, the other is not that number. */
bool may_be_same(const SymbolicShape& a, const SymbolicShape& b) {
  if (!a.has_rank() || !b.has_rank()) return true;
  return a.rank() == b.rank() && std::equal(a.dims().begin(), a.dims().end(), b.dims().begin(),
                                            [](Dim x, Dim y) { return x == y || (!x.known() && !y.known()); });
}

/** The nodes of a chain, the last first. */
struct Chain {
  std::vector<Node*> nodes;
  std::vector<ValueInfo*> inputs;  // what they read, values between them included

  Node& last() const { return *nodes.front(); }
  void add(Node& node) {
    nodes.push_back(&node);
    size_t operands = is_binary(node) ? node.inputs().size() : 1;  // bounds of Clip become parameters
    for (size_t i = 0; i < operands; ++i) {
      if (std::ranges::find(inputs, node.input(i)) == inputs.end()) inputs.push_back(node.input(i));
    }
    std::erase(inputs, node.output(0));
  }
};

/** Chains under construction, and which one has a node. */
class Chains {
 public:
  /** Takes a node whose consumers all came before it. */
  void take(Node& node) {
    size_t at = chain_after(node);
    if (at == chains_.size()) chains_.emplace_back();
    chains_[at].add(node);
    chain_of_[&node] = at;
  }
  const std::vector<Chain>& all() const { return chains_; }

 private:
  /** The chain that alone uses the node's result, which may have that chain's shape; else a new one. */
  size_t chain_after(const Node& node) const {
    const ValueInfo& value = *node.output(0);
    size_t at = value.is_output ? chains_.size() : index_of(*value.consumers.front());
    for (const Node* user : value.consumers) {
      if (index_of(*user) != at) return chains_.size();
    }
    if (at == chains_.size()) return at;
    const Chain& chain = chains_[at];
    bool room = chain.nodes.size() < kMostNodes && chain.inputs.size() + node.inputs().size() <= kMostInputs;
    return room && may_be_same(value.type.shape, chain.last().output(0)->type.shape) ? at : chains_.size();
  }

  size_t index_of(const Node& node) const {
    auto found = chain_of_.find(&node);
    return found == chain_of_.end() ? chains_.size() : found->second;
  }

  std::vector<Chain> chains_;
  std::unordered_map<const Node*, size_t> chain_of_;
};

/** Those in whose memory the result may be written come first, constants last; else those of first nodes come first. */
void order_inputs(std::vector<ValueInfo*>& inputs, const SymbolicShape& result) {
  std::ranges::reverse(inputs);
  std::ranges::stable_sort(inputs, {}, [&](const ValueInfo* value) {
    return value->is_fixed() ? 2 : same_shape(value->type.shape, result) ? 0 : 1;
  });
}

/** The steps of a chain whose nodes read `inputs`. */
class ProgramWriter {
 public:
  explicit ProgramWriter(const std::vector<ValueInfo*>& inputs) {
    for (const ValueInfo* input : inputs) place_[input] = next_++;
  }

  void add(const Node& node) {
    int64_t value = place_.at(node.input(0));
    if (is_binary(node)) {
      for (size_t i = 1; i < node.inputs().size(); ++i) {
        program_.push_back({node.op_type, shown_name(node), {}, value, place_.at(node.input(i))});
        value = next_++;
      }
    } else {
      auto activation = activation_of(node);
      program_.push_back({std::move(activation->name), shown_name(node), std::move(activation->parameters), value});
      value = next_++;
    }
    place_[node.output(0)] = value;
  }
  const ElementwiseProgram& program() const { return program_; }

 private:
  ElementwiseProgram program_;
  std::unordered_map<const ValueInfo*, int64_t> place_;
  int64_t next_ = 0;
};

void make_node(const Chain& chain, const PassContext& context) {
  std::vector<ValueInfo*> inputs = chain.inputs;
  order_inputs(inputs, chain.last().output(0)->type.shape);
  ProgramWriter writer(inputs);
  for (size_t i = chain.nodes.size(); i-- > 0;) writer.add(*chain.nodes[i]);
  Node* node = replace_node(chain.last(), "ElementwiseChain", "ortolan", std::move(inputs), context);
  write_program(writer.program(), *node);
}

}  // namespace

bool fuse_elementwise_chains(Graph& graph, const PassContext& context) {
  Chains chains;
  for (size_t i = graph.nodes().size(); i-- > 0;) {
    Node& node = *graph.nodes()[i];
    if (is_elementwise(node, context)) chains.take(node);
  }
  bool changed = false;
  for (const Chain& chain : chains.all()) {
    if (chain.nodes.size() < 2) continue;
    make_node(chain, context);
    changed = true;
  }
  return changed;
}

}  // namespace ortolan::passes
