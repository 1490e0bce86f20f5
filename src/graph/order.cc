// Orders and sweeps of a whole graph: topological sort and removal of what no output needs.
#include <algorithm>

#include "graph/graph.h"

namespace ortolan::graph {
namespace {

/** The nodes of `graph` that make what `node` uses, itself or through its subgraphs. */
void producers_of(const Node& node, const Graph& graph, std::vector<Node*>& found) {
  auto note = [&](const ValueInfo* value) {
    if (value && value->producer && value->graph == &graph) found.push_back(value->producer);
  };
  std::ranges::for_each(node.inputs(), note);
  for (const ValueInfo* value : node.captured()) note(value);
}

/** A node being visited: its producers lie in the shared list from `next` to `end`. */
struct Visit {
  Node* node;
  size_t begin;
  size_t next;
};

}  // namespace

void Graph::sort() {
  constexpr size_t kNew = 0, kOpen = 1, kDone = 2;
  for (const auto& node : nodes_) node->mark_ = kNew;
  std::vector<Node*> order;
  order.reserve(nodes_.size());
  std::vector<Visit> open;
  std::vector<Node*> pending;  // the producers of all open nodes, innermost last
  auto enter = [&](Node* node) {
    node->mark_ = kOpen;
    open.push_back({node, pending.size(), pending.size()});
    producers_of(*node, *this, pending);
  };
  for (const auto& root : nodes_) {
    if (root->mark_ == kNew) enter(root.get());
    while (!open.empty()) {
      Visit& visit = open.back();
      if (visit.next == pending.size()) {
        visit.node->mark_ = kDone;
        order.push_back(visit.node);
        pending.resize(visit.begin);
        open.pop_back();
        continue;
      }
      Node* producer = pending[visit.next++];
      require(producer->mark_ != kOpen, ErrorCode::kInvalidGraph, producer->label(),
              " depends on its own output: the graph has a cycle; remove it from the model");
      if (producer->mark_ == kNew) enter(producer);
    }
  }
  for (size_t i = 0; i < order.size(); ++i) order[i]->mark_ = i;
  std::vector<std::unique_ptr<Node>> sorted(nodes_.size());
  for (auto& node : nodes_) {
    size_t position = node->mark_;
    sorted[position] = std::move(node);
  }
  nodes_ = std::move(sorted);
}

bool Graph::remove_unreachable() {
  constexpr size_t kDead = 0, kLive = 1;
  bool removed = false;
  std::vector<Node*> pending;
  for (const auto& node : nodes_) {
    node->mark_ = kDead;
    for (auto& [attribute, subgraph] : node->subgraphs()) removed |= subgraph->remove_unreachable();
  }
  auto reach = [&](Node* node) {
    if (node->mark_ == kLive) return;
    node->mark_ = kLive;
    pending.push_back(node);
  };
  for (const ValueInfo* value : outputs) {
    if (value->producer && value->graph == this) reach(value->producer);
  }
  std::vector<Node*> producers;
  while (!pending.empty()) {
    const Node* node = pending.back();
    pending.pop_back();
    producers.clear();
    producers_of(*node, *this, producers);
    std::ranges::for_each(producers, reach);
  }
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    if ((*node)->mark_ == kLive) continue;
    removed = true;
    disconnect(**node);
  }
  std::erase_if(nodes_, [](const auto& node) { return node->mark_ == kDead; });
  std::erase_if(values_, [&](const auto& value) {
    if (value->producer || value->is_input || value->is_output || !value->consumers.empty()) return false;
    by_name_.erase(value->name);
    return removed = true;
  });
  return removed;
}

}  // namespace ortolan::graph
