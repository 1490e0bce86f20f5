// Finding test cases below a folder.
#include <algorithm>
#include <filesystem>

#include "common/data_set.h"
#include "test_case.h"

namespace ortolan::tools {
namespace {

namespace fs = std::filesystem;

// Puts test_data_set_10 after test_data_set_9.
bool by_number(const std::string& a, const std::string& b) {
  return a.size() != b.size() ? a.size() < b.size() : a < b;
}

Tolerance tolerance_of(const fs::path& folder) {
  Tolerance tolerance;
  std::string name = folder.filename();
  if (name.find("_dft") != std::string::npos) tolerance.absolute = 1e-3;
  if (name.find("_stft") != std::string::npos) tolerance.absolute = 1e-4;
  return stated_tolerance(folder).value_or(tolerance);
}

// A case if the folder holds one model and data sets; the model's name is empty otherwise.
TestCase read_case(const fs::path& folder) {
  TestCase test;
  test.name = folder.filename();
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::string name = entry.path().filename();
    if (entry.path().extension() == ".onnx" && (test.model.empty() || name == "model.onnx")) test.model = entry.path();
    if (name.starts_with("test_data_set_") && entry.is_directory()) test.data_sets.push_back(entry.path());
  }
  if (test.data_sets.empty()) test.model.clear();
  std::sort(test.data_sets.begin(), test.data_sets.end(), by_number);
  return test;
}

void collect(const fs::path& folder, std::vector<TestCase>& cases) {
  TestCase test = read_case(folder);
  if (!test.model.empty()) {
    test.tolerance = tolerance_of(folder);
    cases.push_back(std::move(test));
    return;
  }
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.is_directory()) collect(entry.path(), cases);
  }
}

}  // namespace

std::vector<TestCase> find_cases(const std::string& root) {
  fs::path folder = fs::path(root).lexically_normal();
  if (!folder.has_filename()) folder = folder.parent_path();  // "data/" is "data"
  if (!fs::is_directory(folder)) fail(root, " is no folder; give one that holds cases: model.onnx and test_data_set_0");
  std::vector<TestCase> cases;
  collect(folder, cases);
  std::sort(cases.begin(), cases.end(), [](const TestCase& a, const TestCase& b) { return a.name < b.name; });
  return cases;
}

}  // namespace ortolan::tools
