// Judges nodes one by one, then grows groups along the nodes' order.
#include "gpu/core/graph/claims.h"

#include <algorithm>
#include <map>
#include <set>

#include "gpu/core/host/host_operators.h"

namespace ortolan::gpu {
namespace {

enum class Where { kElsewhere, kHost, kDevice };

struct Verdict {
  Where where;
  std::string refusal;
};

/** Whether the host may read such a value before a run: small by its kind. */
bool is_readable(const Value& value) {
  bool counts =
      value.type == ElementType::kInt64 || value.type == ElementType::kInt32 || value.type == ElementType::kBool;
  bool is_list = value.shape && value.shape->size() <= 1;
  return counts ? !value.shape || is_list : value.type == ElementType::kFloat && is_list;
}

/** Of a value whose size is known: a constant, or one of a whole shape; else 0. */
size_t known_bytes(const Value& value) {
  if (value.constant) return value.constant->bytes.size();
  bool is_whole =
      value.shape && std::all_of(value.shape->begin(), value.shape->end(), [](int64_t n) { return n >= 0; });
  return is_whole ? static_cast<size_t>(element_count(*value.shape)) * element_bytes(value.type) : 0;
}

class Judge {
 public:
  Judge(const Graph& graph, const DeviceTraits& traits) : graph_(graph), traits_(traits), known_(graph.values.size()) {
    for (size_t i = 0; i < graph.values.size(); i++)
      known_[i] = graph.values[i].constant || is_readable(graph.values[i]);
  }

  Verdict judge(const Node& node) {
    if (!node.unsupported.empty()) return {Where::kElsewhere, node.unsupported};
    if (is_shape_arithmetic(node)) {
      settle(node, true);
      return {Where::kHost, ""};
    }
    std::string refusal = refuse(node);
    if (refusal.empty()) settle(node, false);
    return {refusal.empty() ? Where::kDevice : Where::kElsewhere, refusal};
  }

 private:
  bool knows_all_inputs(const Node& node) const {
    return std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](int input) { return input == kMissing || known_[input]; });
  }
  bool is_shape_arithmetic(const Node& node) const {
    return has_host_operator(node) && (reads_shapes_alone(node) || knows_all_inputs(node));
  }
  /** The node is ours: its results are known before a run, or are not. */
  void settle(const Node& node, bool known) {
    for (int output : node.outputs) {
      if (output != kMissing) known_[output] = known;
    }
  }
  std::string refuse(const Node& node) const {
    const Operator* row = find_operator(node);
    if (row == nullptr) return "there is no kernel for it";
    for (size_t i = 0; row->knows != nullptr && i < node.inputs.size(); i++) {
      if (node.has_input(i) && row->knows(node, i) && !known_[node.inputs[i]]) {
        return "its input " + std::to_string(i) + " is computed on the device and would be needed before the run";
      }
    }
    const Candidate candidate(graph_, node, traits_);
    std::string refusal = row->refuse(candidate);
    if (refusal.empty()) refusal = what_is_too_long(*row, candidate, false);
    return refusal.empty() ? what_is_too_long(*row, candidate, true) : refusal;
  }
  /** Says which of the node's inputs, or outputs, the device's buffers cannot hold or launches not see; empty: none is
   * known to be. */
  std::string what_is_too_long(const Operator& row, const Candidate& candidate, bool is_output) const {
    const std::vector<int>& values = is_output ? candidate.node().outputs : candidate.node().inputs;
    for (size_t i = 0; i < values.size(); i++) {
      const size_t bytes = values[i] == kMissing ? 0 : known_bytes(graph_.values[values[i]]);
      if (bytes <= traits_.max_binding_bytes) continue;
      const bool fits = bytes <= traits_.max_buffer_bytes;
      if (fits && row.comes_in_parts != nullptr && row.comes_in_parts(candidate, i, is_output)) continue;
      return "its tensor '" + graph_.values[values[i]].name + "' has " + std::to_string(bytes) + " bytes; a " +
             (fits ? "launch on the device sees at most " : "buffer of the device may have ") +
             std::to_string(fits ? traits_.max_binding_bytes : traits_.max_buffer_bytes);
    }
    return "";
  }

  const Graph& graph_;
  const DeviceTraits& traits_;
  std::vector<bool> known_;
};

/** Puts nodes into groups so that no group needs itself through a node outside of it. */
class Grouping {
 public:
  explicit Grouping(const Graph& graph)
      : graph_(graph), producers_(graph.values.size(), -1), places_(graph.nodes.size()) {
    for (size_t i = 0; i < graph.nodes.size(); i++) {
      for (int output : graph.nodes[i].outputs) {
        if (output != kMissing) producers_[output] = static_cast<int>(i);
      }
    }
  }

  void add(int node, Where where) {
    Place place = place_after_inputs(node);
    std::set<int> direct = groups_read_by(node);
    if (where != Where::kElsewhere) {
      place.group = join(direct, place.before);
      if (place.group < 0) place.group = make_group();
    }
    for (int group : direct) {
      if (root(group) != root(place.group)) place.before.insert(root(group));
    }
    if (where != Where::kElsewhere) {
      Group& group = groups_[place.group];
      group.before.insert(place.before.begin(), place.before.end());
      group.computes |= where == Where::kDevice;
    }
    places_[node] = std::move(place);
  }

  /** Groups that need the device, with their nodes in the graph's order. */
  std::vector<std::vector<int>> groups() const {
    std::map<int, std::vector<int>> nodes;
    for (size_t i = 0; i < places_.size(); i++) {
      int group = root(places_[i].group);
      if (group >= 0 && groups_[group].computes) nodes[group].push_back(static_cast<int>(i));
    }
    std::vector<std::vector<int>> result;
    for (auto& [group, members] : nodes) result.push_back(std::move(members));
    return result;
  }

 private:
  struct Place {
    int group = -1;
    std::set<int> before;  // groups that it needs from outside of its own
  };
  struct Group {
    int merged_into = -1;
    std::set<int> before;   // groups that its nodes need
    bool computes = false;  // some node needs the device
  };

  int make_group() {
    groups_.emplace_back();
    return static_cast<int>(groups_.size()) - 1;
  }
  int root(int group) const {
    while (group >= 0 && groups_[group].merged_into >= 0) group = groups_[group].merged_into;
    return group;
  }

  std::set<int> groups_read_by(int node) const {
    std::set<int> groups;
    for_each_producer(node, [&](const Place& place) {
      if (place.group >= 0) groups.insert(root(place.group));
    });
    return groups;
  }
  Place place_after_inputs(int node) const {
    Place result;
    for_each_producer(node, [&](const Place& place) {
      for (int group : place.before) result.before.insert(root(group));
    });
    return result;
  }
  template <class Body>
  void for_each_producer(int node, Body&& body) const {
    for (int input : graph_.nodes[node].inputs) {
      if (input != kMissing && producers_[input] >= 0) body(places_[producers_[input]]);
    }
  }

  /** Merges the groups that the node reads as far as none needs another through nodes outside, and gives the result; -1
   *  where the node can join none. */
  int join(const std::set<int>& direct, const std::set<int>& before) {
    int joined = -1;
    for (auto it = direct.rbegin(); it != direct.rend(); ++it) {
      if (needs(before, *it)) continue;
      if (joined < 0) {
        bool another = std::any_of(direct.begin(), direct.end(),
                                   [&](int other) { return other != *it && needs(groups_[other].before, *it); });
        if (!another) joined = *it;
      } else if (!needs(groups_[joined].before, *it) && !needs(groups_[*it].before, joined)) {
        merge(*it, joined);
      }
    }
    return joined;
  }
  void merge(int group, int into) {
    groups_[group].merged_into = into;
    groups_[into].before.insert(groups_[group].before.begin(), groups_[group].before.end());
    groups_[into].computes |= groups_[group].computes;
  }
  /** Whether one of the groups is `wanted` or needs it. */
  bool needs(const std::set<int>& groups, int wanted) const {
    std::vector<int> waiting(groups.begin(), groups.end());
    std::set<int> seen;
    while (!waiting.empty()) {
      int next = root(waiting.back());
      waiting.pop_back();
      if (next == wanted) return true;
      if (!seen.insert(next).second) continue;
      waiting.insert(waiting.end(), groups_[next].before.begin(), groups_[next].before.end());
    }
    return false;
  }

  const Graph& graph_;
  std::vector<int> producers_;  // by value
  std::vector<Place> places_;   // by node
  std::vector<Group> groups_;
};

}  // namespace

Claims claim_nodes(const Graph& graph, const std::vector<bool>& taken, const DeviceTraits& traits) {
  Claims claims;
  Judge judge(graph, traits);
  Grouping grouping(graph);
  for (size_t i = 0; i < graph.nodes.size(); i++) {
    Verdict verdict = taken[i] ? Verdict{Where::kElsewhere, "another provider has it"} : judge.judge(graph.nodes[i]);
    grouping.add(static_cast<int>(i), verdict.where);
    claims.refusals.push_back(verdict.where == Where::kHost ? "shape arithmetic stays on the CPU" : verdict.refusal);
  }
  claims.groups = grouping.groups();
  for (const std::vector<int>& group : claims.groups) {
    for (int node : group) claims.refusals[node].clear();
  }
  return claims;
}

}  // namespace ortolan::gpu
