// Measuring a model, and the report on it.
#include "measure_model.h"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "common/data_set.h"
#include "common/terminal.h"

namespace ortolan::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

DataSet make_data(const Session& session, const std::string& model, const PerfSettings& settings) {
  fs::path folder = fs::path(model).parent_path() / "test_data_set_0";
  if (!settings.made_up && fs::exists(folder)) return read_data_set(folder, session);
  if (!settings.made_up) fail("no ", folder.string(), " beside the model; add -I to make inputs up");
  return made_up_data(session, settings.rules);
}

// Runs of one thread, until the count of all threads or the time is used up.
class Runs {
 public:
  Runs(Session& session, const std::vector<const OrtValue*>& inputs, const PerfSettings& settings)
      : session_(session), inputs_(inputs), settings_(settings) {}

  std::vector<double> measure(Progress& progress) {
    start_ = Clock::now();
    std::vector<std::thread> threads;
    for (int i = 1; i < settings_.concurrent; ++i) threads.emplace_back([&] { work(progress); });
    work(progress);
    for (std::thread& thread : threads) thread.join();
    if (!error_.empty()) fail(error_);
    std::sort(times_.begin(), times_.end());
    return std::move(times_);
  }

 private:
  bool claim() {
    if (settings_.by_time) return seconds_since(start_) < settings_.seconds;
    return next_++ < settings_.repeats;
  }

  void work(Progress& progress) {
    std::vector<double> times;
    std::string error;
    try {
      PreparedRun run(session_, inputs_);
      while (claim()) {
        times.push_back(run());
        if (times.size() % 64 == 0) progress.show("run " + std::to_string(times.size()));
      }
    } catch (const std::exception& failure) {
      error = failure.what();
    }
    std::lock_guard lock(mutex_);
    times_.insert(times_.end(), times.begin(), times.end());
    if (!error.empty()) error_ = error;
  }

  Session& session_;
  const std::vector<const OrtValue*>& inputs_;
  const PerfSettings& settings_;
  Clock::time_point start_;
  std::atomic<int> next_{0};
  std::mutex mutex_;
  std::vector<double> times_;
  std::string error_;
};

}  // namespace

double PerfResult::average() const {
  return run_ms.empty() ? 0 : std::accumulate(run_ms.begin(), run_ms.end(), 0.0) / double(run_ms.size());
}

double PerfResult::percentile(double share) const {
  if (run_ms.empty()) return 0;
  return run_ms[std::min(run_ms.size() - 1, size_t(share * double(run_ms.size())))];
}

PerfResult measure_model(const Library& library, OrtEnv* environment, const std::string& model,
                         const PerfSettings& settings) {
  PerfResult result;
  auto start = Clock::now();
  Session session(library, environment, model, settings.session);
  result.create_ms = seconds_since(start) * 1000;
  if (settings.session_only) return result;
  auto inputs = make_inputs(session, environment, make_data(session, model, settings));
  auto raw = pointers(inputs);
  result.first_run_ms = PreparedRun(session, raw)();
  Progress progress(0);
  start = Clock::now();
  std::clock_t processor = std::clock();
  result.run_ms = Runs(session, raw, settings).measure(progress);
  result.total_seconds = seconds_since(start);
  result.processor_share = double(std::clock() - processor) / CLOCKS_PER_SEC / result.total_seconds;
  progress.clear();
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  result.peak_kilobytes = usage.ru_maxrss;
  if (!settings.session.profile_prefix.empty()) result.profile = session.end_profiling();
  return result;
}

std::string text_report(const PerfResult& result, const PerfSettings& settings) {
  std::string text = join("Session creation time cost: ", fixed(result.create_ms / 1000, 6), " s\n");
  if (settings.session_only) return text;
  size_t runs = result.run_ms.size();
  text += join("First inference time cost: ", fixed(result.first_run_ms, 3), " ms\n");
  text += join("Total inference time cost: ", fixed(result.average() * double(runs) / 1000, 6), " s\n");
  text += join("Total inference requests: ", runs, "\n");
  text += join("Average inference time cost: ", fixed(result.average(), 4), " ms\n");
  text += join("Total inference run time: ", fixed(result.total_seconds, 6), " s\n");
  text += join("Number of inferences per second: ", fixed(double(runs) / result.total_seconds, 2), "\n");
  int processors = int(std::max(1u, std::thread::hardware_concurrency()));
  text += join("Avg CPU usage: ", fixed(100 * result.processor_share / processors, 0), " %\n");
  text += join("Peak working set size: ", result.peak_kilobytes * 1024, " bytes\n");
  if (settings.statistics && runs) {
    text += join("Min Latency: ", fixed(result.run_ms.front(), 4), " ms\n");
    text += join("Max Latency: ", fixed(result.run_ms.back(), 4), " ms\n");
    constexpr std::pair<const char*, double> kShares[] = {
        {"P50", .5}, {"P90", .9}, {"P95", .95}, {"P99", .99}, {"P999", .999}};
    for (auto [name, share] : kShares) text += join(name, " Latency: ", fixed(result.percentile(share), 4), " ms\n");
  }
  if (!result.profile.empty()) text += join("Profile: ", result.profile, "\n");
  return text;
}

std::string json_report(const PerfResult& result) {
  nlohmann::ordered_json out = {{"session_creation_ms", result.create_ms},
                                {"first_run_ms", result.first_run_ms},
                                {"runs", result.run_ms.size()},
                                {"average_ms", result.average()},
                                {"p50_ms", result.percentile(.5)},
                                {"p90_ms", result.percentile(.9)},
                                {"p95_ms", result.percentile(.95)},
                                {"p99_ms", result.percentile(.99)},
                                {"total_seconds", result.total_seconds},
                                {"peak_bytes", result.peak_kilobytes * 1024}};
  if (!result.profile.empty()) out["profile"] = result.profile;
  return out.dump(1) + "\n";
}

std::string result_line(const PerfResult& result, const std::string& model, const std::vector<std::string>& providers) {
  std::string asked;
  for (const std::string& provider : providers) asked += (asked.empty() ? "" : "+") + provider;
  if (asked.empty()) asked = "cpu";
  std::string line = join(fs::path(model).filename().string(), ",", asked, ",", result.run_ms.size());
  for (double ms : {result.average(), result.percentile(.5), result.percentile(.9), result.percentile(.95),
                    result.percentile(.99), result.create_ms}) {
    line += "," + fixed(ms / 1000, 9);
  }
  return line + "\n";
}

}  // namespace ortolan::tools
