// Decision trees as flat arrays of nodes, checked when they are built.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"

namespace ortolan::cpu {
using namespace graph;

/** Tests of a feature against a node's value. The numbers up to kMember are those of TreeEnsemble 5. */
enum class Branch : uint8_t { kLeq, kLt, kGte, kGt, kEq, kNeq, kMember, kLeaf };

/** One node as models list them; children are positions in the list of all nodes. */
struct ListedNode {
  Branch branch = Branch::kLeaf;
  bool missing_goes_true = false;  // NaN takes the true child
  int64_t feature = 0;
  double split = 0;
  int64_t true_child = -1;
  int64_t false_child = -1;
};

/** What a leaf adds to a target. */
struct ListedWeight {
  int64_t node = 0;
  int64_t target = 0;
  double weight = 0;
};

/** The model's trees before they are built. */
struct ListedForest {
  std::vector<ListedNode> nodes;
  std::vector<int64_t> roots;
  std::vector<ListedWeight> weights;
  std::vector<std::vector<double>> members;  // for kMember nodes, by node; sorted
  bool all_reached = false;                  // every node must be part of a tree
};

struct LeafWeight {
  int32_t target;
  double weight;
};

/** Trees ready to walk over rows of features of type T (float or double). The true child of a node is the next one. */
template <class T>
class TreeForest {
 public:
  /** Builds it; throws kInvalidGraph for positions out of range, for nodes reached twice (cycles), and for targets
      not in [0, targets). */
  TreeForest(const ListedForest& listed, int64_t targets);

  int64_t tree_count() const { return static_cast<int64_t>(roots_.size()); }
  /** The number of features that a row must have at least. */
  int64_t feature_count() const { return features_; }
  /** The leaf that `row` ends in, and its weights. */
  int32_t leaf(int64_t tree, const T* row) const { return plain_ ? walk_plain(tree, row) : walk(tree, row); }
  /** The leaves of kTogether rows, `stride` apart, without branches on what they hold: faster than one after the other
      where those would be guessed wrong. */
  static constexpr int kTogether = 8;
  void leaves(int64_t tree, const T* rows, int64_t stride, int32_t* result) const;
  std::span<const LeafWeight> weights(int32_t leaf) const {
    const Leaf& at = leaves_[static_cast<size_t>(leaf)];
    return {weights_.data() + at.first, static_cast<size_t>(at.count)};
  }

 private:
  /** What a walk reads. A leaf has feature -1, and its place among the leaves as other_child. */
  struct Node {
    T split;
    int32_t feature;
    int32_t other_child;
  };
  struct Leaf {
    int32_t first, count;
  };
  /** How a node tests, where not all do in the plain way. */
  struct Test {
    Branch branch;
    bool missing_goes_true;
    int32_t members;  // a place in members_
  };

  void add_tree(const ListedForest& listed, int64_t root, std::vector<bool>& reached,
                const std::vector<std::vector<LeafWeight>>& weights);
  int32_t add_node(const ListedForest& listed, int64_t position, std::vector<bool>& reached,
                   const std::vector<std::vector<LeafWeight>>& weights);
  void add_test(const ListedForest& listed, size_t position);
  bool test(size_t node, T value) const;
  int32_t walk(int64_t tree, const T* row) const;
  /** Walks from the nodes `at` to their leaves, all a step at a time; ends as leaves' places. */
  void walk_together(int32_t* at, const T* rows, int64_t stride) const;
  int32_t walk_plain(int64_t tree, const T* row) const {
    const Node* first = nodes_.data();
    const Node* node = first + roots_[static_cast<size_t>(tree)];
    while (node->feature >= 0) node = row[node->feature] <= node->split ? node + 1 : first + node->other_child;
    return node->other_child;
  }

  std::vector<Node> nodes_;
  std::vector<Test> tests_;
  std::vector<Leaf> leaves_;
  std::vector<int32_t> roots_;
  std::vector<LeafWeight> weights_;
  std::vector<std::vector<T>> members_;
  int64_t features_ = 0;
  bool plain_ = true;  // every test is <=, NaN goes to the false child
};

extern template class TreeForest<float>;
extern template class TreeForest<double>;

/** The trees of TreeEnsembleClassifier or TreeEnsembleRegressor (weights in the attributes `prefix`_ids, …), and of
    TreeEnsemble. Checked as far as lists and names go. */
ListedForest listed_trees(const Node& node, const std::string& prefix);
ListedForest listed_ensemble(const Node& node);
/** A list of numbers: attribute `name` or `name`_as_tensor. */
std::vector<double> listed_numbers(const Node& node, const std::string& name);

}  // namespace ortolan::cpu
