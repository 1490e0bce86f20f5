// ortolan run: a model on pictures, files or made-up inputs; shows the outputs.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "commands.h"
#include "common/array_file.h"
#include "common/compare_values.h"
#include "common/data_set.h"
#include "common/files.h"
#include "common/options.h"
#include "common/proto_value.h"
#include "common/random_value.h"
#include "common/terminal.h"
#include "view.h"

namespace ortolan::tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct RunSettings {
  SessionConfig session;
  RandomRules rules;
  std::map<std::string, std::string> inputs;  // name -> file or "random"
  std::string data_folder, save_folder, labels_path, library_path;
  int shown = 10, top = 10;
  bool json = false;
};

CommandLine run_command_line(RunSettings& s) {
  auto set_input = [&s](const std::string& text) {
    auto [name, source] = parse_pair(text, '=', "--input");
    s.inputs[name] = source;
  };
  auto set_dim = [&s](const std::string& text) {
    auto [name, size] = parse_pair(text, '=', "--dim");
    s.rules.dims[name] = parse_integer(size, name);
  };
  return {
      "ortolan run [OPTION...] MODEL [PICTURE...]",
      "Runs the model once per picture (PGM or PPM), or once with inputs from files. A picture goes into the input of\n"
      "shape [N,channels,height,width], scaled to it, from 0 to 1. Inputs that nothing is said about are made up.",
      {{'i', "input", "NAME=SOURCE", "SOURCE: a file .pb, .npy, .pgm, .ppm, or the word random", set_input},
       {0, "data", "FOLDER", "inputs from a test data set; outputs are compared with its", into(s.data_folder)},
       {0, "dim", "NAME=SIZE", "size of a symbolic dimension of made-up inputs (default 1)", set_dim},
       {0, "labels", "FILE", "names of the classes, one a line", into(s.labels_path)},
       {0, "top", "N", "most classes shown (default 10)", into(s.top, "--top")},
       {0, "elements", "N", "elements shown of each output (default 10)", into(s.shown, "--elements")},
       {0, "save", "FOLDER", "write the outputs here as output_N.pb", into(s.save_folder)},
       {'e', "provider", "NAME", "execution provider (default cpu); again for more, in order",
        into(s.session.providers)},
       {0, "plugin", "'NAME|PATH ...'", "register provider libraries", into(s.session.plugins)},
       {'o', "level", "N", "optimisation level (default 99)", into(s.session.level, "-o")},
       {'x', "threads", "N", "threads inside an operator", into(s.session.threads, "-x")},
       {0, "json", nullptr, "print the outputs as JSON", turn(s.json)},
       {0, "library", "PATH", "use this library instead of the linked one", into(s.library_path)}}};
}

// The input that a picture goes into, or -1: floats of rank 4 with one or three channels.
int picture_input(const Session& session) {
  for (size_t i = 0; i < session.inputs().size(); ++i) {
    const TypeSpec& type = session.inputs()[i].type;
    bool rank4 = type.kind == ONNX_TYPE_TENSOR && type.shape.size() == 4;
    if (rank4 && traits(type.element).floating && (type.shape[1] == 1 || type.shape[1] == 3)) return int(i);
  }
  return -1;
}

Value picture_tensor(const Picture& picture, const Port& input) {
  const std::vector<int64_t>& wanted = input.type.shape;
  if (wanted.size() != 4) fail("input '", input.name, "' is ", to_text(input.type), ", which takes no picture");
  int channels = wanted[1] > 0 ? int(wanted[1]) : picture.channels;
  int height = wanted[2] > 0 ? int(wanted[2]) : picture.height;
  int width = wanted[3] > 0 ? int(wanted[3]) : picture.width;
  std::vector<float> pixels = planes(picture, channels, height, width);
  Value value = make_tensor(input.type.element, {1, channels, height, width});
  for (size_t i = 0; i < pixels.size(); ++i) set_number(value.type, value.bytes.data(), i, pixels[i]);
  return value;
}

Value read_input(const std::string& source, const Port& input, const RandomRules& rules) {
  if (source == "random") return random_value(input.name, input.type, rules);
  std::string ending = fs::path(source).extension();
  if (ending == ".pb") return read_proto_value(source, input.type).value;
  if (ending == ".npy") return read_npy(source);
  if (ending == ".pgm" || ending == ".ppm") return picture_tensor(read_picture(source), input);
  fail_usage("input '", input.name, "': '", source, "' is no .pb, .npy, .pgm or .ppm file, nor the word random");
}

// Everything but pictures.
DataSet gather_inputs(const Session& session, const RunSettings& settings) {
  if (!settings.data_folder.empty()) return read_data_set(settings.data_folder, session);
  DataSet data;
  std::map<std::string, std::string> left = settings.inputs;
  for (const Port& input : session.inputs()) {
    auto found = left.find(input.name);
    data.inputs.push_back(read_input(found == left.end() ? "random" : found->second, input, settings.rules));
    data.given.push_back(true);
    if (found != left.end()) left.erase(found);
  }
  if (left.empty()) return data;
  std::string names;
  for (const Port& input : session.inputs()) names += (names.empty() ? "" : ", ") + input.name;
  fail_usage("the model has no input '", left.begin()->first, "'; its inputs are ", names);
}

// Whether the output is one score per class for one picture: floats along one dimension.
bool is_scores(const Value& value) {
  if (value.kind != Value::Kind::kTensor || !traits(value.type).floating || value.elements() < 2) return false;
  return std::count_if(value.shape.begin(), value.shape.end(), [](int64_t dim) { return dim != 1; }) == 1;
}

std::vector<std::string> read_labels(const Session& session, const RunSettings& settings) {
  if (!settings.labels_path.empty()) return read_lines(settings.labels_path);
  return split(session.metadata()["labels"], ',');
}

// The best classes; in the model's order when all fit.
std::vector<Score> best_scores(const Value& value, const std::vector<std::string>& labels, size_t top) {
  std::vector<Score> scores;
  for (size_t i = 0; i < value.elements(); ++i) {
    scores.push_back({i < labels.size() ? labels[i] : std::to_string(i), number_at(value.type, value.bytes.data(), i)});
  }
  if (scores.size() <= top) return scores;
  std::stable_sort(scores.begin(), scores.end(), [](const Score& a, const Score& b) { return a.value > b.value; });
  scores.resize(top);
  return scores;
}

Json to_json(const Value& value) {
  Json out;
  if (value.kind == Value::Kind::kTensor) {
    out["type"] = traits(value.type).name;
    out["shape"] = value.shape;
    Json& data = out["data"] = Json::array();
    for (const std::string& text : value.strings) data.push_back(text);
    bool integer = value.strings.empty() && !traits(value.type).floating;
    for (size_t i = 0; !value.bytes.empty() && i < value.elements(); ++i) {
      data.push_back(integer ? Json(integer_at(value.type, value.bytes.data(), i))
                             : Json(number_at(value.type, value.bytes.data(), i)));
    }
  } else if (value.kind != Value::Kind::kNone) {
    for (const Value& item : value.items) out["items"].push_back(to_json(item));
  }
  return out;
}

// Runs and shows. One object so that session, settings and labels need no passing around.
class Runner {
 public:
  Runner(Session& session, OrtEnv* environment, const RunSettings& settings)
      : session_(session), environment_(environment), settings_(settings), labels_(read_labels(session, settings)) {}

  void run_picture(const std::string& path, DataSet data) {
    int port = picture_input(session_);
    if (port < 0)
      fail("no input of the model takes a picture; use --input NAME=FILE. ortolan inspect shows the inputs");
    Picture picture = read_picture(path);
    data.inputs[size_t(port)] = picture_tensor(picture, session_.inputs()[size_t(port)]);
    std::vector<Value> outputs = run(data);
    if (settings_.json) {
      print_json(outputs, path);
    } else if (is_scores(outputs.at(0))) {
      print_scores(path, picture, outputs[0]);
    } else {
      print(outputs);
    }
  }

  void run_files(const DataSet& data) {
    std::vector<Value> outputs = run(data);
    settings_.json ? print_json(outputs, "") : print(outputs);
    for (const auto& [port, expected] : data.expected) {
      std::string text = difference(expected, outputs.at(port), Tolerance{});
      const std::string& name = session_.outputs()[port].name;
      if (!text.empty()) fail("output '", name, "' is not as the data set expects: ", text);
      if (!settings_.json) std::printf("%s is as the data set expects\n", name.c_str());
    }
  }

 private:
  std::vector<Value> run(const DataSet& data) {
    auto inputs = make_inputs(session_, environment_, data);
    auto results = session_.run(pointers(inputs));
    std::vector<Value> outputs;
    for (const auto& value : results) outputs.push_back(from_library(session_.library(), value.get()));
    if (!settings_.save_folder.empty()) save(outputs);
    return outputs;
  }

  void save(const std::vector<Value>& outputs) const {
    fs::create_directories(settings_.save_folder);
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::string path = settings_.save_folder + "/output_" + std::to_string(i) + ".pb";
      write_proto_tensor(path, session_.outputs()[i].name, outputs[i]);
    }
  }

  void print(const std::vector<Value>& outputs) const {
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::fputs(describe(session_.outputs()[i].name, outputs[i], size_t(settings_.shown)).c_str(), stdout);
    }
  }

  void print_json(const std::vector<Value>& outputs, const std::string& picture) const {
    Json out;
    if (!picture.empty()) out["picture"] = picture;
    for (size_t i = 0; i < outputs.size(); ++i) out["outputs"][session_.outputs()[i].name] = to_json(outputs[i]);
    std::printf("%s\n", out.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  }

  void print_scores(const std::string& path, const Picture& picture, const Value& scores) const {
    std::vector<Score> best = best_scores(scores, labels_, size_t(settings_.top));
    auto winner =
        std::max_element(best.begin(), best.end(), [](const Score& a, const Score& b) { return a.value < b.value; });
    std::printf("%s: %s\n%s\n", path.c_str(), winner->label.c_str(),
                side_by_side(picture_lines(picture), score_lines(best)).c_str());
  }

  Session& session_;
  OrtEnv* environment_;
  const RunSettings& settings_;
  std::vector<std::string> labels_;
};

}  // namespace

int run_command(int argc, char** argv) {
  RunSettings settings;
  std::vector<std::string> rest = parse(argc, argv, run_command_line(settings));
  if (rest.empty()) fail_usage("give a model, for example: ortolan run model.onnx picture.ppm");
  if (settings.top < 1) fail_usage("--top must be 1 or more");
  Library library = choose_library(settings.library_path);
  auto environment = environment_for(library, settings.session);
  Session session(library, environment.get(), model_path(rest[0]), settings.session);
  DataSet data = gather_inputs(session, settings);
  Runner runner(session, environment.get(), settings);
  for (size_t i = 1; i < rest.size(); ++i) runner.run_picture(rest[i], data);
  if (rest.size() == 1) runner.run_files(data);
  return 0;
}

}  // namespace ortolan::tools
