// onnx_test_runner: runs ONNX test data through a library and says which cases give the expected results.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <thread>

#include "common/child_process.h"
#include "common/files.h"
#include "common/options.h"
#include "common/terminal.h"
#include "ignore_list.h"
#include "report.h"

namespace ortolan::tools {
namespace {

struct Settings {
  RunSettings run;
  int jobs = 1;
  std::string only;  // one case's name
  std::string ignore_path, json_path, library_path;
  double timeout = 120;
  bool isolate = false, verbose = false, json = false;
  double relative = -1, absolute = -1;
};

CommandLine command_line(Settings& s) {
  SessionConfig& session = s.run.session;
  return {
      "onnx_test_runner [OPTION...] FOLDER...",
      "Runs every case below the folders (model.onnx with test_data_set_N/{input,output}_K.pb) and compares.",
      {{'j', "jobs", "N", "models at the same time (default 1)", into(s.jobs, "-j")},
       {'c', "concurrent", "N", "runs at the same time in one session", into(s.run.concurrent, "-c")},
       {'r', "repeat", "N", "runs of each data set", into(s.run.repeats, "-r")},
       {'n', "name", "NAME", "this case only", into(s.only)},
       {'e', "provider", "NAME", "execution provider (default cpu); again for more, in order", into(session.providers)},
       {0, "plugin", "'NAME|PATH ...'", "register provider libraries", into(session.plugins)},
       {'x', "parallel", nullptr, "operators may run side by side", turn(session.parallel)},
       {'o', "level", "N", "optimisation level: 0, 1, 2, 3 or 99 (default 99)", into(session.level, "-o")},
       {'A', "no-arena", nullptr, "no memory arena", turn(session.arena, false)},
       {'M', "no-pattern", nullptr, "no memory pattern", turn(session.memory_pattern, false)},
       {'d', "device", "N", "device number for the provider",
        [&session](const std::string& text) { session.provider_options.emplace_back("device_id", text); }},
       {'C', "config", "'K|V K|V'", "session config entries", pairs_into(session.entries, "-C")},
       {'t', "threads", "N", "threads inside an operator", into(session.threads, "--threads")},
       {'i', "isolate", nullptr, "each case in a process of its own", turn(s.isolate)},
       {0, "timeout", "SECONDS", "longest time of a case with --isolate (default 120)", into(s.timeout, "--timeout")},
       {0, "ignore", "FILE", "known failures, one 'name, reason' a line", into(s.ignore_path)},
       {0, "rtol", "X", "relative tolerance (default 1e-3, or tol.txt)", into(s.relative, "--rtol")},
       {0, "atol", "X", "absolute tolerance (default 1e-5, or tol.txt)", into(s.absolute, "--atol")},
       {0, "json", nullptr, "print the result as JSON", turn(s.json)},
       {0, "json-file", "FILE", "write the result as JSON beside the printed one", into(s.json_path)},
       {0, "library", "PATH", "use this library instead of the linked one", into(s.library_path)},
       {'v', "verbose", nullptr, "list every case", turn(s.verbose)}}};
}

CaseResult run_isolated(const Library& library, const TestCase& test, const Settings& settings) {
  auto work = [&] {
    auto environment = environment_for(library, settings.run.session);
    return to_line(run_case(library, environment.get(), test, settings.run));
  };
  ChildResult child = run_in_child(work, settings.timeout);
  CaseResult result;
  switch (child.end) {
    case ChildResult::End::kDone:
      result = from_line(child.text);
      break;
    case ChildResult::End::kTimedOut:
      result = {"", Outcome::kTimedOut, child.text};
      break;
    case ChildResult::End::kCrashed:
      result = {"", Outcome::kCrashed, child.text};
      break;
    case ChildResult::End::kFailed:
      result = {"", Outcome::kBadData, child.text};
      break;
  }
  result.name = test.name;
  return result;
}

std::vector<TestCase> collect_cases(const std::vector<std::string>& roots, const Settings& settings) {
  if (roots.empty()) fail_usage("give a folder of test cases");
  std::vector<TestCase> cases;
  for (const std::string& root : roots) {
    for (TestCase& test : find_cases(root)) {
      if (!settings.only.empty() && test.name != settings.only) continue;
      if (settings.relative >= 0) test.tolerance.relative = settings.relative;
      if (settings.absolute >= 0) test.tolerance.absolute = settings.absolute;
      cases.push_back(std::move(test));
    }
  }
  if (cases.empty()) fail("no test cases found; a case is a folder with a model and a folder test_data_set_0");
  return cases;
}

std::vector<CaseResult> run_all(const Library& library, const std::vector<TestCase>& cases, const Settings& settings) {
  // With --isolate the library starts in the children only: its threads would not survive a fork.
  Handle<OrtEnv> environment(nullptr, library->ReleaseEnv);
  if (!settings.isolate) environment = environment_for(library, settings.run.session);
  IgnoreList ignored = settings.ignore_path.empty() ? IgnoreList() : IgnoreList(settings.ignore_path);
  std::vector<CaseResult> results(cases.size());
  std::atomic<size_t> next{0};
  Progress progress(cases.size());
  auto work = [&] {
    for (size_t i; (i = next++) < cases.size();) {
      results[i] = settings.isolate ? run_isolated(library, cases[i], settings)
                                    : run_case(library, environment.get(), cases[i], settings.run);
      ignored.apply(results[i]);
      progress.step(cases[i].name);
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < settings.jobs; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return results;
}

int run(int argc, char** argv) {
  Settings settings;
  std::vector<std::string> roots = parse(argc, argv, command_line(settings));
  if (settings.run.concurrent < 1 || settings.run.repeats < 1) fail_usage("-c and -r must be 1 or more");
  Library library = choose_library(settings.library_path);
  std::vector<TestCase> cases = collect_cases(roots, settings);
  std::vector<CaseResult> results = run_all(library, cases, settings);
  std::string json = json_report(results, library);
  if (!settings.json_path.empty()) write_file(settings.json_path, json);
  std::fputs((settings.json ? json : text_report(results, settings.verbose)).c_str(), stdout);
  return std::any_of(results.begin(), results.end(), [](const CaseResult& r) { return is_failure(r.outcome); });
}

}  // namespace
}  // namespace ortolan::tools

int main(int argc, char** argv) {
  return ortolan::tools::run_program("onnx_test_runner", [&] { return ortolan::tools::run(argc, argv); });
}
