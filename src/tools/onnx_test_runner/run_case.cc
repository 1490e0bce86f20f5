// Running one test case in a library and comparing its outputs.
#include <filesystem>
#include <thread>

#include "common/data_set.h"
#include "test_case.h"

namespace ortolan::tools {
namespace {

namespace fs = std::filesystem;

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// Empty when the outputs are as expected.
std::string run_once(Session& session, const std::vector<const OrtValue*>& inputs, const DataSet& data,
                     const Tolerance& tolerance) {
  std::vector<Handle<OrtValue>> outputs = session.run(inputs);
  for (const auto& [port, expected] : data.expected) {
    Value actual = from_library(session.library(), outputs.at(port).get());
    std::string text = difference(expected, actual, tolerance);
    if (!text.empty()) return "output '" + session.outputs()[port].name + "' " + text;
  }
  return {};
}

// One thread's share of a data set: its own result, so that threads share nothing.
CaseResult run_repeatedly(Session& session, const std::vector<const OrtValue*>& inputs, const DataSet& data,
                          const Tolerance& tolerance, int repeats) {
  CaseResult result;
  try {
    for (int i = 0; i < repeats && result.outcome == Outcome::kPassed; ++i) {
      result.reason = run_once(session, inputs, data, tolerance);
      if (!result.reason.empty()) result.outcome = Outcome::kWrongResult;
    }
  } catch (const StatusError& error) {
    result.outcome = error.code() == ORT_NOT_IMPLEMENTED ? Outcome::kNotImplemented : Outcome::kRunFailed;
    result.reason = one_line(error.what());
  } catch (const std::exception& error) {
    result.outcome = Outcome::kBadData;
    result.reason = one_line(error.what());
  }
  return result;
}

CaseResult run_data_set(Session& session, const OrtEnv* environment, const std::string& folder,
                        const Tolerance& tolerance, const RunSettings& settings) {
  DataSet data = read_data_set(folder, session);
  std::vector<Handle<OrtValue>> owned = make_inputs(session, environment, data);
  std::vector<const OrtValue*> inputs = pointers(owned);
  std::vector<CaseResult> results(settings.concurrent);
  std::vector<std::thread> threads;
  auto work = [&](int i) { results[i] = run_repeatedly(session, inputs, data, tolerance, settings.repeats); };
  for (int i = 1; i < settings.concurrent; ++i) threads.emplace_back(work, i);
  work(0);
  for (std::thread& thread : threads) thread.join();
  for (const CaseResult& result : results) {
    if (result.outcome != Outcome::kPassed) return result;
  }
  return {};
}

}  // namespace

const char* outcome_name(Outcome outcome) {
  constexpr const char* kNames[kOutcomes] = {"passed",      "ignored",      "passes, but is ignored", "wrong result",
                                             "load failed", "run failed",   "not implemented",        "crashed",
                                             "timed out",   "bad test data"};
  return kNames[int(outcome)];
}

bool is_failure(Outcome outcome) { return outcome != Outcome::kPassed && outcome != Outcome::kIgnored; }

CaseResult run_case(const Library& library, OrtEnv* environment, const TestCase& test, const RunSettings& settings) {
  CaseResult result;
  try {
    result.outcome = Outcome::kLoadFailed;
    Session session(library, environment, test.model, settings.session);
    result.outcome = Outcome::kBadData;
    result.reason.clear();
    for (const std::string& folder : test.data_sets) {
      CaseResult one = run_data_set(session, environment, folder, test.tolerance, settings);
      if (one.outcome == Outcome::kPassed) continue;
      if (test.data_sets.size() > 1) one.reason = fs::path(folder).filename().string() + ": " + one.reason;
      one.name = test.name;
      return one;
    }
    result.outcome = Outcome::kPassed;
  } catch (const StatusError& error) {
    if (error.code() == ORT_NOT_IMPLEMENTED) result.outcome = Outcome::kNotImplemented;
    result.reason = one_line(error.what());
  } catch (const std::exception& error) {
    result.reason = one_line(error.what());
  }
  result.name = test.name;
  return result;
}

}  // namespace ortolan::tools
