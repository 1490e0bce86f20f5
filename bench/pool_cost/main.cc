// pool_cost: what the thread pool adds to a loop: until the caller begins its own part, and until it is back.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/threads/processor_count.h"
#include "base/threads/thread_pool.h"
#include "common/error.h"
#include "common/files.h"
#include "common/options.h"
#include "common/terminal.h"

namespace ortolan::bench {
namespace {

using Clock = std::chrono::steady_clock;
using tools::fixed;

struct Settings {
  std::string threads = "2,4,16,64", tasks = "0,5,20,50";
  int loops = 1000;
};

/** Work that takes so long on a processor that nobody else uses, however often it is kept waiting. */
class Work {
 public:
  explicit Work(double microseconds) : steps_(int64_t(microseconds * steps_in_a_microsecond())) {}

  void operator()() const { take(steps_); }

 private:
  static void take(int64_t steps) {
    for (int64_t i = 0; i < steps; ++i) asm volatile("" ::: "memory");
  }
  static double steps_in_a_microsecond() {
    constexpr int64_t kSteps = 1'000'000;
    double best = 0;
    for (int i = 0; i < 10; ++i) {
      const auto start = Clock::now();
      take(kSteps);
      best = std::max(best, double(kSteps) / std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    }
    return best;
  }

  int64_t steps_;
};

/** Microseconds of many loops, each kind in order of size. */
struct Times {
  std::vector<double> whole, entry, exit;

  void sort() {
    for (auto* kind : {&whole, &entry, &exit}) std::sort(kind->begin(), kind->end());
  }
};

/** One loop of `count` tasks: entry lasts until the calling thread begins a task, exit from the end of the last task. A
    loop in which the caller comes too late for any task has only entry. */
void time_loop(base::ThreadPool& pool, int count, const Work& work, Times& times) {
  using Nanoseconds = std::chrono::nanoseconds;
  const std::thread::id caller = std::this_thread::get_id();
  std::optional<Clock::time_point> begun;
  std::atomic<int64_t> last{0};
  const auto start = Clock::now();
  pool.parallel_for(count, 1, [&](int64_t begin, int64_t end) {
    if (std::this_thread::get_id() == caller && !begun) begun = Clock::now();
    for (int64_t i = begin; i < end; ++i) work();
    const int64_t now = Nanoseconds(Clock::now() - start).count();
    for (int64_t known = last; known < now && !last.compare_exchange_weak(known, now);) continue;
  });
  const auto back = Clock::now();
  auto microseconds = [](auto duration) { return std::chrono::duration<double, std::micro>(duration).count(); };
  times.whole.push_back(microseconds(back - start));
  times.entry.push_back(microseconds(begun.value_or(back) - start));
  if (begun) times.exit.push_back(microseconds(back - start - Nanoseconds(last)));
}

Times time_loops(int threads, bool asleep, double task, int loops) {
  constexpr int kWarming = 20;
  constexpr std::chrono::milliseconds kFallAsleep{1};
  base::ThreadPool::Options options;
  options.threads = threads;
  options.allow_spinning = !asleep;
  base::ThreadPool pool(options);
  const Work work(task);
  Times times;
  for (int i = -kWarming; i < loops; ++i) {
    if (i == 0) times = {};
    if (asleep) std::this_thread::sleep_for(kFallAsleep);
    time_loop(pool, pool.degree(), work, times);
  }
  times.sort();
  return times;
}

std::string at(const std::vector<double>& sorted, double share) {
  return sorted.empty() ? "-" : fixed(sorted[size_t(share * double(sorted.size() - 1))], 2);
}

std::vector<double> read_numbers(const std::string& list, const char* what) {
  std::vector<double> numbers;
  for (const std::string& item : tools::split(list, ',')) numbers.push_back(tools::parse_number(item, what));
  return numbers;
}

int run(int argc, char** argv) {
  Settings settings;
  const std::vector<std::string> rest = tools::parse(
      argc, argv,
      {"pool_cost [OPTION...]",
       "Loops of as many tasks as there are threads, in microseconds: the whole loop; entry, until the caller begins "
       "its\n"
       "first task; exit, from the end of the last task until the caller is back. Workers look for work (awake) or\n"
       "have to be woken (asleep). Pools are as wide as asked for, on whatever number of processors: with more "
       "threads\n"
       "than processors the tasks of a loop wait for each other, and only entry says what it would elsewhere.",
       {{0, "threads", "LIST", "threads, the caller among them (default 2,4,16,64)", tools::into(settings.threads)},
        {0, "tasks", "LIST", "microseconds of a task (default 0,5,20,50)", tools::into(settings.tasks)},
        {0, "loops", "N", "loops of each kind (default 1000)", tools::into(settings.loops, "--loops")}}});
  if (!rest.empty() || settings.loops < 1) tools::fail_usage("give options only, and one loop or more");
  tools::Table table({">threads", "workers", ">task", ">loop", ">90%", ">entry", ">90%", ">99%", ">exit", ">90%"});
  for (double threads : read_numbers(settings.threads, "--threads")) {
    const base::PretendedProcessors wide{int(threads)};
    for (bool asleep : {false, true}) {
      for (double task : read_numbers(settings.tasks, "--tasks")) {
        const Times times = time_loops(int(threads), asleep, task, settings.loops);
        table.add({fixed(threads, 0), asleep ? "asleep" : "awake", fixed(task, 0), at(times.whole, 0.5),
                   at(times.whole, 0.9), at(times.entry, 0.5), at(times.entry, 0.9), at(times.entry, 0.99),
                   at(times.exit, 0.5), at(times.exit, 0.9)});
      }
    }
  }
  std::fputs(table.text().c_str(), stdout);
  return 0;
}

}  // namespace
}  // namespace ortolan::bench

int main(int argc, char** argv) {
  return ortolan::tools::run_program("pool_cost", [&] { return ortolan::bench::run(argc, argv); });
}
