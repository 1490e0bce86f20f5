// No operator that packs its constants is left out of operator_cases(): which do is read from the sources.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>

#include "operator_cases.h"

namespace ortolan::across {
namespace {
namespace fs = std::filesystem;

/** Operators of files that pack constants for others, "domain:name". */
const std::set<std::string> kReadElements{
    ":GatherElements",         // beside Gather
    ":GatherND",               // likewise
    "com.microsoft:GatherND",  // likewise
    "com.microsoft:MatMulInteger16",
    "com.microsoft:AttnLSTM",  // packs in each run
    "ortolan:Activation",
};

std::string text_of(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

/** The provider's sources, and which of them pack constants or include what does. */
class Sources {
 public:
  Sources() {
    for (const auto& entry : fs::recursive_directory_iterator(root_ / "cpu")) {
      const std::string name = fs::relative(entry.path(), root_).string();
      const bool is_source = name.ends_with(".h") || name.ends_with(".cc");
      if (is_source && !name.starts_with("cpu/kernels/")) texts_[name] = text_of(entry.path());
    }
    for (const auto& [name, text] : texts_) {
      if (says_so(text)) packing_.insert(name);
    }
    for (size_t before = 0; before != packing_.size();) {
      before = packing_.size();
      for (const auto& [name, text] : texts_) {
        if (depends(name, text)) packing_.insert(name);
      }
    }
  }

  /** Of the rows in such sources. */
  std::set<std::string> operators() const {
    static const std::regex row("\\{\\s*\"([a-z.]*)\",\\s*\"(\\w+)\",\\s*\\d");
    std::set<std::string> found;
    for (const std::string& name : packing_) {
      const std::string& text = texts_.at(name);
      for (std::sregex_iterator at(text.begin(), text.end(), row), end; at != end; ++at) {
        found.insert((*at)[1].str() + ":" + (*at)[2].str());
      }
    }
    return found;
  }

 private:
  static bool says_so(const std::string& text) {
    for (const char* word : {"pack_once(", "packed_weights()", "weights_input(", "constant_use("}) {
      if (text.find(word) != std::string::npos) return true;
    }
    return false;
  }
  /** Whether it includes one of them, or is a header whose source is one. */
  bool depends(const std::string& name, const std::string& text) const {
    if (name.ends_with(".h") && packing_.contains(name.substr(0, name.size() - 1) + "cc")) return true;
    static const std::regex include("#include \"(cpu/[a-z0-9_/]*\\.h)\"");
    for (std::sregex_iterator at(text.begin(), text.end(), include), end; at != end; ++at) {
      if (packing_.contains((*at)[1].str())) return true;
    }
    return false;
  }

  const fs::path root_ = fs::path(ORTOLAN_SOURCE_DIR) / "providers";
  std::map<std::string, std::string> texts_;  // by path below providers
  std::set<std::string> packing_;
};

TEST(OperatorCases, AreOfAllOperatorsThatPack) {
  std::set<std::string> tested;
  for (const OperatorCase& node : operator_cases()) tested.insert(node.domain + ":" + node.op);
  const std::set<std::string> found = Sources().operators();
  for (const std::string& op : found) {
    EXPECT_NE(tested.contains(op), kReadElements.contains(op)) << op << ": add a case, or say why it needs none";
  }
  for (const std::string& op : tested) EXPECT_TRUE(found.contains(op)) << op << " packs nothing any more";
  for (const std::string& op : kReadElements) EXPECT_TRUE(found.contains(op)) << op << " is in no such file any more";
  std::printf("%zu operators pack constants, in %zu cases\n", tested.size(), operator_cases().size());
}

}  // namespace
}  // namespace ortolan::across
