// Groups of nodes that a provider wants to compute as one: whether they may be, and making them one node.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "runtime/kernels/custom_operator.h"
#include "runtime/providers/execution_provider.h"

namespace ortolan::runtime {

/** Numbers the nodes of one graph in order and answers questions about groups of them. Linear to make. */
class GroupChecker {
 public:
  explicit GroupChecker(const Graph& graph);
  /** Looks at all groups together, which must stay where they are: refuse() then is quick for each that is in no
     other's way. */
  void study(std::span<const NodeGroup> groups);
  /** Why the nodes cannot become one: not of this graph, named twice, not connected, or a path from one to another runs
     outside. Empty when they can. Costs about as much as the part of the graph that the group spans. */
  std::string refuse(const NodeGroup& group) const;
  /** Puts the group's nodes in the graph's order. They must be the graph's. */
  void sort(NodeGroup& group) const;
  /** The groups that can become nodes one beside the other; those that would close a cycle with others come back in
      `dropped`, as indices. */
  std::vector<size_t> find_cyclic(std::span<const NodeGroup> groups) const;
  /** The nodes of the set in connected parts. */
  std::vector<std::vector<const Node*>> islands(std::span<const Node* const> nodes) const;

 private:
  std::vector<size_t> positions_of(const NodeGroup& group) const;
  bool connected(const NodeGroup& group) const;
  const Node* path_outside(const NodeGroup& group) const;

  const Graph& graph_;
  std::unordered_map<const Node*, size_t> position_;
  std::unordered_set<const NodeGroup*> convex_;  // as study() found
  std::vector<std::vector<size_t>> readers_;     // by position: the nodes of this graph that read a node's outputs
};

/** The group's inputs and outputs; its nodes must come in the graph's order. */
FusedGroup describe_group(const Graph& graph, const NodeGroup& group, std::string name);

/** The schema of a fused node: the outputs' types as known when the group was taken, and the kernel made for it. */
class FusedOperator final : public CustomOperator {
 public:
  FusedOperator(const FusedGroup& group, std::string provider, CompiledGroup compiled);
  std::string_view provider() const override { return provider_; }
  void infer(ops::InferContext& context) const override;
  /** Hands the kernel out; once. */
  std::unique_ptr<OpKernel> make(const KernelInfo& info) const override;
  /** The graph that holds the EPContext node for it; NULL when the provider gave none. */
  const Graph* context() const { return context_.get(); }

 private:
  std::string provider_;
  std::string type_name_;
  std::vector<TypeInfo> types_;
  mutable std::unique_ptr<OpKernel> kernel_;
  std::shared_ptr<Graph> context_;
};

/** Puts a node of that operator in the place of the group's nodes, which stay in the graph without outputs until
    remove_unreachable(). */
Node* fuse(Graph& graph, const FusedGroup& group, const FusedOperator& schema);

}  // namespace ortolan::runtime
