// Fresh processes for session creation, first run and peak memory; one process with both libraries for the runs.
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/child_process.h"
#include "neighbours.h"

namespace ortolan::bench {
namespace {

using tools::Library;
using tools::Session;
using Json = nlohmann::json;
using Clock = std::chrono::steady_clock;

double milliseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// One library with a session on the model and inputs for it.
struct Subject {
  Library library;
  tools::Handle<OrtEnv> environment;
  Session session;
  std::vector<tools::Handle<OrtValue>> inputs;
  std::optional<tools::PreparedRun> timed_run;

  Subject(const Side& side, const Model& model, const tools::SessionConfig& config)
      : library(tools::open_library(side.library)),
        environment(environment_for(library, config, ORT_LOGGING_LEVEL_ERROR)),
        session(library, environment.get(), model.path, config) {}

  void set_inputs(const tools::DataSet& data) {
    inputs = make_inputs(session, environment.get(), data);
    timed_run.emplace(session, tools::pointers(inputs));
  }
  std::vector<tools::Handle<OrtValue>> run() { return session.run(tools::pointers(inputs)); }
  double time() { return (*timed_run)(); }
};

std::string measure_start(const Side& side, const Model& model, int level) {
  Library library = tools::open_library(side.library);
  const tools::SessionConfig config = session_config(side, 0, level);
  auto environment = environment_for(library, config, ORT_LOGGING_LEVEL_ERROR);
  auto start = Clock::now();
  Session session(library, environment.get(), model.path, config);
  double create = milliseconds_since(start);
  auto inputs = make_inputs(session, environment.get(), make_data(session, model));
  tools::PreparedRun timed_run(session, tools::pointers(inputs));
  double first_run = timed_run();
  timed_run();
  return Json{{"create", create}, {"first_run", first_run}}.dump();
}

double median(std::vector<double> numbers) { return quartiles(std::move(numbers)).median; }

// The starts of both libraries, in turn.
void measure_starts(const Model& model, const Side (&sides)[2], const Effort& effort, Start* (&results)[2]) {
  std::vector<double> create[2], first[2], peak[2];
  for (int i = 0; i < effort.starts; ++i) {
    for (int side = 0; side < 2; ++side) {
      if (!results[side]->error.empty()) continue;
      auto child = tools::run_in_child([&] { return measure_start(sides[side], model, effort.level); }, effort.timeout);
      if (child.end != tools::ChildResult::End::kDone) {
        results[side]->error = child.text;
        continue;
      }
      Json times = Json::parse(child.text);
      create[side].push_back(times["create"]);
      first[side].push_back(times["first_run"]);
      peak[side].push_back(double(child.peak_kilobytes) * 1024);
    }
  }
  for (int side = 0; side < 2; ++side) {
    if (!results[side]->error.empty()) continue;
    results[side]->create = median(create[side]);
    results[side]->first_run = median(first[side]);
    results[side]->peak_bytes = median(peak[side]);
  }
}

tools::Distance output_distance(Subject& a, Subject& b) {
  auto outputs_a = a.run(), outputs_b = b.run();
  tools::Value all[2];
  for (tools::Value& value : all) value.kind = tools::Value::Kind::kSequence;
  for (const auto& value : outputs_a) all[0].items.push_back(from_library(a.library, value.get()));
  for (const auto& value : outputs_b) all[1].items.push_back(from_library(b.library, value.get()));
  return tools::distance(all[0], all[1]);
}

// The median of several runs, after one that only warms up, if runs are short.
double run_block(Subject& subject, double estimate, double target) {
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  constexpr double kLongRun = 60;
  if (estimate < kLongRun) subject.time();
  int count = std::clamp(int(target / std::max(estimate, 1e-3)), 1, 2000);
  std::vector<double> times(count);
  for (double& time : times) time = subject.time();
  return median(times);
}

Json measure_runs(const Model& model, const Side (&sides)[2], int threads, const Effort& effort) {
  Subject a(sides[0], model, session_config(sides[0], threads, effort.level)),
      b(sides[1], model, session_config(sides[1], threads, effort.level));
  tools::DataSet data = make_data(b.session, model);
  a.set_inputs(data);
  b.set_inputs(data);
  tools::Distance distance = output_distance(a, b);
  Neighbours neighbours(effort.neighbours);
  double estimate_a = a.time(), estimate_b = b.time();
  double target = effort.seconds * 1000 / effort.rounds;
  std::vector<double> times_a, times_b, ratios;
  for (int round = 0; round < effort.rounds; ++round) {
    // Who goes first alternates, so that drift of the machine's speed favours none.
    double time_b = round % 2 ? run_block(b, estimate_b, target) : 0;
    double time_a = run_block(a, estimate_a, target);
    if (round % 2 == 0) time_b = run_block(b, estimate_b, target);
    times_a.push_back(time_a);
    times_b.push_back(time_b);
    ratios.push_back(time_a / time_b);
  }
  Quartiles ratio = quartiles(ratios);
  return {{"a", median(times_a)},
          {"b", median(times_b)},
          {"ratio", {ratio.low, ratio.median, ratio.high}},
          {"absolute", distance.absolute},
          {"relative", distance.relative},
          {"mismatches", distance.mismatches},
          {"comparable", distance.comparable}};
}

void add_runs(const Json& measured, int threads, Comparison& result) {
  Runs runs;
  runs.threads = threads;
  runs.a = measured["a"];
  runs.b = measured["b"];
  runs.ratio = {measured["ratio"][0], measured["ratio"][1], measured["ratio"][2]};
  result.runs.push_back(runs);
  tools::Distance& total = result.distance;
  total.absolute = std::max(total.absolute, measured["absolute"].get<double>());
  total.relative = std::max(total.relative, measured["relative"].get<double>());
  total.mismatches = std::max(total.mismatches, measured["mismatches"].get<size_t>());
  total.comparable = total.comparable && measured["comparable"].get<bool>();
}

}  // namespace

Quartiles quartiles(std::vector<double> numbers) {
  if (numbers.empty()) return {};
  std::sort(numbers.begin(), numbers.end());
  auto at = [&](double share) {
    double place = share * double(numbers.size() - 1);
    size_t below = size_t(place);
    size_t above = std::min(below + 1, numbers.size() - 1);
    return numbers[below] + (place - double(below)) * (numbers[above] - numbers[below]);
  };
  return {at(0.25), at(0.5), at(0.75)};
}

Comparison compare(const Model& model, const Side& a, const Side& b, const std::vector<int>& threads,
                   const Effort& effort) {
  Comparison result;
  result.label = model.label;
  const Side sides[2] = {a, b};
  Start* starts[2] = {&result.a, &result.b};
  measure_starts(model, sides, effort, starts);
  if (!result.a.error.empty()) result.error = "A: " + result.a.error;
  if (!result.b.error.empty()) result.error += (result.error.empty() ? "B: " : "; B: ") + result.b.error;
  for (int count : threads) {
    if (!result.error.empty()) break;
    auto child = tools::run_in_child([&] { return measure_runs(model, sides, count, effort).dump(); }, effort.timeout);
    if (child.end == tools::ChildResult::End::kDone) {
      add_runs(Json::parse(child.text), count, result);
    } else {
      result.error = child.text;
    }
  }
  return result;
}

}  // namespace ortolan::bench
