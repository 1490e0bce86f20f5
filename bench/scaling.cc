// scaling: one point of the curves over threads and callers: a model in one library, run by several callers at once.
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <latch>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/options.h"
#include "model.h"

namespace ortolan::bench {
namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct Point {
  int threads = 1, callers = 1, level = 99, runs = 0;
  double seconds = 1;
  bool many = false;  // sessions: one for each caller
  tools::RandomRules rules;
};

// The first runs with new shapes make plans that later ones use, and memory for as many runs at once.
constexpr int kWarmingRuns = 2;

struct Figures {
  double seconds = 0, cpu_seconds = 0;
  std::vector<double> times;  // of runs, milliseconds
};

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/** Of all threads of this process, in the system too. */
double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) / 1e6; };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/** A thread's calls of a session, one after the other. */
class Caller {
 public:
  Caller(tools::Session& session, const std::vector<tools::Handle<OrtValue>>& inputs)
      : run_(session, tools::pointers(inputs)) {}

  /** `runs` runs, or, where that is 0, at least one and none that would begin after `seconds`. */
  void call(int runs, double seconds) noexcept try {
    times_.clear();
    const auto start = Clock::now();
    do {
      times_.push_back(run_());
    } while (runs > 0 ? int(times_.size()) < runs : seconds_since(start) < seconds);
  } catch (const std::exception& failure) {
    error_ = failure.what();
  }

  const std::vector<double>& times() const { return times_; }
  const std::string& error() const { return error_; }

 private:
  tools::PreparedRun run_;
  std::vector<double> times_;
  std::string error_;
};

/** All callers begin together, and what is measured ends with the last run. */
Figures call_all(std::vector<std::unique_ptr<Caller>>& callers, int runs, double seconds) {
  std::latch ready(std::ptrdiff_t(callers.size()) + 1);
  std::vector<std::thread> threads;
  for (auto& caller : callers) {
    threads.emplace_back([&, one = caller.get()] {
      ready.arrive_and_wait();
      one->call(runs, seconds);
    });
  }
  Figures figures;
  const double cpu_before = cpu_seconds();
  const auto start = Clock::now();
  ready.arrive_and_wait();
  for (std::thread& thread : threads) thread.join();
  figures.seconds = seconds_since(start);
  figures.cpu_seconds = cpu_seconds() - cpu_before;
  for (const auto& caller : callers) {
    if (!caller->error().empty()) tools::fail(caller->error());
    figures.times.insert(figures.times.end(), caller->times().begin(), caller->times().end());
  }
  return figures;
}

/** The smallest of the sorted numbers that a `share` of them does not exceed. */
double percentile(const std::vector<double>& sorted, double share) {
  const auto rank = size_t(std::ceil(share * double(sorted.size())));
  return sorted[std::clamp<size_t>(rank, 1, sorted.size()) - 1];
}

Json to_json(Figures figures) {
  std::vector<double>& times = figures.times;
  std::sort(times.begin(), times.end());
  const double runs = double(times.size());
  double sum = 0;
  for (double time : times) sum += time;
  return {{"runs", times.size()},
          {"per_second", runs / figures.seconds},
          {"mean_ms", sum / runs},
          {"p50_ms", percentile(times, 0.5)},
          {"p90_ms", percentile(times, 0.9)},
          {"p99_ms", percentile(times, 0.99)},
          {"cpu_ms", figures.cpu_seconds * 1000 / runs}};
}

/** Type and shape of each input, so that programs of other runtimes can do the same. */
Json inputs_of(const tools::DataSet& data, const tools::Session& session) {
  Json inputs = Json::array();
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    inputs.push_back({{"name", session.inputs()[i].name},
                      {"type", tools::traits(data.inputs[i].type).name},
                      {"shape", data.inputs[i].shape}});
  }
  return inputs;
}

Json measure(const std::string& path, const Model& model, const Point& point) {
  const tools::Library library = tools::open_library(path);
  const tools::SessionConfig config = session_config({path, ""}, point.threads, point.level);
  auto environment = environment_for(library, config);
  std::vector<std::unique_ptr<tools::Session>> sessions;
  for (int i = 0; i < (point.many ? point.callers : 1); ++i) {
    sessions.push_back(std::make_unique<tools::Session>(library, environment.get(), model.path, config));
  }
  const tools::DataSet data = make_data(*sessions.front(), model);
  const auto inputs = make_inputs(*sessions.front(), environment.get(), data);
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < point.callers; ++i) {
    callers.push_back(std::make_unique<Caller>(*sessions[size_t(i) % sessions.size()], inputs));
  }
  call_all(callers, kWarmingRuns, 0);
  Json line = to_json(call_all(callers, point.runs, point.seconds));
  line["inputs"] = inputs_of(data, *sessions.front());
  return line;
}

tools::CommandLine command_line(Point& point) {
  return {
      "scaling [OPTION...] LIBRARY MODEL",
      "Runs a model from several threads at once, and prints a line of JSON: runs, runs a second, mean, median, 90th\n"
      "and 99th percentile of a run in ms, and the processor's time a run in ms. MODEL@name=size,... sets symbolic\n"
      "dimensions.",
      {{0, "threads", "N", "threads of a session (default 1)", tools::into(point.threads, "--threads")},
       {0, "callers", "N", "threads that call it (default 1)", tools::into(point.callers, "--callers")},
       {0, "many", nullptr, "a session for each caller, not one for all", tools::turn(point.many)},
       {0, "seconds", "X", "begin no run after so long (default 1)", tools::into(point.seconds, "--seconds")},
       {0, "runs", "N", "so many runs of each caller, however long they take", tools::into(point.runs, "--runs")},
       {0, "level", "N", "optimisation level (default 99)", tools::into(point.level, "--level")}}};
}

int run(int argc, char** argv) {
  Point point;
  const std::vector<std::string> rest = parse(argc, argv, command_line(point));
  if (rest.size() != 2) tools::fail_usage("give a library and a model");
  if (point.threads < 1) tools::fail_usage("--threads: ", point.threads, " is no number of threads");
  if (point.callers < 1) tools::fail_usage("--callers: ", point.callers, " is no number of callers");
  std::puts(measure(rest[0], read_model(rest[1], point.rules), point).dump().c_str());
  return 0;
}

}  // namespace
}  // namespace ortolan::bench

int main(int argc, char** argv) {
  return ortolan::tools::run_program("scaling", [&] { return ortolan::bench::run(argc, argv); });
}
