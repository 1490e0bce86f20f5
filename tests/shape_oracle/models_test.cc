// Every model of ONNX's test data: what is inferred when it is loaded agrees with libonnx and with the expected
// outputs.
#include <gtest/gtest.h>
#include <sstream>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "known_type.h"

namespace shape_oracle {
namespace {

namespace fs = std::filesystem;

struct Case {
  fs::path model, data;
  std::string name() const { return model.parent_path().filename(); }
};

/** The cases of Debian's libonnx-testdata, and those below the folders that ORTOLAN_CASES lists, parted by colons. */
std::vector<Case> find_cases() {
  std::vector<fs::path> roots{"/usr/share/libonnx-testdata/data"};
  std::stringstream more(std::getenv("ORTOLAN_CASES") ? std::getenv("ORTOLAN_CASES") : "");
  for (std::string folder; std::getline(more, folder, ':');) roots.push_back(folder);
  std::vector<Case> cases;
  for (const fs::path& root : roots) {
    if (!fs::exists(root)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      if (entry.path().extension() == ".onnx")
        cases.push_back({entry.path(), entry.path().parent_path() / "test_data_set_0"});
    }
  }
  return cases;
}

/** Names of cases where libonnx is wrong; a line is "name, reason". */
std::set<std::string> ignored_names() {
  std::set<std::string> names;
  std::ifstream file(SHAPE_ORACLE_IGNORED);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    size_t comma = line.find(", ");
    EXPECT_NE(comma, std::string::npos) << "'" << line << "' gives no reason; write: name, reason";
    names.insert(line.substr(0, comma));
  }
  return names;
}

struct Counts {
  int models = 0, variants = 0, compared = 0, known_to_both = 0, known_to_libonnx_only = 0;
};

void expect_agreement(const std::string& bytes, const std::string& what, bool with_libonnx, Counts& counts) {
  Inferred ours = infer_by_us(bytes);
  ++counts.variants;
  if (ours.error.find("' is unknown;") != std::string::npos) return;  // an operator that is not here
  EXPECT_EQ(ours.error, "") << what;
  if (!with_libonnx || !ours.error.empty()) return;
  Inferred theirs = infer_by_libonnx(bytes, false);
  if (!theirs.error.empty()) return;
  ++counts.compared;
  EXPECT_EQ(contradiction(theirs.values, ours.values), "") << what;
  Knowledge knowledge = compare_knowledge(theirs.values, ours.values);
  counts.known_to_both += knowledge.both;
  counts.known_to_libonnx_only += knowledge.only_first;
  if (knowledge.only_first && std::getenv("ORTOLAN_SHOW_UNKNOWN"))
    std::cout << what << ": " << knowledge.example << "\n";
}

void check_case(const Case& one, bool ignored, Counts& counts) {
  ModelVariants model(one.model, one.data);
  Inferred ours = infer_by_us(model.bytes(true, false));
  EXPECT_EQ(contradiction(model.expected_outputs(), ours.values), "") << one.model << " against its expected outputs";
  ours = infer_by_us(model.bytes(true, true));
  EXPECT_EQ(contradiction(model.expected_outputs(), ours.values), "") << one.model << ", symbolic, against its outputs";
  bool with_libonnx = !ignored && libonnx_knows(model.bytes(false, false));
  if (with_libonnx) model.lower_versions();
  for (bool constants : {false, true}) {
    for (bool symbolic : {false, true}) {
      std::string what = one.model.string() + (constants ? ", constants" : "") + (symbolic ? ", symbolic" : "");
      expect_agreement(model.bytes(constants, symbolic), what, with_libonnx, counts);
    }
  }
  ++counts.models;
}

TEST(Models, InferAsLibonnxDoes) {
  std::vector<Case> cases = find_cases();
  if (cases.empty()) GTEST_SKIP() << "there is no test data; ./dev setup installs libonnx-testdata";
  std::set<std::string> ignored = ignored_names();
  Counts counts;
  for (const Case& one : cases) check_case(one, ignored.count(one.name()) > 0, counts);
  std::cout << counts.models << " models in " << counts.variants << " variants, " << counts.compared
            << " of them compared with libonnx; " << counts.known_to_both << " dimensions known to both, "
            << counts.known_to_libonnx_only << " to libonnx only\n";
}

}  // namespace
}  // namespace shape_oracle
