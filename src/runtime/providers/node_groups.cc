// Groups of nodes that a provider wants to compute as one: whether they may be, and making them one node.
#include "runtime/providers/node_groups.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <unordered_set>

namespace ortolan::runtime {
namespace {

/** Sets of numbers that are joined step by step. */
class DisjointSets {
 public:
  explicit DisjointSets(size_t count) : parent_(count) { std::iota(parent_.begin(), parent_.end(), size_t{0}); }
  size_t find(size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(size_t a, size_t b) { parent_[find(a)] = find(b); }

 private:
  std::vector<size_t> parent_;
};

/** Puts nodes, numbered in their graph's order, and groups of them that count as one vertex each into an order in which
    makers come first. A vertex on a cycle of vertices, or behind one, is never done. All steps together are linear. */
class ContractedOrder {
 public:
  /** `readers`: for each node those that read it. */
  explicit ContractedOrder(const std::vector<std::vector<size_t>>& readers)
      : readers_(readers), makers_(readers.size()), group_(readers.size(), kNone), done_(readers.size(), false) {
    for (size_t node = 0; node < readers.size(); ++node) {
      for (size_t reader : readers[node]) makers_[reader].push_back(node);
    }
  }
  /** Takes nodes that are in no group yet; false, and no group, where one is. Groups are numbered from 0. */
  bool add(std::vector<size_t> nodes) {
    for (size_t node : nodes) {
      if (group_[node] != kNone) return false;
    }
    for (size_t node : nodes) group_[node] = members_.size();
    members_.push_back(std::move(nodes));
    return true;
  }
  bool is_done(size_t group) const { return done_[members_[group].front()]; }
  /** Makes the nodes of a group that is not done vertices of their own. */
  void dissolve(size_t group) {
    for (size_t node : members_[group]) group_[node] = kNone;
    for (size_t node : members_[group]) await(node);
  }
  /** Does all that can be done. */
  void run() {
    if (waits_.empty()) start();
    while (!ready_.empty()) {
      size_t node = ready_.back();
      ready_.pop_back();
      if (group_[node] == kNone) {
        finish(node);
      } else {
        for (size_t member : members_[group_[node]]) finish(member);
      }
    }
  }

 private:
  static constexpr size_t kNone = SIZE_MAX;

  void start() {
    waits_.assign(readers_.size(), 0);
    open_members_.assign(members_.size(), 0);
    for (size_t g = 0; g < members_.size(); ++g) open_members_[g] = members_[g].size();
    for (size_t node = 0; node < readers_.size(); ++node) await(node);
  }
  bool same_group(size_t a, size_t b) const { return group_[a] != kNone && group_[a] == group_[b]; }
  /** Counts what the node waits for outside its group; a group is ready when all its nodes are. */
  void await(size_t node) {
    waits_[node] = 0;
    for (size_t maker : makers_[node]) waits_[node] += !done_[maker] && !same_group(maker, node) ? 1 : 0;
    if (waits_[node] == 0) note_ready(node);
  }
  void note_ready(size_t node) {
    if (group_[node] == kNone || --open_members_[group_[node]] == 0) ready_.push_back(node);
  }
  void finish(size_t node) {
    done_[node] = true;
    for (size_t reader : readers_[node]) {
      if (!done_[reader] && !same_group(node, reader) && --waits_[reader] == 0) note_ready(reader);
    }
  }

  const std::vector<std::vector<size_t>>& readers_;
  std::vector<std::vector<size_t>> makers_;
  std::vector<size_t> group_;  // of each node
  std::vector<bool> done_;
  std::vector<std::vector<size_t>> members_;  // of each group
  std::vector<size_t> waits_;                 // makers outside its group that a node waits for
  std::vector<size_t> open_members_;          // nodes of a group that wait
  std::vector<size_t> ready_;
};

/** What a node reads, itself and through its subgraphs. */
template <class Visit>
void for_each_read(const Node& node, Visit&& visit) {
  for (ValueInfo* value : node.inputs()) {
    if (value != nullptr) visit(value);
  }
  for (ValueInfo* value : node.captured()) visit(value);
}

/** The nodes and all nodes of their subgraphs. */
std::unordered_set<const Node*> with_inner_nodes(std::span<const Node* const> nodes) {
  std::unordered_set<const Node*> all(nodes.begin(), nodes.end());
  for (const Node* node : nodes) {
    for (auto& [name, subgraph] : node->subgraphs()) {
      for_each_graph(*subgraph, [&](Graph& inner) {
        for (const auto& inner_node : inner.nodes()) all.insert(inner_node.get());
      });
    }
  }
  return all;
}

}  // namespace

GroupChecker::GroupChecker(const Graph& graph) : graph_(graph), readers_(graph.nodes().size()) {
  for (const auto& node : graph.nodes()) position_.emplace(node.get(), position_.size());
  for (const auto& node : graph.nodes()) {
    size_t reader = position_.at(node.get());
    for_each_read(*node, [&](const ValueInfo* value) {
      if (value->producer == nullptr || value->graph != &graph_) return;
      readers_[position_.at(value->producer)].push_back(reader);
    });
  }
}

std::string GroupChecker::refuse(const NodeGroup& group) const {
  if (group.nodes.empty()) return "the group is empty";
  std::unordered_set<const Node*> seen;
  for (const Node* node : group.nodes) {
    if (!position_.contains(node)) return "a node of the group belongs to another graph";
    if (!seen.insert(node).second) return join("it names ", node->label(), " twice");
  }
  if (group.nodes.size() == 1) return {};
  if (!connected(group)) return "its nodes are not connected with each other";
  const Node* outside = convex_.contains(&group) ? nullptr : path_outside(group);
  if (outside != nullptr) {
    return join("a path between two of its nodes runs through ", outside->label(), ", which is not among them");
  }
  return {};
}

void GroupChecker::study(std::span<const NodeGroup> groups) {
  ContractedOrder order(readers_);
  std::vector<const NodeGroup*> studied;
  for (const NodeGroup& group : groups) {
    bool known = std::ranges::all_of(group.nodes, [&](const Node* node) { return position_.contains(node); });
    if (known && group.nodes.size() > 1 && order.add(positions_of(group))) studied.push_back(&group);
  }
  order.run();
  for (size_t g = 0; g < studied.size(); ++g) {
    if (order.is_done(g)) convex_.insert(studied[g]);
  }
}

std::vector<size_t> GroupChecker::positions_of(const NodeGroup& group) const {
  std::vector<size_t> positions;
  for (const Node* node : group.nodes) positions.push_back(position_.at(node));
  return positions;
}

void GroupChecker::sort(NodeGroup& group) const {
  std::ranges::sort(group.nodes, {}, [&](const Node* node) { return position_.at(node); });
}

bool GroupChecker::connected(const NodeGroup& group) const { return islands(group.nodes).size() == 1; }

std::vector<std::vector<const Node*>> GroupChecker::islands(std::span<const Node* const> nodes) const {
  DisjointSets sets(nodes.size());
  std::unordered_map<const ValueInfo*, size_t> touched;  // values that nodes of the set share
  auto touch = [&](const ValueInfo* value, size_t i) {
    if (value == nullptr || value->constant) return;
    auto [found, added] = touched.emplace(value, i);
    if (!added) sets.join(found->second, i);
  };
  for (size_t i = 0; i < nodes.size(); ++i) {
    for_each_read(*nodes[i], [&](const ValueInfo* value) { touch(value, i); });
    for (const ValueInfo* value : nodes[i]->outputs()) touch(value, i);
  }
  std::vector<std::vector<const Node*>> result;
  std::unordered_map<size_t, size_t> island_of;
  for (size_t i = 0; i < nodes.size(); ++i) {
    auto [found, added] = island_of.emplace(sets.find(i), result.size());
    if (added) result.emplace_back();
    result[found->second].push_back(nodes[i]);
  }
  return result;
}

/** Walks from the group's readers outside it as far as the group's last node. */
const Node* GroupChecker::path_outside(const NodeGroup& group) const {
  std::unordered_set<size_t> members;
  size_t last = 0;
  for (const Node* node : group.nodes) {
    members.insert(position_.at(node));
    last = std::max(last, position_.at(node));
  }
  std::unordered_set<size_t> seen;
  std::vector<size_t> open(members.begin(), members.end());
  while (!open.empty()) {
    size_t position = open.back();
    open.pop_back();
    bool outside = !members.contains(position);
    for (size_t reader : readers_[position]) {
      if (members.contains(reader)) {
        if (outside) return graph_.nodes()[position].get();
      } else if (reader < last && seen.insert(reader).second) {
        open.push_back(reader);
      }
    }
  }
  return nullptr;
}

/** Sorts the graph with each group as one vertex. Vertices that never become ready lie on cycles or behind them; the
    first group among them goes, until all are ready. */
std::vector<size_t> GroupChecker::find_cyclic(std::span<const NodeGroup> groups) const {
  std::vector<size_t> dropped;
  ContractedOrder order(readers_);
  for (const NodeGroup& group : groups) order.add(positions_of(group));
  order.run();
  for (size_t g = 0; g < groups.size(); ++g) {
    if (order.is_done(g)) continue;
    dropped.push_back(g);
    order.dissolve(g);
    order.run();
  }
  return dropped;
}

FusedGroup describe_group(const Graph& graph, const NodeGroup& group, std::string name) {
  FusedGroup fused;
  fused.graph = &graph;
  fused.name = std::move(name);
  fused.drop_constants = group.drop_constants;
  fused.nodes = group.nodes;
  std::unordered_set<const Node*> members(group.nodes.begin(), group.nodes.end());
  auto inside = with_inner_nodes(group.nodes);
  std::unordered_set<const ValueInfo*> seen;
  for (const Node* node : fused.nodes) {
    for_each_read(*node, [&](ValueInfo* value) {
      bool made_inside = value->producer != nullptr && members.contains(value->producer);
      bool kept_by_provider = fused.drop_constants && value->is_fixed();
      if (!made_inside && !kept_by_provider && seen.insert(value).second) fused.inputs.push_back(value);
    });
    for (ValueInfo* value : node->outputs()) {
      if (value == nullptr) continue;
      bool read_outside =
          std::ranges::any_of(value->consumers, [&](const Node* user) { return !inside.contains(user); });
      if (value->is_output || read_outside) fused.outputs.push_back(value);
    }
  }
  return fused;
}

FusedOperator::FusedOperator(const FusedGroup& group, std::string provider, CompiledGroup compiled)
    : CustomOperator(
          ops::SchemaRow{"ortolan.fused", "", 1, ops::kLatest, {0, ops::kVariadic}, {0, ops::kVariadic}, nullptr}),
      provider_(std::move(provider)),
      type_name_(group.name),
      kernel_(std::move(compiled.kernel)),
      context_(std::move(compiled.context)) {
  name = type_name_.c_str();
  for (const ValueInfo* output : group.outputs) types_.push_back(output->type);
}

void FusedOperator::infer(ops::InferContext& context) const {
  for (size_t i = 0; i < types_.size(); ++i) context.set_type(i, types_[i]);
}

std::unique_ptr<OpKernel> FusedOperator::make(const KernelInfo&) const {
  require(kernel_ != nullptr, ErrorCode::kRuntimeException, "the kernel of '", type_name_, "' was taken already");
  return std::move(kernel_);
}

Node* fuse(Graph& graph, const FusedGroup& group, const FusedOperator& schema) {
  for (const Node* member : group.nodes) {
    Node* node = const_cast<Node*>(member);
    for (size_t i = 0; i < node->outputs().size(); ++i) node->set_output(i, nullptr);
  }
  Node* fused = graph.add_node(group.name, schema.name, schema.domain, group.inputs, group.outputs);
  fused->opset = 1;
  fused->schema = &schema;
  fused->provider = schema.provider();
  return fused;
}

}  // namespace ortolan::runtime
