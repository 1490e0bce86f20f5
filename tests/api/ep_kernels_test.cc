// Kernels from a plugin's registry in sessions: look-up, placement, packed weights, aliases, control flow on the
// device.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "ep_test_support.h"
#include "kernel_plugin/counters.h"

namespace {

constexpr int kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kInt64 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64,
              kBool = ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL;

/** An environment with the plugin, and what it counts. */
class KernelPlugin : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK(api().RegisterExecutionProviderLibrary(env_, "kernel_tests", KERNEL_PLUGIN));
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    ASSERT_OK(api().GetEpDevices(env_, &devices, &count));
    for (size_t i = 0; i < count; ++i) {
      if (std::string(api().EpDevice_EpName(devices[i])) == "KernelTestProvider") device_ = devices[i];
    }
    ASSERT_NE(device_, nullptr);
    const char* address = api().GetKeyValue(api().EpDevice_EpMetadata(device_), kKernelCountersKey);
    ASSERT_NE(address, nullptr);
    counters_ = reinterpret_cast<KernelCounters*>(std::strtoull(address, nullptr, 10));
    counters_->computed = counters_->packed = counters_->concatenated = counters_->transposed = 0;
    counters_->copied = counters_->shared = counters_->shared_again = counters_->misplaced = 0;
  }
  void TearDown() override {
    if (counters_ == nullptr) return;
    EXPECT_EQ(counters_->kernels, 0);
    EXPECT_EQ(counters_->helpers, 0);
    EXPECT_EQ(counters_->profilers, 0);
    EXPECT_EQ(counters_->misplaced, 0);
    EXPECT_OK(api().UnregisterExecutionProviderLibrary(env_, "kernel_tests"));
  }

  SessionOptions options() {
    SessionOptions options;
    EXPECT_OK(api().CreateSessionOptions(options.out()));
    EXPECT_OK(api().SetSessionGraphOptimizationLevel(options, ORT_DISABLE_ALL));
    EXPECT_OK(api().SessionOptionsAppendExecutionProvider_V2(options, env_, &device_, 1, nullptr, nullptr, 0));
    return options;
  }

  /** The model's outputs for the inputs, computed by the plugin where it can. */
  std::vector<std::vector<float>> run(const ModelWriter& model, std::vector<const char*> names,
                                      std::vector<const OrtValue*> inputs, std::vector<const char*> outputs) {
    Session session = make_session(env_, model.bytes(), options());
    std::vector<OrtValue*> values(outputs.size());
    EXPECT_OK(api().Run(session, nullptr, names.data(), inputs.data(), inputs.size(), outputs.data(), outputs.size(),
                        values.data()));
    std::vector<std::vector<float>> results;
    for (OrtValue* value : values) {
      Value owner(value);
      results.push_back(value != nullptr ? content<float>(value) : std::vector<float>());
    }
    return results;
  }

  Env env_ = make_env();
  const OrtEpDevice* device_ = nullptr;
  KernelCounters* counters_ = nullptr;
};

using Floats = std::vector<float>;

void add_constant(ModelWriter& model, const std::string& name, const Floats& values) {
  model.initializer(name, kFloat, {static_cast<int64_t>(values.size())}, values.data(), values.size() * sizeof(float));
}

TEST_F(KernelPlugin, ComputesAndPacksAndAliases) {
  ModelWriter model;
  const int64_t shape[] = {2, 2};
  model.input("x", kFloat, {"4"});
  add_constant(model, "w", {1, 2, 3, 4});
  model.initializer("shape", kInt64, {2}, shape, sizeof shape);
  model.node("Add", {"x", "x"}, {"twice"});
  model.node("Mul", {"twice", "w"}, {"product"});
  model.node("Reshape", {"product", "shape"}, {"matrix"});
  model.node("Add", {"matrix", "matrix"}, {"y"});
  model.output("y", kFloat, {"2", "2"});
  model.output("product", kFloat, {"4"});
  Floats x{1, 2, 3, 4};
  Value input = floats(x, {4});
  auto results = run(model, {"x"}, {input}, {"y", "product"});
  EXPECT_EQ(results[0], (Floats{4, 16, 36, 64}));
  EXPECT_EQ(results[1], (Floats{2, 8, 18, 32}));
  EXPECT_EQ(counters_->computed, 3);
  EXPECT_EQ(counters_->packed, 1);
  EXPECT_EQ(counters_->copied, 0);
}

/** Sessions with one container keep one packed form of equal weights. */
TEST_F(KernelPlugin, PackedWeightsAreShared) {
  ModelWriter model;
  const int64_t shape[] = {2, 2};
  model.input("x", kFloat, {"4"});
  model.initializer("shape", kInt64, {2}, shape, sizeof shape);
  model.node("Add", {"x", "x"}, {"twice"});
  model.node("Reshape", {"twice", "shape"}, {"y"});
  model.output("y", kFloat, {"2", "2"});
  std::string bytes = model.bytes();
  Handle<OrtPrepackedWeightsContainer, &OrtApi::ReleasePrepackedWeightsContainer> container;
  EXPECT_OK(api().CreatePrepackedWeightsContainer(container.out()));
  Session sessions[2];
  for (Session& session : sessions) {
    EXPECT_OK(api().CreateSessionFromArrayWithPrepackedWeightsContainer(env_, bytes.data(), bytes.size(), options(),
                                                                        container, session.out()));
  }
  EXPECT_EQ(counters_->shared, 2);
  EXPECT_EQ(counters_->shared_again, 1);
  Floats x{1, 2, 3, 4};
  Value input = floats(x, {4}), result;
  const char *in = "x", *out = "y";
  const OrtValue* inputs = input;
  EXPECT_OK(api().Run(sessions[1], nullptr, &in, &inputs, 1, &out, 1, result.out()));
  EXPECT_EQ(content<float>(result), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(shape_of(result), (std::vector<int64_t>{2, 2}));
}

TEST_F(KernelPlugin, TypesAndVersionsDecide) {
  ModelWriter model;
  model.input("x", kInt64, {"2"});
  model.node("Add", {"x", "x"}, {"y"});
  model.output("y", kInt64, {"2"});
  std::vector<int64_t> x{1, 2};
  Value input = tensor_around(x, {2}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  run(model, {"x"}, {input}, {"y"});
  EXPECT_EQ(counters_->computed, 0);

  ModelWriter old(8);  // Mul of version 7: the plugin has kernels for 13 and 14
  old.input("x", kFloat, {"2"});
  old.node("Mul", {"x", "x"}, {"y"});
  old.output("y", kFloat, {"2"});
  Floats values{1, 2};
  Value given = floats(values, {2});
  EXPECT_EQ(run(old, {"x"}, {given}, {"y"})[0], (Floats{1, 4}));
  EXPECT_EQ(counters_->computed, 0);
}

TEST_F(KernelPlugin, AMakerThatGivesNothingFailsTheSession) {
  ModelWriter model;
  model.input("x", kFloat, {"2"});
  model.node("Neg", {"x"}, {"y"});
  model.output("y", kFloat, {"2"});
  std::string bytes = model.bytes();
  Session session;
  EXPECT_REFUSED(api().CreateSessionFromArray(env_, bytes.data(), bytes.size(), options(), session.out()), ORT_FAIL,
                 "NULL");
}

/** y = condition ? x + w : x * x. */
ModelWriter if_model() {
  ModelWriter yes, no, model;
  yes.node("Add", {"x", "w"}, {"sum"});
  yes.output("sum", kFloat, {"2"});
  no.node("Mul", {"x", "x"}, {"square"});
  no.output("square", kFloat, {"2"});
  model.input("condition", kBool, {});
  model.input("x", kFloat, {"2"});
  add_constant(model, "w", {10, 20});
  model.node("If", {"condition"}, {"y"},
             ModelWriter::graph_attribute("then_branch", yes) + ModelWriter::graph_attribute("else_branch", no));
  model.output("y", kFloat, {"2"});
  return model;
}

TEST_F(KernelPlugin, IfRunsOnTheDevice) {
  Floats x{1, 2};
  Value input = floats(x, {2});
  for (bool yes : {true, false}) {
    bool flag[1] = {yes};
    Value condition;
    EXPECT_OK(api().CreateTensorWithDataAsOrtValue(cpu_memory(), flag, 1, nullptr, 0,
                                                   ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, condition.out()));
    counters_->computed = 0;
    auto results = run(if_model(), {"condition", "x"}, {condition, input}, {"y"});
    EXPECT_EQ(results[0], yes ? (Floats{11, 22}) : (Floats{1, 4}));
    EXPECT_EQ(counters_->computed, 1);
  }
}

/** Each iteration adds `step` to the state and gives twice the new state as a scan output. */
ModelWriter loop_model() {
  ModelWriter body, model;
  body.input("i", kInt64, {});
  body.input("go_on", kBool, {});
  body.input("state", kFloat, {"2"});
  body.node("Identity", {"go_on"}, {"still"});
  body.node("Add", {"state", "step"}, {"next"});
  body.node("Add", {"next", "next"}, {"twice"});
  body.output("still", kBool, {});
  body.output("next", kFloat, {"2"});
  body.output("twice", kFloat, {"2"});
  model.input("count", kInt64, {});
  model.input("x", kFloat, {"2"});
  add_constant(model, "step", {1, 10});
  model.node("Loop", {"count", "", "x"}, {"last", "all"}, ModelWriter::graph_attribute("body", body));
  model.output("last", kFloat, {"2"});
  model.output("all", kFloat, {"n", "2"});
  return model;
}

TEST_F(KernelPlugin, LoopJoinsItsSlicesOnTheDevice) {
  Floats x{0, 5};
  Value input = floats(x, {2});
  for (int64_t count : {3, 0}) {
    std::vector<int64_t> counts{count};
    Value trips;
    EXPECT_OK(api().CreateTensorWithDataAsOrtValue(cpu_memory(), counts.data(), 8, nullptr, 0,
                                                   ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, trips.out()));
    counters_->computed = counters_->concatenated = 0;
    auto results = run(loop_model(), {"count", "x"}, {trips, input}, {"last", "all"});
    EXPECT_EQ(results[0], count == 3 ? (Floats{3, 35}) : (Floats{0, 5}));
    EXPECT_EQ(results[1], count == 3 ? (Floats{2, 30, 4, 50, 6, 70}) : Floats{});
    EXPECT_EQ(counters_->computed, 2 * count);
    EXPECT_EQ(counters_->concatenated, count == 3 ? 1 : 0);
  }
}

/** The sums of columns so far, last column first; the columns of the output are in the order of the input's. */
ModelWriter scan_model() {
  ModelWriter body, model;
  body.input("sum", kFloat, {"2"});
  body.input("column", kFloat, {"2"});
  body.node("Add", {"sum", "column"}, {"next"});
  body.node("Add", {"next", "zero"}, {"copy"});
  body.output("next", kFloat, {"2"});
  body.output("copy", kFloat, {"2"});
  model.input("start", kFloat, {"2"});
  model.input("x", kFloat, {"2", "3"});
  add_constant(model, "zero", {0});
  model.node("Scan", {"start", "x"}, {"last", "all"},
             ModelWriter::graph_attribute("body", body) + ModelWriter::int_attribute("num_scan_inputs", 1) +
                 ModelWriter::ints_attribute("scan_input_axes", {1}) +
                 ModelWriter::ints_attribute("scan_input_directions", {1}) +
                 ModelWriter::ints_attribute("scan_output_axes", {1}) +
                 ModelWriter::ints_attribute("scan_output_directions", {1}));
  model.output("last", kFloat, {"2"});
  model.output("all", kFloat, {"2", "3"});
  return model;
}

TEST_F(KernelPlugin, ScanTransposesOnTheDevice) {
  Floats start{0, 100}, x{1, 2, 3, 4, 5, 6};
  Value first = floats(start, {2}), second = floats(x, {2, 3});
  auto results = run(scan_model(), {"start", "x"}, {first, second}, {"last", "all"});
  EXPECT_EQ(results[0], (Floats{6, 115}));
  EXPECT_EQ(results[1], (Floats{6, 5, 3, 115, 111, 106}));
  EXPECT_EQ(counters_->computed, 6);
  EXPECT_EQ(counters_->transposed, 2);
}

std::string file_content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(KernelPlugin, AddsItsEventsToProfiles) {
  ModelWriter model;
  model.input("x", kFloat, {"2"});
  model.node("Add", {"x", "x"}, {"y"});
  model.output("y", kFloat, {"2"});
  SessionOptions with_profile = options();
  std::string prefix = ::testing::TempDir() + "ep_kernels_test";
  EXPECT_OK(api().EnableProfiling(with_profile, prefix.c_str()));
  counters_->events_begun = counters_->events_ended = 0;
  std::string path;
  {
    Session session = make_session(env_, model.bytes(), with_profile);
    Floats x{1, 2};
    Value input = floats(x, {2});
    const char *in = "x", *out = "y";
    const OrtValue* inputs = input;
    for (int i = 0; i < 3; ++i) {
      Value result;
      EXPECT_OK(api().Run(session, nullptr, &in, &inputs, 1, &out, 1, result.out()));
    }
    char* name = nullptr;
    EXPECT_OK(api().SessionEndProfiling(session, default_allocator(), &name));
    path = take(name);
  }
  EXPECT_GE(counters_->events_begun, 6);
  EXPECT_EQ(counters_->events_begun, counters_->events_ended);
  std::string trace = file_content(path);
  std::remove(path.c_str());
  EXPECT_NE(trace.find("kernel_test_event"), std::string::npos) << trace;
  size_t seen = trace.find("adds_seen");
  ASSERT_NE(seen, std::string::npos);
  EXPECT_NE(trace.substr(seen, 20).find("\"3\""), std::string::npos) << trace.substr(seen, 20);
}

TEST(ControlFlowKernels, WrongUsesAreRefused) {
  OrtKernelImpl* kernel = nullptr;
  EXPECT_REFUSED(ep_api().CreateIfKernel(nullptr, &kernel), ORT_INVALID_ARGUMENT, "kernel_info");
  OrtLoopKernelHelper loop{};
  OrtScanKernelHelper scan{};
  EXPECT_REFUSED(ep_api().CreateLoopKernel(nullptr, nullptr, &kernel), ORT_INVALID_ARGUMENT, "argument 'helper'");
  EXPECT_REFUSED(ep_api().CreateLoopKernel(nullptr, &loop, &kernel), ORT_INVALID_ARGUMENT, "the helper for Loop lacks");
  EXPECT_REFUSED(ep_api().CreateScanKernel(nullptr, &scan, &kernel), ORT_INVALID_ARGUMENT, "the helper for Scan lacks");
  ep_api().ReleaseKernelImpl(nullptr);
}

}  // namespace
