// The trees in the attributes of TreeEnsembleClassifier, TreeEnsembleRegressor and TreeEnsemble.
#include <algorithm>
#include <cmath>
#include <map>

#include "cpu/trees/tree_forest.h"

namespace ortolan::cpu {
namespace {

Branch branch_called(std::string_view name) {
  constexpr std::string_view kNames[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                         "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  auto found = std::find(std::begin(kNames), std::end(kNames), name);
  require(found != std::end(kNames) && name != "BRANCH_MEMBER", ErrorCode::kInvalidGraph, "nodes_modes holds '", name,
          "', which is unknown");
  return static_cast<Branch>(found - std::begin(kNames));
}

template <class T>
void require_size(const std::vector<T>& list, size_t size, std::string_view name, bool optional = false) {
  require(list.size() == size || (optional && list.empty()), ErrorCode::kInvalidGraph, "attribute '", name, "' has ",
          list.size(), " entries, but there are ", size);
}

std::vector<double> numbers_in(const Tensor& tensor) {
  std::vector<double> result;
  dispatch<kFloatTypes | ElementType::kUInt8>(tensor.type(), [&]<class T>(TypeTag<T>) {
    for (const T& value : tensor.span<T>()) {
      result.push_back(static_cast<std::conditional_t<std::is_same_v<T, double>, double, float>>(value));
    }
  });
  return result;
}

/** The lists of nodes of the older operators, which name nodes by tree and number. */
class NamedNodes {
 public:
  explicit NamedNodes(const Node& node) : trees_(node.ints("nodes_treeids")), ids_(node.ints("nodes_nodeids")) {
    require_size(ids_, trees_.size(), "nodes_nodeids");
    for (size_t i = 0; i < trees_.size(); ++i) {
      bool is_new = places_.try_emplace({trees_[i], ids_[i]}, static_cast<int64_t>(i)).second;
      require(is_new, ErrorCode::kInvalidGraph, "node ", ids_[i], " of tree ", trees_[i], " is listed twice");
    }
  }
  size_t size() const { return trees_.size(); }
  int64_t tree(size_t i) const { return trees_[i]; }
  int64_t place(int64_t tree, int64_t id) const {
    auto found = places_.find({tree, id});
    require(found != places_.end(), ErrorCode::kInvalidGraph, "tree ", tree, " has no node ", id,
            ", but a child or a weight names it");
    return found->second;
  }

 private:
  const std::vector<int64_t>& trees_;
  const std::vector<int64_t>& ids_;
  std::map<std::pair<int64_t, int64_t>, int64_t> places_;
};

/** The first node of each tree that is nobody's child. */
std::vector<int64_t> roots_of(const NamedNodes& names, const std::vector<ListedNode>& nodes) {
  std::vector<bool> is_child(nodes.size());
  for (const ListedNode& node : nodes) {
    if (node.branch == Branch::kLeaf) continue;
    is_child[static_cast<size_t>(node.true_child)] = true;
    is_child[static_cast<size_t>(node.false_child)] = true;
  }
  std::map<int64_t, int64_t> root_of_tree;
  std::vector<int64_t> roots;
  for (size_t i = 0; i < nodes.size(); ++i) {
    root_of_tree.try_emplace(names.tree(i), -1);
    int64_t& root = root_of_tree[names.tree(i)];
    if (is_child[i] || root >= 0) continue;
    root = static_cast<int64_t>(i);
    roots.push_back(root);
  }
  require(roots.size() == root_of_tree.size(), ErrorCode::kInvalidGraph,
          "a tree has no root: every node is another's child");
  return roots;
}

ListedNode read_child(const Node& node, const NamedNodes& names, size_t i, ListedNode read) {
  if (read.branch == Branch::kLeaf) return read;
  read.true_child = names.place(names.tree(i), node.ints("nodes_truenodeids")[i]);
  read.false_child = names.place(names.tree(i), node.ints("nodes_falsenodeids")[i]);
  return read;
}

}  // namespace

std::vector<double> listed_numbers(const Node& node, const std::string& name) {
  if (node.has_attribute(name + "_as_tensor")) return numbers_in(node.tensor_of(name + "_as_tensor"));
  return {node.floats(name).begin(), node.floats(name).end()};
}

ListedForest listed_trees(const Node& node, const std::string& prefix) {
  NamedNodes names(node);
  size_t count = names.size();
  const auto& modes = node.strings("nodes_modes");
  const auto& features = node.ints("nodes_featureids");
  const auto& missing = node.ints("nodes_missing_value_tracks_true");
  std::vector<double> splits = listed_numbers(node, "nodes_values");
  require_size(modes, count, "nodes_modes");
  require_size(features, count, "nodes_featureids");
  require_size(splits, count, "nodes_values");
  require_size(node.ints("nodes_truenodeids"), count, "nodes_truenodeids");
  require_size(node.ints("nodes_falsenodeids"), count, "nodes_falsenodeids");
  require_size(missing, count, "nodes_missing_value_tracks_true", true);
  ListedForest forest;
  for (size_t i = 0; i < count; ++i) {
    ListedNode read{branch_called(modes[i]), !missing.empty() && missing[i] != 0, features[i], splits[i]};
    forest.nodes.push_back(read_child(node, names, i, read));
  }
  forest.roots = roots_of(names, forest.nodes);
  forest.all_reached = true;
  const auto& trees = node.ints(prefix + "_treeids");
  const auto& ids = node.ints(prefix + "_nodeids");
  const auto& targets = node.ints(prefix + "_ids");
  std::vector<double> weights = listed_numbers(node, prefix + "_weights");
  require_size(ids, trees.size(), prefix + "_nodeids");
  require_size(targets, trees.size(), prefix + "_ids");
  require_size(weights, trees.size(), prefix + "_weights");
  for (size_t i = 0; i < trees.size(); ++i) {
    forest.weights.push_back({names.place(trees[i], ids[i]), targets[i], weights[i]});
  }
  return forest;
}

namespace {

/** Inner nodes keep their places; leaves follow them. */
int64_t child_place(int64_t child, bool leaf, size_t inner, size_t leaves) {
  auto limit = static_cast<int64_t>(leaf ? leaves : inner);
  require(child >= 0 && child < limit, ErrorCode::kInvalidGraph, "a node has the child ", child,
          ", which is outside [0, ", limit - 1, "]");
  return leaf ? static_cast<int64_t>(inner) + child : child;
}

/** The values of each member test, in node order; NaN ends a node's list. */
std::vector<std::vector<double>> member_lists(const Node& node, const std::vector<ListedNode>& nodes) {
  std::vector<std::vector<double>> lists(nodes.size());
  if (!node.has_attribute("membership_values")) return lists;
  std::vector<double> values = numbers_in(node.tensor_of("membership_values"));
  size_t next = 0;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].branch != Branch::kMember) continue;
    for (; next < values.size() && !std::isnan(values[next]); ++next) lists[i].push_back(values[next]);
    ++next;
    std::sort(lists[i].begin(), lists[i].end());
  }
  return lists;
}

}  // namespace

ListedForest listed_ensemble(const Node& node) {
  std::vector<double> modes = numbers_in(node.tensor_of("nodes_modes")),
                      splits = numbers_in(node.tensor_of("nodes_splits"));
  std::vector<double> weights = numbers_in(node.tensor_of("leaf_weights"));
  const auto& features = node.ints("nodes_featureids");
  const auto& targets = node.ints("leaf_targetids");
  const auto& missing = node.ints("nodes_missing_value_tracks_true");
  size_t inner = features.size(), leaves = targets.size();
  require_size(modes, inner, "nodes_modes");
  require_size(splits, inner, "nodes_splits");
  require_size(weights, leaves, "leaf_weights");
  require_size(missing, inner, "nodes_missing_value_tracks_true", true);
  for (const char* name : {"nodes_truenodeids", "nodes_falsenodeids", "nodes_trueleafs", "nodes_falseleafs"}) {
    require_size(node.ints(name), inner, name);
  }
  ListedForest forest;
  for (size_t i = 0; i < inner; ++i) {
    require(modes[i] >= 0 && modes[i] <= 6, ErrorCode::kInvalidGraph, "nodes_modes holds ", modes[i],
            "; modes are 0 to 6");
    ListedNode read{static_cast<Branch>(modes[i]), !missing.empty() && missing[i] != 0, features[i], splits[i]};
    read.true_child =
        child_place(node.ints("nodes_truenodeids")[i], node.ints("nodes_trueleafs")[i] != 0, inner, leaves);
    read.false_child =
        child_place(node.ints("nodes_falsenodeids")[i], node.ints("nodes_falseleafs")[i] != 0, inner, leaves);
    bool one_leaf = read.true_child == read.false_child && read.true_child >= static_cast<int64_t>(inner);
    if (one_leaf) {  // how a tree of a single leaf is written
      auto place = static_cast<size_t>(read.true_child) - inner;
      read.branch = Branch::kLeaf;
      forest.weights.push_back({static_cast<int64_t>(i), targets[place], weights[place]});
    }
    forest.nodes.push_back(read);
  }
  for (size_t i = 0; i < leaves; ++i) {
    forest.nodes.push_back({});
    forest.weights.push_back({static_cast<int64_t>(inner + i), targets[i], weights[i]});
  }
  for (int64_t root : node.ints("tree_roots")) {
    forest.roots.push_back(child_place(root, false, inner, leaves));
  }
  forest.members = member_lists(node, forest.nodes);
  return forest;
}

}  // namespace ortolan::cpu
