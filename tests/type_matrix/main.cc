// type_matrix: runs every one-node case of ONNX's test data in each element type that the operator may have, and says
// for which the library refuses, fails or gives other results than in the case's own type.
#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

#include "common/child_process.h"
#include "common/data_set.h"
#include "common/files.h"
#include "common/options.h"
#include "common/terminal.h"
#include "one_node.h"

namespace ortolan::type_matrix {
namespace {

namespace fs = std::filesystem;

struct Settings {
  std::string only, probe, out, ignore, library_path;
  std::vector<std::string> roots;
};

/** How cases of one operator, type parameter and type went. */
struct Cell {
  enum Kind { kRight, kRuns, kWrong, kFailed, kRefused, kCrashed };
  static constexpr const char* kNames[] = {"right", "runs", "wrong", "failed", "refused", "crashed"};
  int counts[6] = {};
  std::string reason, test;  // of the worst

  void add(Kind kind, const std::string& text, const std::string& case_name) {
    bool worst = true;
    for (int k = kind; k < 6; ++k) worst &= counts[k] == 0;
    ++counts[kind];
    if (worst) reason = text, test = case_name;
  }
  bool works() const { return counts[kRight] || counts[kRuns]; }
  bool bad() const { return counts[kWrong] || counts[kFailed] || counts[kCrashed]; }
};

using Key = std::array<std::string, 4>;  // domain, operator, parameter, type
using Matrix = std::map<Key, Cell>;

/** No threads to start and end with each of many small sessions. */
const SessionConfig kConfig{.threads = 1};

bool is_random(const std::string& name) {
  static const std::set<std::string> names{"Bernoulli", "Dropout", "Multinomial", "RandomNormalLike",
                                           "RandomUniformLike"};
  return names.count(name) > 0;
}

/** One case in one process: sessions for other types, and the line that tells of each. */
class CaseRunner {
 public:
  CaseRunner(const Library& library, const fs::path& folder, const fs::path& scratch)
      : library_(library),
        folder_(folder),
        model_((folder / "model.onnx").string()),
        scratch_((scratch / folder.filename()).string() + ".onnx"),
        environment_(environment_for(library, {})) {}
  ~CaseRunner() { fs::remove(scratch_); }

  /** Lines of operator, parameter, type, kind, reason. */
  std::string lines() {
    std::string text;
    Session session(library_, environment_.get(), (folder_ / "model.onnx").string(), kConfig);
    data_ = read_data_set((folder_ / "test_data_set_0").string(), session);
    parameters_ = model_.parameters(library_);
    add_outputs(text, session);
    for (const Parameter& parameter : parameters_) {
      add_line(text, parameter.name, parameter.type, Cell::kRight, "");
      for (ElementType type : parameter.allowed) {
        if (type == parameter.type) continue;
        auto [kind, reason] = try_type(session, parameter, type);
        if (kind > Cell::kRuns && with_others(parameter, type).inputs.size() > parameter.inputs.size()) {
          auto [other_kind, other_reason] = try_type(session, with_others(parameter, type), type);
          if (other_kind < kind) kind = other_kind, reason = other_reason;
        }
        add_line(text, parameter.name, type, kind, reason);
      }
    }
    return text;
  }

 private:
  void add_line(std::string& text, const std::string& parameter, ElementType type, Cell::Kind kind,
                std::string reason) {
    std::replace_if(
        reason.begin(), reason.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
    text += join(model_.domain(), '\t', model_.name(), '\t', parameter, '\t', spec_name(type), '\t', int(kind), '\t',
                 reason, '\n');
  }

  /** The types of outputs whose parameter no input has, as the case has them. */
  void add_outputs(std::string& text, Session& session) {
    std::vector<std::string> names = model_.output_parameters(library_);
    std::vector<Value> outputs = run(session, data_);
    for (size_t i = 0; i < outputs.size(); ++i) {
      bool of_input =
          std::any_of(parameters_.begin(), parameters_.end(), [&](const auto& p) { return p.name == names[i]; });
      if (of_input || names[i].empty() || outputs[i].kind != Value::Kind::kTensor) continue;
      add_line(text, names[i], outputs[i].type, Cell::kRight, "");
    }
  }

  /** The parameter with the inputs of others that have its type now and may have the new one: some must agree. */
  Parameter with_others(Parameter parameter, ElementType type) const {
    for (const Parameter& other : parameters_) {
      bool may = std::count(other.allowed.begin(), other.allowed.end(), type) > 0;
      if (other.name == parameter.name || other.type != parameter.type || !may) continue;
      parameter.inputs.insert(parameter.inputs.end(), other.inputs.begin(), other.inputs.end());
    }
    return parameter;
  }

  /** The case's values with the parameter's inputs as that type holds them, in that type or in their own. */
  DataSet data_in(const Parameter& parameter, ElementType type, bool in_that_type) const {
    DataSet data = data_;
    for (size_t i : parameter.inputs) {
      if (!data.given[i]) continue;
      Value own = converted(converted(data.inputs[i], type), parameter.type);
      data.inputs[i] = in_that_type ? converted(own, type) : std::move(own);
    }
    return data;
  }

  std::vector<Value> run(Session& session, const DataSet& data) const {
    std::vector<Handle<OrtValue>> inputs = make_inputs(session, environment_.get(), data);
    std::vector<Value> outputs;
    for (const auto& output : session.run(pointers(inputs))) outputs.push_back(from_library(library_, output.get()));
    return outputs;
  }

  std::pair<Cell::Kind, std::string> try_type(Session& session, const Parameter& parameter, ElementType type) {
    Cell::Kind stage = Cell::kRefused;
    try {
      model_.write(scratch_, parameter.inputs, type);
      Session other(library_, environment_.get(), scratch_, kConfig);
      stage = Cell::kFailed;
      std::vector<Value> given = run(other, data_in(parameter, type, true));
      std::string text = compare(session, given, parameter, type);
      if (text.empty()) return {Cell::kRight, ""};
      bool same_class = class_of(type) == class_of(parameter.type) && class_of(type) != Class::kOther;
      bool narrow = traits(type).bits <= 8 && traits(type).floating;
      return {same_class && !narrow && !is_random(model_.name()) ? Cell::kWrong : Cell::kRuns, text};
    } catch (const std::exception& error) {
      return {stage, error.what()};
    }
  }

  std::string compare(Session& session, const std::vector<Value>& given, const Parameter& parameter, ElementType type) {
    std::vector<Value> expected;
    try {
      expected = run(session, data_in(parameter, type, false));
    } catch (const std::exception& error) {
      return join("runs, but in its own type not: ", error.what());
    }
    for (size_t i = 0; i < given.size(); ++i) {
      std::string text = difference_across(expected[i], given[i], type);
      if (!text.empty()) return join("output ", i, ": ", text);
    }
    return "";
  }

  const Library& library_;
  fs::path folder_;
  OneNode model_;
  std::string scratch_;
  Handle<OrtEnv> environment_;
  std::vector<Parameter> parameters_;
  DataSet data_;
};

void add_case(const Library& library, const fs::path& folder, const fs::path& scratch, const Settings& settings,
              Matrix& matrix, int& skipped) {
  try {
    OneNode model((folder / "model.onnx").string());
    if (!settings.only.empty() && model.name() != settings.only) return;
    ChildResult child = run_in_child([&] { return CaseRunner(library, folder, scratch).lines(); }, 120);
    if (child.end != ChildResult::End::kDone) {
      bool crashed = child.end == ChildResult::End::kCrashed || child.end == ChildResult::End::kTimedOut;
      matrix[{model.domain(), model.name(), "", ""}].add(crashed ? Cell::kCrashed : Cell::kRefused, child.text,
                                                         folder.filename());
      return;
    }
    for (const std::string& line : split(child.text, '\n')) {
      std::vector<std::string> words = split(line, '\t');
      if (words.size() < 6) continue;
      matrix[{words[0], words[1], words[2], words[3]}].add(Cell::Kind(std::stoi(words[4])), words[5],
                                                           folder.filename());
    }
  } catch (const ToolError&) {
    ++skipped;
  }
}

/** Whether the list has the key's "operator parameter type", or "operator parameter *". */
bool is_ignored(const std::map<std::string, std::string>& ignored, const Key& key) {
  return ignored.count(join(key[1], ' ', key[2], ' ', key[3])) || ignored.count(join(key[1], ' ', key[2], " *"));
}

/** What the official library accepts, by the same key. */
std::set<Key> read_probe(const std::string& path) {
  std::set<Key> accepted;
  if (path.empty()) return accepted;
  for (const std::string& line : read_lines(path)) {
    std::vector<std::string> words = split(line, '\t');
    if (words.size() < 5 || words[0] == "domain") continue;
    for (const std::string& type : split(words[4], ',')) accepted.insert({words[0], words[1], words[3], type});
  }
  return accepted;
}

std::map<std::string, std::string> read_ignored(const std::string& path) {
  std::map<std::string, std::string> reasons;
  if (path.empty()) return reasons;
  for (const std::string& line : read_lines(path)) {
    if (line.empty() || line[0] == '#') continue;
    size_t comma = line.find(',');
    if (comma == std::string::npos)
      fail(path, ": '", line, "' gives no reason; write: operator parameter type, reason");
    reasons[trimmed(line.substr(0, comma))] = trimmed(line.substr(comma + 1));
  }
  return reasons;
}

std::string to_text(const Matrix& matrix, const std::set<Key>& official) {
  std::string text =
      "domain\toperator\tparameter\ttype\tofficial\tright\truns\twrong\tfailed\trefused\tcrashed\tcase\treason\n";
  for (const auto& [key, cell] : matrix) {
    text += join(key[0], '\t', key[1], '\t', key[2], '\t', key[3], '\t', official.count(key) ? "yes" : "-");
    for (int count : cell.counts) text += join('\t', count);
    text += join('\t', cell.test, '\t', cell.reason, '\n');
  }
  return text;
}

int judge(const Matrix& matrix, const std::set<Key>& official, const std::map<std::string, std::string>& ignored) {
  int works = 0, failures = 0, missing = 0, tried = 0;
  Table table({"operator", "parameter", "type", "outcome", "case", "reason"});
  for (const auto& [key, cell] : matrix) {
    ++tried;
    works += cell.works();
    bool refused = !cell.works() && official.count(key);
    if (!cell.bad() && !refused) continue;
    if (is_ignored(ignored, key)) continue;
    ++failures;
    const char* outcome = cell.counts[Cell::kCrashed]  ? "crashed"
                          : cell.counts[Cell::kFailed] ? "failed"
                          : cell.counts[Cell::kWrong]  ? "wrong"
                                                       : "refused";
    table.add({key[1], key[2], key[3], outcome, cell.test, cell.reason.substr(0, 200)});
  }
  for (const Key& key : official) missing += !matrix.count(key);
  if (!table.empty()) std::printf("%s\n", table.text().c_str());
  std::printf(
      "%d of %d combinations of operator, parameter and type work; %d of %zu that the official library accepts have no "
      "case; %d failures\n",
      works, tried, missing, official.size(), failures);
  return failures > 0;
}

int run(int argc, char** argv) {
  Settings settings;
  settings.roots = parse(
      argc, argv,
      {"type_matrix [OPTION...] FOLDER...",
       "Runs the one-node cases below the folders in every element type their operator may have.",
       {{'n', "operator", "NAME", "this operator only", into(settings.only)},
        {0, "probe", "FILE", "what the official library accepts: ort130_type_probe.tsv", into(settings.probe)},
        {0, "ignore", "FILE", "known differences, one 'operator parameter type, reason' a line", into(settings.ignore)},
        {'o', "out", "FILE", "write the table to this file", into(settings.out)},
        {0, "library", "PATH", "ask this library instead of the linked one", into(settings.library_path)}}});
  if (settings.roots.empty()) fail_usage("give a folder of cases");
  Library library = choose_library(settings.library_path);
  fs::path scratch = fs::temp_directory_path() / join("type_matrix_", getpid());
  fs::create_directories(scratch);
  Matrix matrix;
  int skipped = 0;
  for (const std::string& root : settings.roots) {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(root)) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    Progress progress(folders.size());
    for (const fs::path& folder : folders) {
      progress.step(folder.filename());
      add_case(library, folder, scratch, settings, matrix, skipped);
    }
  }
  fs::remove_all(scratch);
  std::set<Key> official = read_probe(settings.probe);
  if (!settings.out.empty()) write_file(settings.out, to_text(matrix, official));
  return judge(matrix, official, read_ignored(settings.ignore));
}

}  // namespace
}  // namespace ortolan::type_matrix

int main(int argc, char** argv) {
  return ortolan::tools::run_program("type_matrix", [&] { return ortolan::type_matrix::run(argc, argv); });
}
