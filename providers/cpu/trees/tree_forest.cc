// Decision trees as flat arrays of nodes.
#include "cpu/trees/tree_forest.h"

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
    if (next.parent >= 0) nodes_[static_cast<size_t>(next.parent)].other_child = static_cast<int32_t>(nodes_.size());
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
  add_test(listed, at);
  const ListedNode& from = listed.nodes[at];
  if (from.branch == Branch::kLeaf) {
    nodes_.push_back({T{}, -1, static_cast<int32_t>(leaves_.size())});
    leaves_.push_back({static_cast<int32_t>(weights_.size()), static_cast<int32_t>(weights[at].size())});
    weights_.insert(weights_.end(), weights[at].begin(), weights[at].end());
  } else {
    require(from.feature >= 0 && from.feature < INT32_MAX, ErrorCode::kInvalidGraph, "node ", position,
            " tests feature ", from.feature);
    features_ = std::max(features_, from.feature + 1);
    nodes_.push_back({static_cast<T>(from.split), static_cast<int32_t>(from.feature), -1});
  }
  return static_cast<int32_t>(nodes_.size()) - 1;
}

template <class T>
void TreeForest<T>::add_test(const ListedForest& listed, size_t position) {
  const ListedNode& from = listed.nodes[position];
  Test test{from.branch, from.missing_goes_true, 0};
  if (from.branch == Branch::kMember) {
    test.members = static_cast<int32_t>(members_.size());
    members_.emplace_back(listed.members[position].begin(), listed.members[position].end());
  }
  if (from.branch != Branch::kLeaf) plain_ = plain_ && from.branch == Branch::kLeq && !from.missing_goes_true;
  tests_.push_back(test);
}

template <class T>
bool TreeForest<T>::test(size_t node, T value) const {
  const Test& how = tests_[node];
  T split = nodes_[node].split;
  if (how.missing_goes_true && std::isnan(value)) return true;
  switch (how.branch) {
    case Branch::kLeq:
      return value <= split;
    case Branch::kLt:
      return value < split;
    case Branch::kGte:
      return value >= split;
    case Branch::kGt:
      return value > split;
    case Branch::kEq:
      return value == split;
    case Branch::kNeq:
      return value != split;
    default:
      return std::ranges::binary_search(members_[static_cast<size_t>(how.members)], value);
  }
}

template <class T>
int32_t TreeForest<T>::walk(int64_t tree, const T* row) const {
  auto at = static_cast<size_t>(roots_[static_cast<size_t>(tree)]);
  while (nodes_[at].feature >= 0) {
    at = test(at, row[nodes_[at].feature]) ? at + 1 : static_cast<size_t>(nodes_[at].other_child);
  }
  return nodes_[at].other_child;
}

template <class T>
void TreeForest<T>::walk_together(int32_t* at, const T* rows, int64_t stride) const {
  const Node* nodes = nodes_.data();
  for (int32_t inside = -1; inside < 0;) {  // no branches but the loop's: where a row goes next cannot be foreseen
    inside = 0;
    for (int i = 0; i < kTogether; ++i) {
      const Node& node = nodes[at[i]];
      const int32_t is_leaf = node.feature >> 31;
      const int32_t to_next = -static_cast<int32_t>(rows[i * stride + (node.feature & ~is_leaf)] <= node.split);
      const int32_t child = node.other_child ^ ((node.other_child ^ (at[i] + 1)) & to_next);
      at[i] = child ^ ((child ^ at[i]) & is_leaf);
      inside |= ~is_leaf;
    }
  }
  for (int i = 0; i < kTogether; ++i) at[i] = nodes[at[i]].other_child;
}

template <class T>
void TreeForest<T>::leaves(int64_t tree, const T* rows, int64_t stride, int32_t* result) const {
  if (!plain_ || features_ == 0) {
    for (int i = 0; i < kTogether; ++i) result[i] = walk(tree, rows + i * stride);
    return;
  }
  std::fill_n(result, kTogether, roots_[static_cast<size_t>(tree)]);
  walk_together(result, rows, stride);
}

template class TreeForest<float>;
template class TreeForest<double>;

}  // namespace ortolan::cpu
