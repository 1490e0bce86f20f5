// Running a model under a profile, and the sums of its nodes' times.
#include "time_report.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "common/error.h"
#include "common/temporary_folder.h"

namespace ortolan::tools {
namespace {

namespace fs = std::filesystem;

constexpr int kWarmRuns = 2, kFewestRuns = 5, kMostRuns = 500;
constexpr double kSeconds = 2;

// Microseconds of each run: `count` of them, or as many as fit the time.
std::vector<double> repeat(PreparedRun& run, int count) {
  std::vector<double> times;
  double sum = 0;
  auto wanted = [&] {
    int done = int(times.size());
    if (count > 0) return done < count;
    return done < kFewestRuns || (sum < kSeconds * 1e6 && done < kMostRuns);
  };
  while (wanted()) {
    times.push_back(run() * 1000);
    sum += times.back();
  }
  return times;
}

std::string library_name(const Library& library) {
  return (library.build.starts_with("Ortolan") ? "Ortolan " : "ONNX Runtime ") + library.version;
}

}  // namespace

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : (values[values.size() / 2] + values[(values.size() - 1) / 2]) / 2;
}

RunTime& RunTime::operator+=(const RunTime& other) {
  us += other.us;
  calls += other.calls;
  if (other.flops) flops = flops.value_or(0) + *other.flops;
  if (other.bytes) bytes = bytes.value_or(0) + *other.bytes;
  return *this;
}

RunTime TimeReport::total() const {
  RunTime sum;
  for (const NodeTime& node : nodes) sum += node.time;
  return sum;
}

double TimeReport::share(const RunTime& time) const {
  double all = total().us;
  return all > 0 ? time.us / all : 0;
}

std::vector<std::string> TimeReport::device_providers() const {
  std::set<std::string> names;
  for (const NodeTime& node : nodes) {
    if (node.provider != "CPU") names.insert(node.provider);
  }
  return {names.begin(), names.end()};
}

std::vector<std::string> TimeReport::silent_providers() const {
  std::vector<std::string> silent = device_providers();
  std::erase_if(silent, [this](const std::string& name) {
    // An event without a provider may be anybody's.
    auto is_of = [&](const KernelTime& kernel) { return kernel.provider.empty() || kernel.provider == name; };
    return std::any_of(device.kernels.begin(), device.kernels.end(), is_of);
  });
  return silent;
}

std::vector<const NodeTime*> TimeReport::by_time() const {
  std::vector<const NodeTime*> sorted;
  for (const NodeTime& node : nodes) sorted.push_back(&node);
  std::stable_sort(sorted.begin(), sorted.end(), [](auto* a, auto* b) { return a->time.us > b->time.us; });
  return sorted;
}

std::vector<OperatorTime> TimeReport::operators() const {
  std::map<std::string, OperatorTime> sums;
  for (const NodeTime& node : nodes) {
    OperatorTime& sum = sums[node.type];
    sum.type = node.type;
    ++sum.nodes;
    sum.time += node.time;
  }
  std::vector<OperatorTime> sorted;
  for (auto& [type, sum] : sums) sorted.push_back(std::move(sum));
  std::stable_sort(sorted.begin(), sorted.end(), [](auto& a, auto& b) { return a.time.us > b.time.us; });
  return sorted;
}

TimeReport measure_times(const Library& library, OrtEnv* environment, const std::string& model, SessionConfig config,
                         const std::function<DataSet(const Session&)>& inputs, int runs) {
  TemporaryFolder folder;
  config.profile_prefix = (folder.path() / "profile").string();
  Session session(library, environment, model, config);
  auto values = make_inputs(session, environment, inputs(session));
  PreparedRun run(session, pointers(values));
  repeat(run, kWarmRuns);
  std::vector<double> profiled = repeat(run, runs);
  std::string profile = session.end_profiling();
  repeat(run, kWarmRuns);
  std::vector<double> free = repeat(run, int(profiled.size()));
  TimeReport report = read_profile(profile, kWarmRuns);
  if (report.runs != int(profiled.size())) {
    fail("the library's profile holds ", report.runs, " runs of ", profiled.size(), "; give fewer with --runs");
  }
  report.run_us = median(profiled);
  report.free_us = median(free);
  report.model = fs::path(model).filename().string();
  report.library = library_name(library);
  return report;
}

}  // namespace ortolan::tools
