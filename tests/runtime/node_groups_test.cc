// Groups of nodes in random graphs: which may become one node, and which would wait for each other.
#include "runtime/providers/node_groups.h"

#include <gtest/gtest.h>

#include <random>

#include "runtime/model_builder.h"

namespace ortolan::runtime {
namespace {

struct RandomGroups {
  Builder builder;
  std::vector<const Node*> nodes;
  std::vector<NodeGroup> groups;

  RandomGroups(std::mt19937& random, size_t node_count, size_t group_count) {
    std::vector<ValueInfo*> values = {builder.input("x", SymbolicShape(Shape{2}))};
    for (size_t i = 0; i < node_count; ++i) {
      size_t oldest = values.size() > 6 ? values.size() - 6 : 0;
      auto any = [&] { return values[oldest + random() % (values.size() - oldest)]; };
      values.push_back(builder.node("Add", {any(), any()}, "v" + std::to_string(i)));
      nodes.push_back(values.back()->producer);
    }
    groups.resize(group_count);
    for (const Node* node : nodes) {
      size_t group = random() % (2 * group_count);
      if (group < group_count) groups[group].nodes.push_back(node);
    }
    std::erase_if(groups, [](const NodeGroup& group) { return group.nodes.size() < 2; });
  }
};

/** Whether every node is done once those that wait for others are done after them, each group at once. */
std::vector<bool> done_groups(const RandomGroups& sample, const std::vector<bool>& dissolved) {
  std::unordered_map<const Node*, size_t> group_of;
  for (size_t g = 0; g < sample.groups.size(); ++g) {
    for (const Node* node : sample.groups[g].nodes) {
      if (!dissolved[g]) group_of[node] = g;
    }
  }
  std::unordered_set<const Node*> done;
  auto is_ready = [&](const Node* node) {
    for (const ValueInfo* input : node->inputs()) {
      bool inside = input->producer != nullptr && group_of.contains(node) && group_of.contains(input->producer) &&
                    group_of.at(node) == group_of.at(input->producer);
      if (input->producer != nullptr && !inside && !done.contains(input->producer)) return false;
    }
    return true;
  };
  for (size_t before = SIZE_MAX; before != done.size();) {
    before = done.size();
    for (const Node* node : sample.nodes) {
      if (!group_of.contains(node) && is_ready(node)) done.insert(node);
    }
    for (size_t g = 0; g < sample.groups.size(); ++g) {
      const auto& members = sample.groups[g].nodes;
      if (!dissolved[g] && std::ranges::all_of(members, is_ready)) done.insert(members.begin(), members.end());
    }
  }
  std::vector<bool> result;
  for (const NodeGroup& group : sample.groups) result.push_back(done.contains(group.nodes.front()));
  return result;
}

std::vector<size_t> groups_to_drop(const RandomGroups& sample) {
  std::vector<size_t> dropped;
  std::vector<bool> dissolved(sample.groups.size(), false);
  while (true) {
    std::vector<bool> done = done_groups(sample, dissolved);
    size_t stuck = 0;
    while (stuck < done.size() && (done[stuck] || dissolved[stuck])) ++stuck;
    if (stuck == done.size()) return dropped;
    dissolved[stuck] = true;
    dropped.push_back(stuck);
  }
}

TEST(NodeGroups, FirstOfThoseThatWaitForEachOtherGo) {
  std::mt19937 random(7);
  size_t dropped = 0;
  for (int i = 0; i < 200; ++i) {
    RandomGroups sample(random, 5 + random() % 30, 1 + random() % 8);
    GroupChecker checker(*sample.builder.model->graph);
    EXPECT_EQ(checker.find_cyclic(sample.groups), groups_to_drop(sample)) << "sample " << i;
    dropped += checker.find_cyclic(sample.groups).size();
  }
  EXPECT_GT(dropped, 100u);
}

TEST(NodeGroups, StudyChangesNoAnswer) {
  std::mt19937 random(8);
  size_t refused = 0, accepted = 0;
  for (int i = 0; i < 200; ++i) {
    RandomGroups sample(random, 5 + random() % 30, 1 + random() % 8);
    GroupChecker alone(*sample.builder.model->graph), together(*sample.builder.model->graph);
    together.study(sample.groups);
    for (const NodeGroup& group : sample.groups) {
      EXPECT_EQ(together.refuse(group), alone.refuse(group)) << "sample " << i;
      ++(alone.refuse(group).empty() ? accepted : refused);
    }
  }
  EXPECT_GT(refused, 50u);
  EXPECT_GT(accepted, 50u);
}

}  // namespace
}  // namespace ortolan::runtime
