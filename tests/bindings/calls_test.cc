// The calls that all bindings are made of, bindings/swig/calls.h, used as a binding uses them.
#include <gtest/gtest.h>
#include <chrono>

#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "calls.h"
}

namespace {

std::string model(const std::string& name) { return std::string(getenv("ORTOLAN_TEST_MODELS")) + "/" + name + ".onnx"; }

std::string take(char* text) {
  std::string copy = text ? text : "(null)";
  free(text);
  return copy;
}

std::vector<std::string> take(TextList* list) {
  std::vector<std::string> texts;
  for (size_t i = 0; list && i < text_count(list); ++i) texts.push_back(text_at(list, i));
  release_texts(list);
  return texts;
}

/** A status that must stay empty, or be asked for with message(). */
struct Status {
  OrtStatus* raw = nullptr;
  operator OrtStatus**() { return &raw; }
  ~Status() { EXPECT_EQ(message(), ""); }
  OrtErrorCode code() const { return raw ? OrtGetErrorCode(raw) : ORT_OK; }
  std::string message() {
    std::string text = raw ? OrtGetErrorMessage(raw) : "";
    OrtReleaseStatus(raw);
    raw = nullptr;
    return text;
  }
};

class Calls : public testing::Test {
 protected:
  void SetUp() override {
    environment = create_environment(ORT_LOGGING_LEVEL_WARNING, "calls", nullptr, nullptr, 0, 0, 0, 0, status);
  }
  void TearDown() override {
    release_session(session);
    release_session_options(options);
    release_environment(environment);
  }
  void open(const std::string& name) { session = create_session(environment, model(name).c_str(), options, status); }

  OrtValue* floats(std::vector<float> elements) {
    int64_t shape[] = {static_cast<int64_t>(elements.size())};
    return tensor_copy(elements.data(), elements.size() * sizeof(float), shape, 1, 1, status);
  }
  std::vector<float> floats_of(OrtValue* tensor) {
    int64_t facts[8];
    tensor_facts(tensor, facts, 8, status);
    std::vector<float> elements(facts[2] / sizeof(float));
    read_tensor(tensor, elements.data(), elements.size() * sizeof(float), status);
    return elements;
  }

  Status status;
  OrtEnv* environment = nullptr;
  OrtSessionOptions* options = nullptr;
  OrtSession* session = nullptr;
};

TEST_F(Calls, RunsByOrderAndByChoice) {
  open("add");
  TextList *inputs = input_names(session, status), *outputs = output_names(session, status);
  OrtValue* values[] = {floats({1, 2}), floats({10, 20})};
  OrtValue* results[2] = {};
  run_session(session, nullptr, inputs, nullptr, 0, values, 2, outputs, nullptr, 0, results, 2, status);
  EXPECT_EQ(floats_of(results[0]), (std::vector<float>{11, 22}));
  EXPECT_EQ(floats_of(results[1]), (std::vector<float>{22, 44}));

  const int32_t swapped[] = {1, 0}, second[] = {1};
  OrtValue* only[] = {nullptr};
  run_session(session, nullptr, inputs, swapped, 2, values, 2, outputs, second, 1, only, 1, status);
  EXPECT_EQ(floats_of(only[0]), (std::vector<float>{22, 44}));
  run_session(session, nullptr, inputs, swapped, 2, values, 2, outputs, second, 1, only, 1, status);  // in place
  for (OrtValue* value : {values[0], values[1], results[0], results[1], only[0]}) release_value(value);
  EXPECT_EQ(take(inputs), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(take(outputs), (std::vector<std::string>{"sum", "scaled"}));
  EXPECT_EQ(take(overridable_names(session, status)), std::vector<std::string>{"factor"});
}

TEST_F(Calls, RunsMayOverrideInitializers) {
  open("add");
  TextList *feeds = feed_names(session, status), *outputs = output_names(session, status);
  OrtValue* values[] = {floats({1, 2}), floats({10, 20}), floats({3})};
  OrtValue* results[2] = {};
  run_session(session, nullptr, feeds, nullptr, 0, values, 3, outputs, nullptr, 0, results, 2, status);
  EXPECT_EQ(floats_of(results[1]), (std::vector<float>{33, 66}));
  for (OrtValue* value : {values[0], values[1], values[2], results[0], results[1]}) release_value(value);
  EXPECT_EQ(take(feeds), (std::vector<std::string>{"a", "b", "factor"}));
  release_texts(outputs);
}

TEST_F(Calls, RefusesMoreValuesThanNamesAndChoicesOutside) {
  open("add");
  TextList *inputs = input_names(session, status), *outputs = output_names(session, status);
  OrtValue* value = floats({1});
  OrtValue* values[] = {value, value, value};
  OrtValue* results[] = {nullptr};
  run_session(session, nullptr, inputs, nullptr, 0, values, 3, outputs, nullptr, 0, results, 1, status);
  EXPECT_EQ(status.message(), "there are more values than names");
  const int32_t outside[] = {0, -1}, two_for_three[] = {0, 1};
  run_session(session, nullptr, inputs, outside, 2, values, 2, outputs, nullptr, 0, results, 1, status);
  EXPECT_EQ(status.message(), "there are more values than names");
  run_session(session, nullptr, inputs, two_for_three, 2, values, 3, outputs, nullptr, 0, results, 1, status);
  EXPECT_EQ(status.message(), "there must be as many names as values");
  EXPECT_EQ(results[0], nullptr);
  release_value(value);
  release_texts(inputs);
  release_texts(outputs);
}

TEST_F(Calls, TensorsCheckTheirBytes) {
  float three[3] = {1, 2, 3};
  int64_t shape[] = {2};
  EXPECT_EQ(tensor_copy(three, sizeof three, shape, 1, 1, status), nullptr);
  EXPECT_EQ(status.message(), "the bytes are not as many as the tensor's");
  OrtValue* zeros = tensor_of_zeros(shape, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, status);
  int64_t facts[5];
  EXPECT_EQ(tensor_facts(zeros, facts, 5, status), 5u);
  EXPECT_EQ(facts[0], ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE);
  EXPECT_EQ(facts[2], 16);
  EXPECT_EQ(facts[3], 1);
  EXPECT_EQ(facts[4], 2);
  EXPECT_EQ(reinterpret_cast<double*>(facts[1])[1], 0.0);
  EXPECT_EQ(tensor_data(zeros, status), reinterpret_cast<void*>(facts[1]));
  EXPECT_STREQ(memory_name(tensor_memory(zeros, status), status), "Cpu");
  release_value(zeros);
  OrtValue* scalar = tensor_copy(three, 4, nullptr, 0, 1, status);
  EXPECT_EQ(tensor_facts(scalar, nullptr, 0, status), 4u);
  release_value(scalar);
}

TEST_F(Calls, StringsKeepAllTheirBytes) {
  const std::string bytes("a\0bcdö", 7);
  const int64_t ends[] = {3, 3, 7}, shape[] = {3}, wrong[] = {3, 2, 7};
  OrtValue* tensor = tensor_of_strings(bytes.data(), bytes.size(), ends, 3, shape, 1, status);
  EXPECT_EQ(strings_size(tensor, status), 7u);
  std::string read(7, 'x');
  int64_t read_ends[3];
  read_strings(tensor, read.data(), read.size(), read_ends, 3, status);
  EXPECT_EQ(read, bytes);
  EXPECT_EQ(std::vector<int64_t>(read_ends, read_ends + 3), (std::vector<int64_t>{3, 3, 7}));
  release_value(tensor);
  EXPECT_EQ(tensor_of_strings(bytes.data(), bytes.size(), wrong, 3, shape, 1, status), nullptr);
  EXPECT_EQ(status.message(), "the ends of strings must ascend and lie within the bytes");
  EXPECT_EQ(tensor_of_strings(bytes.data(), bytes.size(), ends, 2, shape, 1, status), nullptr);
  EXPECT_EQ(status.message(), "there must be as many strings as the shape has elements");
}

TEST_F(Calls, SequencesAndMaps) {
  open("zip_map_words");
  TextList *inputs = input_names(session, status), *outputs = output_names(session, status);
  const float row[] = {1, 2, 3};
  const int64_t shape[] = {1, 3};
  OrtValue *value = tensor_copy(row, sizeof row, shape, 2, 1, status), *maps = nullptr;
  run_session(session, nullptr, inputs, nullptr, 0, &value, 1, outputs, nullptr, 0, &maps, 1, status);
  EXPECT_EQ(value_kind(maps, status), ONNX_TYPE_SEQUENCE);
  ASSERT_EQ(value_count(maps, status), 1u);
  const OrtValue *all_keys = nullptr, *all_numbers = nullptr;
  EXPECT_EQ(OrtGetMapRows(maps, &all_keys, &all_numbers), nullptr);
  EXPECT_EQ(strings_size(const_cast<OrtValue*>(all_keys), status), 11u);
  EXPECT_EQ(floats_of(const_cast<OrtValue*>(all_numbers)), (std::vector<float>{3, 1, 2}));  // of bird, cat, dög
  OrtValue* map = value_at(maps, 0, status);
  EXPECT_EQ(value_kind(map, status), ONNX_TYPE_MAP);
  OrtValue *keys = value_at(map, 0, status), *numbers = value_at(map, 1, status);
  EXPECT_EQ(strings_size(keys, status), 11u);  // cat, dög, bird
  EXPECT_EQ(floats_of(numbers).size(), 3u);
  OrtValue* again = create_map(keys, numbers, status);
  OrtValue* sequence = create_sequence(&again, 1, status);
  EXPECT_EQ(value_count(sequence, status), 1u);
  EXPECT_EQ(value_at(sequence, 1, status), nullptr);
  EXPECT_NE(status.message(), "");
  for (OrtValue* made : {value, maps, map, keys, numbers, again, sequence}) release_value(made);
  release_texts(inputs);
  release_texts(outputs);

  OrtTypeInfo* type = output_type(session, 0, status);
  EXPECT_EQ(type_kind(type, status), ONNX_TYPE_SEQUENCE);
  OrtTypeInfo* map_type = type_content(type, status);
  EXPECT_EQ(type_element(map_type, status), ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  OrtTypeInfo* number_type = type_content(map_type, status);
  EXPECT_EQ(type_element(number_type, status), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  EXPECT_EQ(type_content(number_type, status), nullptr);
  for (OrtTypeInfo* made : {type, map_type, number_type}) release_type(made);
}

TEST_F(Calls, TypesNameTheirDimensions) {
  open("identity_float");
  OrtTypeInfo* type = input_type(session, 0, status);
  EXPECT_EQ(type_rank(type, status), 2u);
  EXPECT_EQ(type_dimension(type, 0, status), -1);
  EXPECT_EQ(take(type_symbol(type, 1, status)), "columns");
  EXPECT_EQ(type_dimension(type, 2, status), 0);
  EXPECT_EQ(status.message(), "the type has no dimension of that index");
  release_type(type);
}

TEST_F(Calls, MetadataIsUtf8) {
  open("add");
  OrtModelMetadata* metadata = create_metadata(session, status);
  EXPECT_EQ(take(metadata_producer(metadata, status)), "ortolan-tests");
  EXPECT_EQ(take(metadata_graph_name(metadata, status)), "add_graph");
  EXPECT_EQ(take(metadata_graph_description(metadata, status)), "two nodes");
  EXPECT_EQ(take(metadata_domain(metadata, status)), "org.ortolan.tests");
  EXPECT_EQ(take(metadata_description(metadata, status)), "adds – and scales");
  EXPECT_EQ(metadata_version(metadata, status), 7);
  EXPECT_EQ(take(metadata_keys(metadata, status)).size(), 2u);
  EXPECT_EQ(take(metadata_value(metadata, "author", status)), "Ørtolan");
  EXPECT_EQ(take(metadata_value(metadata, "absent", status)), "(null)");
  release_metadata(metadata);
}

TEST_F(Calls, OptionsKeepTheirSettings) {
  options = create_session_options(status);
  add_session_setting(options, "session.record_ep_graph_assignment_info", "1", status);
  EXPECT_EQ(take(session_setting(options, "session.record_ep_graph_assignment_info", status)), "1");
  EXPECT_EQ(take(session_setting(options, "absent", status)), "(null)");
  set_optimization_level(options, 0, status);
  set_optimization_level(options, 17, status);
  EXPECT_NE(status.message(), "");
  open("add");
  EXPECT_EQ(take(node_assignments(session, status)),
            (std::vector<std::string>{"CPUExecutionProvider", "adder", "", "Add", "CPUExecutionProvider", "scaler", "",
                                      "Mul"}));
}

TEST_F(Calls, AbsentProvidersAreErrors) {
  options = create_session_options(status);
  append_provider(options, "NoSuchExecutionProvider", nullptr, status);
  EXPECT_NE(status.message().find("NoSuchExecutionProvider"), std::string::npos);
  EXPECT_EQ(take(available_providers(status)), std::vector<std::string>{"CPUExecutionProvider"});
}

TEST_F(Calls, PluginDevicesRunNodes) {
  const std::string library = std::string(getenv("ORTOLAN_TEST_PLUGINS")) + "/libonnxruntime_ep_example.so";
  register_provider_library(environment, "example", library.c_str(), status);
  std::vector<const OrtEpDevice*> devices;
  for (size_t i = 0; i < device_count(environment, status); ++i) {
    const OrtEpDevice* device = device_at(environment, i, status);
    if (std::string(device_provider(device)) == "ExampleKernelExecutionProvider") devices.push_back(device);
  }
  ASSERT_FALSE(devices.empty());
  EXPECT_STRNE(device_provider_vendor(devices[0]), "");
  EXPECT_GE(hardware_type(devices[0]), 0);
  options = create_session_options(status);
  add_session_setting(options, "session.record_ep_graph_assignment_info", "1", status);
  OrtKeyValuePairs* settings = create_settings();
  append_provider_devices(options, environment, devices.data(), 1, settings, status);
  release_settings(settings);
  open("add");
  EXPECT_EQ(take(node_assignments(session, status))[0], "ExampleKernelExecutionProvider");
  const OrtMemoryInfo* memory = device_memory(devices[0], 0);
  if (memory) {
    const int64_t shape[] = {2};
    OrtValue* there = tensor_on_device(environment, memory, shape, 1, 1, status);
    OrtValue *here = floats({3, 4}), *back = floats({0, 0});
    copy_tensor(environment, here, there, status);
    copy_tensor(environment, there, back, status);
    EXPECT_EQ(floats_of(back), (std::vector<float>{3, 4}));
    read_tensor(there, nullptr, 8, status);
    EXPECT_NE(status.message(), "");
    for (OrtValue* made : {there, here, back}) release_value(made);
  }
  EXPECT_EQ(device_at(environment, 1000, status), nullptr);
  EXPECT_EQ(status.message(), "there is no device of that index");
}

TEST_F(Calls, TerminateEndsARun) {
  open("endless");
  TextList *inputs = input_names(session, status), *outputs = output_names(session, status);
  OrtRunOptions* run = create_run_options(status);
  OrtValue *value = floats({0}), *result = nullptr;
  Status canceller_status;
  std::thread canceller([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    set_terminate(run, 1, canceller_status);
  });
  run_session(session, run, inputs, nullptr, 0, &value, 1, outputs, nullptr, 0, &result, 1, status);
  canceller.join();
  EXPECT_NE(status.message(), "");
  EXPECT_EQ(result, nullptr);
  release_value(value);
  release_run_options(run);
  release_texts(inputs);
  release_texts(outputs);
}

TEST_F(Calls, Bindings) {
  open("add");
  OrtIoBinding* binding = create_binding(session, status);
  OrtValue *a = floats({1, 2}), *b = floats({3, 4}), *sum = floats({0, 0});
  bind_input(binding, "a", a, status);
  bind_input(binding, "b", b, status);
  bind_output(binding, "sum", sum, status);
  bind_output_to_memory(binding, "scaled", output_memory(session, 1, status), status);
  run_binding(session, nullptr, binding, status);
  synchronize_outputs(binding, status);
  EXPECT_EQ(floats_of(sum), (std::vector<float>{4, 6}));
  EXPECT_EQ(take(bound_output_names(binding, status)), (std::vector<std::string>{"sum", "scaled"}));
  OrtValue* outputs[2] = {};
  EXPECT_EQ(bound_outputs(binding, outputs, 1, status), 2u);
  EXPECT_EQ(outputs[1], nullptr);
  release_value(outputs[0]);
  bound_outputs(binding, outputs, 2, status);
  EXPECT_EQ(floats_of(outputs[1]), (std::vector<float>{8, 12}));
  clear_bound_outputs(binding);
  EXPECT_TRUE(take(bound_output_names(binding, status)).empty());
  for (OrtValue* made : {a, b, sum, outputs[0], outputs[1]}) release_value(made);
  release_binding(binding);
}

void collect(void* lines, OrtLoggingLevel, const char*, const char*, const char*, const char* message) {
  static_cast<std::vector<std::string>*>(lines)->push_back(message);
}

TEST_F(Calls, LogsGoToTheCallback) {
  release_environment(environment);
  std::vector<std::string> lines;
  environment = create_environment(ORT_LOGGING_LEVEL_VERBOSE, "calls", collect, &lines, 1, 1, 1, 0, status);
  open("add");
  EXPECT_FALSE(lines.empty());
}

TEST_F(Calls, ErrorsHaveCodes) {
  EXPECT_EQ(create_session(environment, "/no/such/model.onnx", nullptr, status), nullptr);
  EXPECT_EQ(status.code(), ORT_NO_SUCHFILE);
  EXPECT_NE(status.message().find("/no/such/model.onnx"), std::string::npos);
  EXPECT_EQ(create_session_from_bytes(environment, "x", 1, nullptr, status), nullptr);
  EXPECT_EQ(status.code(), ORT_INVALID_PROTOBUF);
  status.message();
}

}  // namespace
