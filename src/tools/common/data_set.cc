// Reading a data set and carrying its inputs into a library.
#include "data_set.h"

#include <algorithm>
#include <filesystem>

#include "empty_value.h"
#include "error.h"
#include "files.h"
#include "proto_value.h"

namespace ortolan::tools {
namespace {

// The files input_0.pb, input_1.pb, ... of a data set.
std::vector<std::string> numbered_files(const std::string& folder, const std::string& stem) {
  std::vector<std::string> files;
  while (true) {
    std::string path = folder + "/" + stem + std::to_string(files.size()) + ".pb";
    if (!std::filesystem::exists(path)) return files;
    files.push_back(path);
  }
}

size_t port_of(const std::vector<Port>& ports, const std::string& name, size_t position) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!name.empty() && ports[i].name == name) return i;
  }
  return position;
}

// The value in a file for a port. ONNX's data before 1.17 holds the bits of bfloat16 as uint16, as numpy has no such
// type.
NamedValue read_for(const std::string& path, const TypeSpec& type) {
  NamedValue read = read_proto_value(path, type);
  bool bits = type.kind == ONNX_TYPE_TENSOR && type.element == ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16 &&
              read.value.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16;
  if (bits) read.value.type = type.element;
  return read;
}

Handle<OrtValue> make_input(const Session& session, const OrtEnv* environment, const Value& value,
                            const TypeSpec& type) {
  bool empty = value.kind == Value::Kind::kSequence && value.items.empty();
  if (!empty) return to_library(session.library(), value);
  return make_empty(session.library(), environment, type.kind == ONNX_TYPE_OPTIONAL ? type.inner.at(0) : type);
}

}  // namespace

DataSet read_data_set(const std::string& folder, const Session& session) {
  DataSet data;
  const auto& inputs = session.inputs();
  const auto& outputs = session.outputs();
  data.inputs.resize(inputs.size());
  data.given.resize(inputs.size());
  std::vector<std::string> files = numbered_files(folder, "input_");
  for (size_t i = 0; i < files.size(); ++i) {
    if (i >= inputs.size()) fail(files[i], ": the model has only ", inputs.size(), " inputs");
    NamedValue read = read_for(files[i], inputs[i].type);
    size_t port = port_of(inputs, read.name, i);
    data.inputs[port] = std::move(read.value);
    data.given[port] = true;
  }
  files = numbered_files(folder, "output_");
  for (size_t i = 0; i < files.size(); ++i) {
    if (i >= outputs.size()) fail(files[i], ": the model has only ", outputs.size(), " outputs");
    NamedValue read = read_for(files[i], outputs[i].type);
    data.expected.emplace_back(port_of(outputs, read.name, i), std::move(read.value));
  }
  return data;
}

std::optional<Tolerance> stated_tolerance(const std::string& folder) {
  std::filesystem::path file = std::filesystem::path(folder) / "tol.txt";
  if (!std::filesystem::exists(file)) return std::nullopt;
  std::vector<std::string> numbers;
  for (const std::string& word : split(trimmed(read_file(file)), ' ')) {
    if (!word.empty()) numbers.push_back(word);
  }
  if (numbers.size() != 3) fail(file.string(), " must hold three numbers: relative, absolute, share that may miss");
  return Tolerance{parse_number(numbers[0], file), parse_number(numbers[1], file), parse_number(numbers[2], file)};
}

DataSet made_up_data(const Session& session, const RandomRules& rules) {
  DataSet data;
  for (const Port& input : session.inputs()) {
    data.inputs.push_back(random_value(input.name, input.type, rules));
    data.given.push_back(true);
  }
  return data;
}

std::vector<Handle<OrtValue>> make_inputs(const Session& session, const OrtEnv* environment, const DataSet& data) {
  std::vector<Handle<OrtValue>> values;
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    if (data.given[i]) {
      values.push_back(make_input(session, environment, data.inputs[i], session.inputs()[i].type));
    } else {
      values.emplace_back(nullptr, session.library()->ReleaseValue);
    }
  }
  return values;
}

std::vector<const OrtValue*> pointers(const std::vector<Handle<OrtValue>>& values) {
  std::vector<const OrtValue*> raw;
  for (const auto& value : values) raw.push_back(value.get());
  return raw;
}

}  // namespace ortolan::tools
