// Groups grow along the nodes' order: a node joins the group of one of its producers unless that would close a cycle.
#include "claims.h"

#include <map>
#include <set>

namespace ortolan::example {
namespace {

using Groups = std::set<size_t>;

struct Group {
  std::vector<const OrtNode*> nodes;
  Groups before;  // groups whose results it needs, at one remove or more
};

class Grouping {
 public:
  explicit Grouping(const Host& host) : host_(host) {}
  /** Nodes come in the graph's order, each after those it needs. */
  void add(const OrtNode* node, bool is_wanted);
  const std::vector<Group>& groups() const { return groups_; }

 private:
  struct Place {
    bool grouped = false;
    size_t group = 0;  // where it is in a group
    Groups before;     // where it is in none: groups that it depends on
  };
  Groups producers(const OrtNode* node, Groups& through_others);
  bool depends_on(const Groups& from, size_t group) const;
  void depend(const OrtValueInfo* value, Groups& direct, Groups& through_others);

  const Host& host_;
  std::vector<Group> groups_;
  std::map<const OrtNode*, Place> places_;
};

/** Adds the group that makes the value to `direct`, or the groups before the node that makes it to the others. */
void Grouping::depend(const OrtValueInfo* value, Groups& direct, Groups& through_others) {
  const OrtNode* producer = nullptr;
  if (value) check(host_, host_.api->ValueInfo_GetValueProducer(value, &producer, nullptr));
  auto found = places_.find(producer);
  if (found == places_.end()) return;  // an input, an initializer, or of a graph around this one
  const Place& place = found->second;
  if (place.grouped) {
    direct.insert(place.group);
  } else {
    through_others.insert(place.before.begin(), place.before.end());
  }
}

Groups Grouping::producers(const OrtNode* node, Groups& through_others) {
  Groups direct;
  for (const OrtValueInfo* value : inputs_of(host_, node)) depend(value, direct, through_others);
  for (const OrtValueInfo* value : implicit_inputs_of(host_, node)) depend(value, direct, through_others);
  return direct;
}

/** Whether one of the groups is `group` or needs it. */
bool Grouping::depends_on(const Groups& from, size_t group) const {
  std::vector<size_t> open(from.begin(), from.end());
  Groups seen = from;
  while (!open.empty()) {
    size_t next = open.back();
    open.pop_back();
    if (next == group) return true;
    for (size_t before : groups_[next].before) {
      if (seen.insert(before).second) open.push_back(before);
    }
  }
  return false;
}

void Grouping::add(const OrtNode* node, bool is_wanted) {
  Groups through_others;
  Groups direct = producers(node, through_others);
  Place& place = places_[node];
  place.grouped = is_wanted;
  if (!place.grouped) {
    place.before = through_others;
    place.before.insert(direct.begin(), direct.end());
    return;
  }
  place.group = groups_.size();
  for (size_t candidate : direct) {
    Groups others = through_others;
    others.insert(direct.begin(), direct.end());
    others.erase(candidate);
    if (through_others.count(candidate) || depends_on(others, candidate)) continue;
    place.group = candidate;
    break;
  }
  if (place.group == groups_.size()) groups_.emplace_back();
  Group& group = groups_[place.group];
  group.nodes.push_back(node);
  group.before.insert(through_others.begin(), through_others.end());
  group.before.insert(direct.begin(), direct.end());
  group.before.erase(place.group);
}

}  // namespace

std::vector<std::vector<const OrtNode*>> connected_groups(const Host& host, const OrtGraph* graph,
                                                          const std::function<bool(const OrtNode*)>& is_wanted) {
  Grouping grouping(host);
  for (const OrtNode* node : nodes_of(host, graph)) grouping.add(node, is_wanted(node));
  std::vector<std::vector<const OrtNode*>> groups;
  for (const Group& group : grouping.groups()) groups.push_back(group.nodes);
  return groups;
}

void claim_groups(const Host& host, const Options& options, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  OrtNodeFusionOptions fusion{};
  fusion.ort_version_supported = host.level;
  fusion.drop_constant_initializers = options.drop_constant_initializers;
  auto is_wanted = [&](const OrtNode* node) {
    Operation operation;
    return is_supported(host, node, operation);
  };
  for (const auto& nodes : connected_groups(host, graph, is_wanted)) {
    if (nodes.size() < options.min_group_size) continue;
    check(host, host.ep->EpGraphSupportInfo_AddNodesToFuse(support, nodes.data(), nodes.size(), &fusion));
  }
}

void claim_nodes_with_kernels(const Host& host, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  for (const OrtNode* node : nodes_of(host, graph)) {
    const char* provider = nullptr;
    check(host, host.api->Node_GetEpName(node, &provider));
    if (provider && provider[0] != '\0') continue;
    const OrtKernelDef* kernel = nullptr;
    check(host, host.ep->EpGraphSupportInfo_LookUpKernel(support, node, &kernel));
    if (kernel) check(host, host.ep->EpGraphSupportInfo_AddSingleNode(support, node));
  }
}

}  // namespace ortolan::example
