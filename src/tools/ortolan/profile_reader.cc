// Reading a profile: which node took how long in each run, and what devices did.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "common/error.h"
#include "kernel_events.h"

namespace ortolan::tools {
namespace {

using Json = nlohmann::ordered_json;

// Nodes that run other nodes, whose events lie within theirs.
const std::set<std::string> kContainers = {"If",         "Loop",     "Scan",         "SequenceMap",
                                           "BeamSearch", "Sampling", "GreedySearch", "WhisperBeamSearch"};

std::string text_of(const Json& args, const char* key) {
  auto found = args.find(key);
  return found != args.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::optional<double> number_of(const Json& args, const char* key) {
  std::string text = text_of(args, key);
  char* end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  return text.empty() || *end ? std::nullopt : std::optional(value);
}

// [{"float":[1,3]},{"int64":[]}] as "float[1,3], int64[]".
std::string shapes_of(const Json& args, const char* key) {
  std::string text;
  auto found = args.find(key);
  if (found == args.end() || !found->is_array()) return text;
  for (const Json& tensor : *found) {
    if (!tensor.is_object()) continue;
    for (const auto& [type, shape] : tensor.items()) text += (text.empty() ? "" : ", ") + type + shape.dump();
  }
  return text;
}

std::string provider_of(const Json& args) {
  std::string name = text_of(args, "provider");
  const std::string ending = "ExecutionProvider";
  if (name.ends_with(ending)) name.resize(name.size() - ending.size());
  return name;
}

Json args_of(const Json& event) { return event.contains("args") ? event["args"] : Json::object(); }

double microseconds(const Json& event, const Json& args) {
  auto exact = number_of(args, "duration_ns");
  return exact ? *exact / 1000 : event.value("dur", 0.0);
}

struct Event {
  size_t node;
  int64_t thread, start;
  double us, own_us;  // with and without the nodes within
  bool container;
  bool is_within(const Event& outer) const { return thread == outer.thread && start >= outer.start; }
};

class ProfileReader {
 public:
  explicit ProfileReader(int skipped) : skipped_(skipped) {}

  void add(const Json& event) {
    if (!event.is_object() || !event.contains("name") || !event["name"].is_string()) return;
    std::string category = event.value("cat", ""), name = event["name"].get<std::string>();
    const std::string ending = "_kernel_time";
    if (category == "Session" && name == "model_run") end_run(event.value("ts", int64_t{0}));
    if (category == "Kernel") add_kernel(event, name);
    if (category != "Node" || !name.ends_with(ending) || skipped_ > 0) return;
    add_node(event, name.substr(0, name.size() - ending.size()));
  }

  TimeReport report() {
    TimeReport report;
    report.runs = runs_;
    report.explains = explains_;
    report.nodes_us = median(sums_);
    report.device = kernels_.times();
    std::vector<size_t> order(nodes_.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return first_[a] < first_[b]; });
    for (size_t i : order) {
      NodeTime node = nodes_[i];
      times_[i].resize(size_t(runs_));
      node.time.us = median(times_[i]);
      node.time.calls /= std::max(runs_, 1);
      for (auto* sum : {&node.time.flops, &node.time.bytes}) {
        if (*sum) **sum /= std::max(runs_, 1);
      }
      report.nodes.push_back(std::move(node));
    }
    return report;
  }

 private:
  void add_kernel(const Json& event, const std::string& name) {
    const Json args = args_of(event);
    kernels_.add({text_of(args, "node"), text_of(args, "op_name"), provider_of(args), name, {}},
                 event.value("ts", int64_t{0}), microseconds(event, args));
  }

  void add_node(const Json& event, const std::string& name) {
    const Json args = args_of(event);
    size_t node = find(name, args);
    NodeTime& known = nodes_[node];
    std::string kernel = text_of(args, "kernel");
    if (!known.kernel.empty() && known.kernel != kernel && !known.kernel.ends_with(", …")) known.kernel += ", …";
    ++known.time.calls;
    add_to(known.time.flops, number_of(args, "flops"));
    add_to(known.time.bytes, bytes_of(args));
    double us = microseconds(event, args);
    int64_t start = event.value("ts", int64_t{0});
    first_[node] = std::min(first_[node], start);
    events_.push_back({node, event.value("tid", int64_t{0}), start, us, us, kContainers.contains(known.type)});
  }

  // The number of the node that the event is about; a new one if need be.
  size_t find(const std::string& name, const Json& args) {
    NodeTime node;
    node.node = name;
    node.type = text_of(args, "op_name");
    node.provider = provider_of(args);
    auto [found, added] =
        numbers_.try_emplace({name, node.type, node.provider, text_of(args, "node_index")}, nodes_.size());
    if (!added) return found->second;
    node.kernel = text_of(args, "kernel"), node.isa = text_of(args, "isa");
    node.inputs = shapes_of(args, "input_type_shape"), node.outputs = shapes_of(args, "output_type_shape");
    explains_ |= !node.kernel.empty();
    nodes_.push_back(std::move(node));
    times_.emplace_back();
    first_.push_back(INT64_MAX);
    return found->second;
  }

  static void add_to(std::optional<double>& sum, std::optional<double> value) {
    if (value) sum = sum.value_or(0) + *value;
  }

  static std::optional<double> bytes_of(const Json& args) {
    if (auto bytes = number_of(args, "bytes")) return bytes;
    std::optional<double> sum;
    for (const char* key : {"parameter_size", "activation_size", "output_size"}) add_to(sum, number_of(args, key));
    return sum;
  }

  void end_run(int64_t start) {
    if (skipped_-- > 0) return;
    skipped_ = 0;
    kernels_.begin_run(start);
    subtract_inner();
    double sum = 0;
    for (const Event& event : events_) {
      times_[event.node].resize(size_t(runs_) + 1);
      times_[event.node].back() += event.own_us;
      sum += event.own_us;
    }
    sums_.push_back(sum);
    events_.clear();
    ++runs_;
  }

  // Events come in the order in which they ended, so those within a container stand before it.
  void subtract_inner() {
    std::vector<const Event*> open;
    for (Event& event : events_) {
      while (event.container && !open.empty() && open.back()->is_within(event)) {
        event.own_us -= open.back()->us;
        open.pop_back();
      }
      event.own_us = std::max(0.0, event.own_us);
      open.push_back(&event);
    }
  }

  int skipped_, runs_ = 0;
  bool explains_ = false;
  std::map<std::array<std::string, 4>, size_t> numbers_;
  std::vector<NodeTime> nodes_;
  std::vector<std::vector<double>> times_;  // of each node, in each run
  std::vector<int64_t> first_;              // when each node ran first
  std::vector<double> sums_;                // of all nodes, in each run
  std::vector<Event> events_;               // of the run under way
  KernelEvents kernels_;
};

}  // namespace

TimeReport read_profile(const std::string& path, int skipped) {
  std::ifstream file(path, std::ios::binary);
  if (!file) fail("cannot read the profile ", path, ": ", std::strerror(errno));
  ProfileReader reader(skipped);
  try {
    // Events are taken as they are read, since all of them may need much memory.
    auto take = [&](int depth, Json::parse_event_t what, Json& parsed) {
      if (depth != 1 || what != Json::parse_event_t::object_end) return true;
      reader.add(parsed);
      return false;
    };
    std::ignore = Json::parse(file, take);
  } catch (const Json::exception& error) {
    fail("the library's profile cannot be read: ", error.what());
  }
  return reader.report();
}

}  // namespace ortolan::tools
