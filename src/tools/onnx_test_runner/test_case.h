// One case of ONNX test data: a folder with a model and data sets; finding them, running them.
#pragma once

#include <string>
#include <vector>

#include "common/compare_values.h"
#include "common/session.h"

namespace ortolan::tools {

struct TestCase {
  std::string name;                    // the folder's name
  std::string model;                   // path
  std::vector<std::string> data_sets;  // folders, in order
  Tolerance tolerance;
};

// Every case at or below the folder, by name. The tolerance is that of the folder's tol.txt (relative, absolute, share
// of elements that may miss) where there is one.
std::vector<TestCase> find_cases(const std::string& root);

enum class Outcome {
  kPassed,
  kIgnored,
  kPassedIgnored,  // on the ignore list, yet passes: an error of the list
  kWrongResult,
  kLoadFailed,
  kRunFailed,
  kNotImplemented,
  kCrashed,
  kTimedOut,
  kBadData,  // the test data cannot be read or given to the library
};
constexpr int kOutcomes = 10;

struct CaseResult {
  std::string name;
  Outcome outcome = Outcome::kPassed;
  std::string reason;
};

const char* outcome_name(Outcome outcome);
bool is_failure(Outcome outcome);

// How a case is run.
struct RunSettings {
  SessionConfig session;
  int repeats = 1;     // of each data set
  int concurrent = 1;  // runs at the same time in one session
};

// Loads and runs every data set; never throws for what goes wrong in the case.
CaseResult run_case(const Library& library, OrtEnv* environment, const TestCase& test, const RunSettings& settings);

}  // namespace ortolan::tools
