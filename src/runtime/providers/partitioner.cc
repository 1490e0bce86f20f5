// Giving every node of a model to an execution provider.
#include "runtime/providers/partitioner.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>
#include <unordered_set>

#include "ops/channels_last.h"
#include "runtime/providers/data_layout.h"
#include "runtime/providers/node_groups.h"
#include "runtime/providers/provider_budgets.h"
#include "runtime/session/ep_context.h"

namespace ortolan::runtime {
namespace {

using Providers = std::span<const std::unique_ptr<ExecutionProvider>>;
/** By Node::id, as nodes go while groups become one node. */
using Reasons = std::unordered_map<size_t, std::vector<std::pair<std::string, std::string>>>;

constexpr const char* kWhere = "partitioner.cc partition";
constexpr std::string_view kNoReason = "it did not take the node and gives no reason";

std::vector<std::string> names_of(const std::vector<ValueInfo*>& values) {
  std::vector<std::string> names;
  for (const ValueInfo* value : values) {
    if (value != nullptr) names.push_back(value->name);
  }
  return names;
}

/** A number for names that providers keep files under: other models, or the same at other places, have others. */
uint64_t fingerprint(const Graph& graph, std::string_view model_path) {
  uint64_t hash = 0xcbf29ce484222325;
  auto add = [&](std::string_view text) {
    for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash = (hash ^ 0xff) * 0x100000001b3;
  };
  add(model_path);
  for (const auto& node : graph.nodes()) {
    add(node->op_type);
    for (const ValueInfo* output : node->outputs()) add(output != nullptr ? output->name : "");
  }
  return hash;
}

/** Shares the nodes of one graph out. */
class GraphPartition {
 public:
  GraphPartition(Graph& graph, uint64_t model, Partition& result, const PartitionOptions& options, Budgets& budgets)
      : graph_(graph), model_(model), result_(result), options_(options), budgets_(budgets) {}

  void ask(ExecutionProvider& provider, bool last) {
    asked_.push_back(provider.type());
    std::vector<NodeGroup> groups = accepted(provider, last);
    if (!last) change_layout(provider, groups);
    if (!last) return_what_has_no_room(provider, groups);
    std::vector<NodeGroup> compiled;
    for (NodeGroup& group : groups) {
      if (group.compile) {
        compiled.push_back(std::move(group));
      } else {
        give(group.nodes, provider);
      }
    }
    if (!compiled.empty()) compile(provider, compiled);
    if (!last) change_back({});
  }

  /** Notes where the nodes are that no provider fused. */
  void finish() {
    for (const auto& node : graph_.nodes()) {
      if (fused_.contains(node->id)) continue;
      if (node->provider.empty()) fail_unclaimed(*node);
      result_.assignments.push_back(describe(*node, -1));
    }
  }

 private:
  /** The provider's claims that can be granted. */
  std::vector<NodeGroup> accepted(ExecutionProvider& provider, bool last) {
    Capability capability = capability_of(provider, last);
    for (Declined& declined : capability.declined) add_reason(declined.node, provider, std::move(declined.reason));
    std::vector<NodeGroup> groups;
    if (last) {  // the built-in provider claims nodes one by one
      groups = std::move(capability.groups);
    } else if (!capability.groups.empty()) {
      GroupChecker checker(graph_);
      checker.study(capability.groups);
      std::unordered_set<const Node*> taken;
      for (NodeGroup& group : capability.groups) {
        if (!grant(provider, checker, group, taken)) continue;
        checker.sort(group);
        groups.push_back(std::move(group));
      }
      drop_cyclic(provider, checker, groups);
    }
    std::erase_if(groups, [](const NodeGroup& group) { return !group.nodes.front()->provider.empty(); });
    if (!last) return_small_islands(provider, groups);
    return groups;
  }

  /** Which of the nodes the provider prefers with channels last. A plugin that fails to answer prefers nothing. */
  std::vector<Node*> preferred_channels_last(const ExecutionProvider& provider, std::span<const NodeGroup> groups) {
    try {
      if (groups.empty() || !provider.prefers_channels_last()) return {};
      return wanted_channels_last(nodes_of(groups), provider);
    } catch (const Error& error) {
      warn("provider ", provider.type(),
           " gets operators as they are: asked for the layout it prefers, it failed: ", error.text());
      return {};
    }
  }

  /** Changes the operators that the provider took to the form that it prefers, and asks again. What it then leaves is
      changed back. */
  void change_layout(ExecutionProvider& provider, std::vector<NodeGroup>& groups) {
    std::vector<Node*> preferred = preferred_channels_last(provider, groups);
    if (preferred.empty()) return;
    put_channels_last(graph_, preferred);
    tidy_transposes();
    groups = ask_again(provider);
    if (change_back(groups)) groups = ask_again(provider);
  }

  /** Changes nodes back that are neither assigned nor in the groups; says whether there are any. */
  bool change_back(std::span<const NodeGroup> groups) {
    auto taken = nodes_of(groups);
    const std::unordered_set<const Node*> kept(taken.begin(), taken.end());
    std::vector<Node*> left;
    for (const auto& node : graph_.nodes()) {
      bool changed = ops::has_channels_last(*node) && node->provider.empty();
      if (changed && !kept.contains(node.get())) left.push_back(node.get());
    }
    if (left.empty()) return false;
    put_channels_first(graph_, left);
    tidy_transposes();
    return true;
  }

  std::vector<NodeGroup> ask_again(ExecutionProvider& provider) {
    for (auto& [node, reasons] : reasons_) {
      std::erase_if(reasons, [&](const auto& reason) { return reason.first == provider.type(); });
    }
    return accepted(provider, /*last=*/false);
  }

  void tidy_transposes() {
    if (options_.tidy_transposes) options_.tidy_transposes(graph_);
  }

  static std::vector<Node*> nodes_of(std::span<const NodeGroup> groups) {
    std::vector<Node*> nodes;
    for (const NodeGroup& group : groups) {
      for (const Node* node : group.nodes) nodes.push_back(const_cast<Node*>(node));
    }
    return nodes;
  }

  /** A plugin that fails to answer leaves its nodes to the next provider. */
  Capability capability_of(ExecutionProvider& provider, bool last) {
    if (last) return provider.get_capability(graph_);
    try {
      return provider.get_capability(graph_);
    } catch (const Error& error) {
      warn("provider ", provider.type(), " gets no nodes of graph '", graph_.name,
           "': asked for those it can run, it "
           "failed: ",
           error.text());
      return {};
    }
  }

  bool grant(ExecutionProvider& provider, const GroupChecker& checker, const NodeGroup& group,
             std::unordered_set<const Node*>& taken) {
    std::string why = checker.refuse(group);
    for (const Node* node : group.nodes) {
      if (!why.empty()) break;
      if (!node->provider.empty()) why = join(node->label(), " runs on ", node->provider, " already");
      if (taken.contains(node)) why = join(node->label(), " is in another of its groups");
    }
    if (why.empty()) {
      taken.insert(group.nodes.begin(), group.nodes.end());
      return true;
    }
    drop(provider, group, why);
    return false;
  }

  void drop_cyclic(ExecutionProvider& provider, const GroupChecker& checker, std::vector<NodeGroup>& groups) {
    std::vector<NodeGroup> compiled;
    for (const NodeGroup& group : groups) {
      if (group.compile && group.nodes.size() > 1) compiled.push_back(group);
    }
    if (compiled.size() < 2) return;
    for (size_t i : checker.find_cyclic(compiled)) {
      drop(provider, compiled[i], "as one node it would depend on itself through another of the provider's groups");
      std::erase_if(groups, [&](const NodeGroup& group) { return group.nodes == compiled[i].nodes; });
    }
  }

  void drop(ExecutionProvider& provider, const NodeGroup& group, const std::string& why) {
    warn("a group of ", group.nodes.size(), " nodes that ", provider.type(), " asked for",
         group.nodes.empty() ? std::string() : join(", the first of them ", group.nodes.front()->label()),
         ", is not given to it: ", why);
    for (const Node* node : group.nodes) add_reason(node, provider, join("its group was refused: ", why));
  }

  /** Takes back groups whose island has fewer nodes than the provider wants. */
  void return_small_islands(ExecutionProvider& provider, std::vector<NodeGroup>& groups) {
    const size_t least = std::max(provider.least_island(), options_.least_island);
    if (least < 2) return;
    std::vector<const Node*> nodes;
    for (const NodeGroup& group : groups) nodes.insert(nodes.end(), group.nodes.begin(), group.nodes.end());
    std::unordered_set<const Node*> small;
    for (const auto& island : GroupChecker(graph_).islands(nodes)) {
      if (island.size() >= least) continue;
      small.insert(island.begin(), island.end());
      for (const Node* node : island) {
        add_reason(
            node, provider,
            join("its island has ", island.size(), " nodes, fewer than the ", least, " that are worth a transfer"));
      }
    }
    std::erase_if(groups, [&](const NodeGroup& group) { return small.contains(group.nodes.front()); });
  }

  /** Takes back the groups from the first on for which the provider has not the memory. */
  void return_what_has_no_room(ExecutionProvider& provider, std::vector<NodeGroup>& groups) {
    if (groups.empty()) return;
    Budget& budget = budget_of(provider);
    auto first = std::ranges::find_if(groups, [&](const NodeGroup& group) { return !budget.pay(group.nodes); });
    for (auto group = first; group != groups.end(); ++group) {
      for (const Node* node : group->nodes) {
        add_reason(node, provider,
                   join("the provider has ", budget.left(), " bytes left, too few for the weights and results of ",
                        first->nodes.front()->label()));
      }
    }
    groups.erase(first, groups.end());
  }

  /** A plugin that fails to answer has no bound. */
  Budget& budget_of(const ExecutionProvider& provider) {
    try {
      return budgets_.of(provider);
    } catch (const Error& error) {
      warn("provider ", provider.type(),
           " may take any number of bytes: asked for what it has left, it failed: ", error.text());
      return budgets_.set(provider, std::nullopt);
    }
  }

  static void give(std::span<const Node* const> nodes, const ExecutionProvider& provider) {
    for (const Node* node : nodes) const_cast<Node*>(node)->provider = provider.type();
  }

  /** The provider sees its nodes as nobody's until it has compiled them. */
  void compile(ExecutionProvider& provider, const std::vector<NodeGroup>& groups) {
    std::vector<FusedGroup> fused;
    for (const NodeGroup& group : groups) {
      check_compiling(provider, group);
      std::string name = join(options_.name_prefix, provider.type(), "_", model_, "_", graph_.context().next_id++);
      fused.push_back(describe_group(graph_, group, std::move(name)));
    }
    std::vector<CompiledGroup> compiled = provider.compile(fused);
    require(compiled.size() == fused.size(), ErrorCode::kEpFail, "provider ", provider.type(), " was given ",
            fused.size(), " groups to compile, but made ", compiled.size(), " kernels");
    for (size_t i = 0; i < fused.size(); ++i) {
      require(compiled[i].kernel != nullptr, ErrorCode::kEpFail, "provider ", provider.type(),
              " made nothing of group '", fused[i].name, "'");
      int number = groups_++;
      give(fused[i].nodes, provider);
      for (const Node* node : fused[i].nodes) result_.assignments.push_back(describe(*node, number));
      auto schema = std::make_unique<FusedOperator>(fused[i], provider.type(), std::move(compiled[i]));
      fused_.insert(fuse(graph_, fused[i], *schema)->id);
      result_.operators.push_back(std::move(schema));
    }
    graph_.remove_unreachable();
    graph_.sort();
  }

  void check_compiling(const ExecutionProvider& provider, const NodeGroup& group) const {
    if (!options_.forbid_compiling) return;
    for (const Node* node : group.nodes) {
      require(is_ep_context(*node), ErrorCode::kModelRequiresCompilation, "provider ", provider.type(),
              " would have to compile ", node->label(),
              ", which the session entry 'session.disable_model_compile' forbids; compile the model beforehand");
    }
  }

  void add_reason(const Node* node, const ExecutionProvider& provider, std::string reason) {
    reasons_[node->id].emplace_back(provider.type(), std::move(reason));
  }

  NodeAssignment describe(const Node& node, int group) {
    NodeAssignment assignment{node.name, node.op_type, node.domain, node.provider, {}, group, {}, {}};
    if (options_.record_edges) {
      assignment.inputs = names_of(node.inputs());
      for (const std::string& name : names_of(node.captured())) assignment.inputs.push_back(name);
      assignment.outputs = names_of(node.outputs());
    }
    for (const std::string& provider : asked_) {
      if (provider == node.provider) break;
      add_reasons_of(provider, node, assignment.declined);
    }
    return assignment;
  }

  /** Why the provider left the node: each reason, or that it gives none. */
  void add_reasons_of(const std::string& provider, const Node& node,
                      std::vector<std::pair<std::string, std::string>>& declined) const {
    const size_t before = declined.size();
    if (auto found = reasons_.find(node.id); found != reasons_.end()) {
      std::ranges::copy_if(found->second, std::back_inserter(declined),
                           [&](const auto& reason) { return reason.first == provider; });
    }
    if (declined.size() == before) declined.emplace_back(provider, kNoReason);
  }

  [[noreturn]] void fail_unclaimed(const Node& node) const {
    std::string text = join(node.label(), ": no execution provider runs it");
    if (auto found = reasons_.find(node.id); found != reasons_.end()) {
      for (const auto& [provider, reason] : found->second) base::append(text, join("; ", provider, ": ", reason));
    }
    if (is_ep_context(node)) fail(ErrorCode::kNotImplemented, text, "; ", advice_for_unclaimed(node));
    fail(ErrorCode::kNotImplemented, text, "; convert the model, or register a provider or custom operator for it");
  }

  template <class... Parts>
  void warn(const Parts&... parts) const {
    if (options_.logger != nullptr) options_.logger->log(Severity::kWarning, kWhere, parts...);
  }

  Graph& graph_;
  uint64_t model_;  // its fingerprint
  Partition& result_;
  const PartitionOptions& options_;
  Budgets& budgets_;
  Reasons reasons_;
  std::vector<std::string> asked_;    // providers, in order
  std::unordered_set<size_t> fused_;  // by Node::id
  int groups_ = static_cast<int>(result_.operators.size());
};

/** Why the first provider that left the node did so. */
std::string_view first_reason(const NodeAssignment& assignment) {
  return assignment.declined.empty() ? kNoReason : std::string_view(assignment.declined.front().second);
}

/** Says once how many nodes the preferred providers left to the last one; an error where that is forbidden. */
void report_fallback(const Partition& result, Providers providers, const PartitionOptions& options) {
  if (providers.size() < 2) return;
  const std::string& last = providers.back()->type();
  const NodeAssignment* example = nullptr;
  size_t count = 0;
  for (const NodeAssignment& assignment : result.assignments) {
    if (assignment.provider != last) continue;
    bool is_better = count > 0 && first_reason(*example) == kNoReason && first_reason(assignment) != kNoReason;
    if (++count == 1 || is_better) example = &assignment;
  }
  if (count == 0) return;
  std::string text = join(count, " of ", result.assignments.size(), " nodes run on ", last,
                          " because no other provider of the session takes them, for example node '",
                          example->node_name, "' (", example->op_type, "): ", first_reason(*example));
  if (options.forbid_cpu) {
    fail(ErrorCode::kFail, text, "; the session entry 'session.disable_cpu_ep_fallback' forbids that");
  }
  if (options.logger != nullptr) options.logger->log(Severity::kWarning, kWhere, text);
}

}  // namespace

Partition partition(Graph& graph, Providers providers, const PartitionOptions& options) {
  Partition result;
  Budgets budgets;
  uint64_t model = providers.size() > 1 ? fingerprint(graph, options.model_path) : 0;
  for_each_graph(graph, [&](Graph& part) {
    GraphPartition parts(part, model, result, options, budgets);
    for (const auto& provider : providers) parts.ask(*provider, provider == providers.back());
    parts.finish();
  });
  report_fallback(result, providers, options);
  return result;
}

}  // namespace ortolan::runtime
