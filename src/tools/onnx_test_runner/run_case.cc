// Running one test case in a library and comparing its outputs.
#include <algorithm>
#include <filesystem>
#include <thread>

#include "common/empty_value.h"
#include "common/proto_value.h"
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

// The files input_0.pb, input_1.pb, ... of a data set.
std::vector<std::string> numbered_files(const std::string& folder, const std::string& stem) {
  std::vector<std::string> files;
  while (true) {
    std::string path = folder + "/" + stem + std::to_string(files.size()) + ".pb";
    if (!fs::exists(path)) return files;
    files.push_back(path);
  }
}

size_t port_of(const std::vector<Port>& ports, const std::string& name, size_t position) {
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!name.empty() && ports[i].name == name) return i;
  }
  return position;
}

// What a data set gives and expects, by port.
struct DataSet {
  std::vector<Value> inputs;
  std::vector<bool> given;
  std::vector<std::pair<size_t, Value>> expected;
};

DataSet read_data_set(const std::string& folder, const Session& session) {
  DataSet data;
  const auto& inputs = session.inputs();
  const auto& outputs = session.outputs();
  data.inputs.resize(inputs.size());
  data.given.resize(inputs.size());
  for (const std::string& path : numbered_files(folder, "input_")) {
    size_t position = std::count(data.given.begin(), data.given.end(), true);
    // Files are in the order of the model's inputs; the type is that of the port in the same place.
    if (position >= inputs.size()) fail(path, ": the model has only ", inputs.size(), " inputs");
    NamedValue read = read_proto_value(path, inputs[position].type);
    size_t port = port_of(inputs, read.name, position);
    data.inputs[port] = std::move(read.value);
    data.given[port] = true;
  }
  std::vector<std::string> files = numbered_files(folder, "output_");
  for (size_t i = 0; i < files.size(); ++i) {
    if (i >= outputs.size()) fail(files[i], ": the model has only ", outputs.size(), " outputs");
    NamedValue read = read_proto_value(files[i], outputs[i].type);
    data.expected.emplace_back(port_of(outputs, read.name, i), std::move(read.value));
  }
  return data;
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

// Null for an optional without content: an input that is not given is one.
Handle<OrtValue> make_input(Session& session, const OrtEnv* environment, const Value& value, const TypeSpec& type) {
  bool empty = value.kind == Value::Kind::kSequence && value.items.empty();
  if (!empty) return to_library(session.library(), value);
  return make_empty(session.library(), environment, type.kind == ONNX_TYPE_OPTIONAL ? type.inner.at(0) : type);
}

CaseResult run_data_set(Session& session, const OrtEnv* environment, const std::string& folder,
                        const Tolerance& tolerance, const RunSettings& settings) {
  DataSet data = read_data_set(folder, session);
  std::vector<Handle<OrtValue>> owned;
  std::vector<const OrtValue*> inputs(data.inputs.size());
  for (size_t i = 0; i < data.inputs.size(); ++i) {
    if (!data.given[i]) continue;
    owned.push_back(make_input(session, environment, data.inputs[i], session.inputs()[i].type));
    inputs[i] = owned.back().get();
  }
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

CaseResult run_case(const Library& library, const OrtEnv* environment, const TestCase& test,
                    const RunSettings& settings) {
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
