// Decision trees as flat arrays of nodes.
#include "cpu/tree_forest.h"

#include <algorithm>
#include <cmath>

namespace ortolan::cpu {
namespace {

constexpr size_t kMostNodes = size_t{1} << 30;

/** The weights of each listed node. */
std::vector<std::vector<LeafWeight>> by_node(const ListedForest& listed, int64_t targets) {
  std::vector<std::vector<LeafWeight>> result(listed.nodes.size());
  for (const ListedWeight& weight : listed.weights) {
    require(weight.node >= 0 && weight.node < static_cast<int64_t>(result.size()), ErrorCode::kInvalidGraph,
            "a leaf weight belongs to node ", weight.node, ", but there are ", result.size(), " nodes");
    require(weight.target >= 0 && weight.target < targets, ErrorCode::kInvalidGraph, "a leaf weight counts for target ",
            weight.target, ", which is outside [0, ", targets - 1, "]");
    result[static_cast<size_t>(weight.node)].push_back({static_cast<int32_t>(weight.target), weight.weight});
  }
  return result;
}

}  // namespace

template <class T>
TreeForest<T>::TreeForest(const ListedForest& listed, int64_t targets) {
  require(listed.nodes.size() < kMostNodes && listed.weights.size() < kMostNodes, ErrorCode::kInvalidGraph,
          "the ensemble has too many nodes");
  auto weights = by_node(listed, targets);
  std::vector<bool> reached(listed.nodes.size());
  nodes_.reserve(listed.nodes.size());
  for (int64_t root : listed.roots) add_tree(listed, root, reached, weights);
  auto lost = std::ranges::find(reached, false);
  require(!listed.all_reached || lost == reached.end(), ErrorCode::kInvalidGraph, "node ", lost - reached.begin(),
          " of the ensemble is not reached from its tree's root");
}

template <class T>
void TreeForest<T>::add_tree(const ListedForest& listed, int64_t root, std::vector<bool>& reached,
                             const std::vector<std::vector<LeafWeight>>& weights) {
  struct Waiting {
    int64_t position;
    int32_t parent;  // whose false child it is; -1 for the root
  };
  roots_.push_back(static_cast<int32_t>(nodes_.size()));
  std::vector<Waiting> waiting = {{root, -1}};
  while (!waiting.empty()) {
    Waiting next = waiting.back();
    waiting.pop_back();
    if (next.parent >= 0) nodes_[static_cast<size_t>(next.parent)].false_child = static_cast<int32_t>(nodes_.size());
    int64_t position = next.position;
    while (true) {
      int32_t place = add_node(listed, position, reached, weights);
      const ListedNode& node = listed.nodes[static_cast<size_t>(position)];
      if (node.branch == Branch::kLeaf) break;
      waiting.push_back({node.false_child, place});
      position = node.true_child;
    }
  }
}

template <class T>
int32_t TreeForest<T>::add_node(const ListedForest& listed, int64_t position, std::vector<bool>& reached,
                                const std::vector<std::vector<LeafWeight>>& weights) {
  require(position >= 0 && position < static_cast<int64_t>(reached.size()), ErrorCode::kInvalidGraph,
          "a node has the child ", position, ", but there are ", reached.size(), " nodes");
  auto at = static_cast<size_t>(position);
  require(!reached[at], ErrorCode::kInvalidGraph, "node ", position,
          " of the ensemble is reached twice; trees must not share nodes or have cycles");
  reached[at] = true;
  const ListedNode& from = listed.nodes[at];
  Node node{};
  node.branch = from.branch;
  node.feature = -1;
  if (from.branch == Branch::kLeaf) {
    node.first_weight = static_cast<int32_t>(weights_.size());
    node.weight_count = static_cast<int32_t>(weights[at].size());
    weights_.insert(weights_.end(), weights[at].begin(), weights[at].end());
  } else {
    require(from.feature >= 0 && from.feature < INT32_MAX, ErrorCode::kInvalidGraph, "node ", position,
            " tests feature ", from.feature);
    node.feature = static_cast<int32_t>(from.feature);
    node.split = static_cast<T>(from.split);
    node.missing_goes_true = from.missing_goes_true;
    features_ = std::max(features_, from.feature + 1);
    plain_ = plain_ && from.branch == Branch::kLeq && !from.missing_goes_true;
    if (from.branch == Branch::kMember) {
      node.members = static_cast<int32_t>(members_.size());
      members_.emplace_back(listed.members[at].begin(), listed.members[at].end());
    }
  }
  nodes_.push_back(node);
  return static_cast<int32_t>(nodes_.size()) - 1;
}

template <class T>
bool TreeForest<T>::test(const Node& node, T value) const {
  if (node.missing_goes_true && std::isnan(value)) return true;
  switch (node.branch) {
    case Branch::kLeq:
      return value <= node.split;
    case Branch::kLt:
      return value < node.split;
    case Branch::kGte:
      return value >= node.split;
    case Branch::kGt:
      return value > node.split;
    case Branch::kEq:
      return value == node.split;
    case Branch::kNeq:
      return value != node.split;
    default:
      return std::ranges::binary_search(members_[static_cast<size_t>(node.members)], value);
  }
}

template <class T>
int32_t TreeForest<T>::walk(int64_t tree, const T* row) const {
  int32_t at = roots_[static_cast<size_t>(tree)];
  while (nodes_[static_cast<size_t>(at)].feature >= 0) {
    const Node& node = nodes_[static_cast<size_t>(at)];
    at = test(node, row[node.feature]) ? at + 1 : node.false_child;
  }
  return at;
}

template class TreeForest<float>;
template class TreeForest<double>;

}  // namespace ortolan::cpu
