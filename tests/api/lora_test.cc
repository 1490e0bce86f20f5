// LoRA adapters: reading them, feeding their parameters, and files that are no adapters.
#include <cstdio>
#include <fstream>
#include <random>

#include "api_test_support.h"

namespace {

using Adapter = Handle<OrtLoraAdapter, &OrtApi::ReleaseLoraAdapter>;

struct Parameter {
  std::string name;
  int type;
  std::vector<int64_t> dims;
  std::string data;
};

std::string bytes_of(const std::vector<float>& values) {
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

/** Writes an adapter as a FlatBuffer: tables with all their fields, each part behind what refers to it. */
class AdapterWriter {
 public:
  std::string write(const std::vector<Parameter>& parameters, int format = 1, const std::string& mark = "TORT") {
    bytes_.assign(8, '\0');
    bytes_.replace(4, 4, mark);
    size_t root = table();
    refer(0, root);
    set<int32_t>(root + 4, format);
    size_t list = vector(root + 16, parameters.size(), 4, 4);
    for (size_t i = 0; i < parameters.size(); ++i) write_parameter(parameters[i], list + 4 * i);
    return bytes_;
  }

 private:
  template <class T>
  void set(size_t at, T value) {
    std::memcpy(&bytes_[at], &value, sizeof value);
  }
  void refer(size_t at, size_t target) { set(at, static_cast<uint32_t>(target - at)); }
  size_t append(size_t count, size_t alignment, size_t before = 0) {
    while ((bytes_.size() + before) % alignment != 0) bytes_ += '\0';
    bytes_.append(count + before, '\0');
    return bytes_.size() - count - before;
  }
  /** A table of four fields of four bytes, behind its description. */
  size_t table() {
    size_t description = append(12, 2);
    const uint16_t numbers[] = {12, 20, 4, 8, 12, 16};
    for (size_t i = 0; i < 6; ++i) set(description + 2 * i, numbers[i]);
    size_t at = append(20, 4);
    set(at, static_cast<int32_t>(at - description));
    return at;
  }
  /** A vector that the field at `from` refers to; the place of its items. */
  size_t vector(size_t from, size_t count, size_t item, size_t alignment) {
    size_t at = append(count * item, alignment, 4);
    refer(from, at);
    set(at, static_cast<uint32_t>(count));
    return at + 4;
  }
  void write_parameter(const Parameter& parameter, size_t entry) {
    size_t at = table();
    refer(entry, at);
    set<int32_t>(at + 12, parameter.type);
    bytes_.replace(vector(at + 4, parameter.name.size(), 1, 4), parameter.name.size(), parameter.name);
    size_t dims = vector(at + 8, parameter.dims.size(), 8, 8);
    for (size_t i = 0; i < parameter.dims.size(); ++i) set(dims + 8 * i, parameter.dims[i]);
    bytes_.replace(vector(at + 16, parameter.data.size(), 1, 8), parameter.data.size(), parameter.data);
  }

  std::string bytes_;
};

std::string adapter_bytes(const std::vector<Parameter>& parameters) { return AdapterWriter().write(parameters); }

Adapter make_adapter(const std::string& bytes) {
  Adapter adapter;
  EXPECT_OK(api().CreateLoraAdapterFromArray(bytes.data(), bytes.size(), nullptr, adapter.out()));
  return adapter;
}

OrtStatus* status_for(const std::string& bytes) {
  Adapter adapter;
  return api().CreateLoraAdapterFromArray(bytes.data(), bytes.size(), nullptr, adapter.out());
}

/** y of add_model for x = [1, 2], with the adapters in the run's options; the caller gives w where asked to. */
class Runner {
 public:
  OrtStatus* run(const std::vector<const OrtLoraAdapter*>& adapters, std::vector<float>* y, bool give_w = false) {
    RunOptions options;
    EXPECT_OK(api().CreateRunOptions(options.out()));
    for (const auto* adapter : adapters) EXPECT_OK(api().RunOptionsAddActiveLoraAdapter(options, adapter));
    std::vector<float> x{1, 2}, w{5, 6};
    Value given_x = floats(x, {1, 2}), given_w = floats(w, {2});
    const char* names[] = {"x", "w"};
    const OrtValue* inputs[] = {given_x, given_w};
    const char* output = "y";
    Value result;
    OrtStatus* status = api().Run(session_, options, names, inputs, give_w ? 2 : 1, &output, 1, result.out());
    if (status == nullptr) *y = content<float>(result);
    return status;
  }

 private:
  Env env_ = make_env();
  Session session_ = make_session(env_, add_model().bytes());
};

TEST(LoraAdapter, ParametersReplaceInitializers) {
  Runner runner;
  std::vector<float> y;
  Adapter adapter = make_adapter(adapter_bytes({{"w", 1, {2}, bytes_of({100, 200})}}));
  EXPECT_OK(runner.run({}, &y));
  EXPECT_EQ(y, (std::vector<float>{11, 22}));
  EXPECT_OK(runner.run({adapter}, &y));
  EXPECT_EQ(y, (std::vector<float>{101, 202}));
  EXPECT_OK(runner.run({make_adapter(adapter_bytes({}))}, &y));
  EXPECT_EQ(y, (std::vector<float>{11, 22}));
}

TEST(LoraAdapter, WinsOverTheCallerAndOverEarlierOnes) {
  Runner runner;
  std::vector<float> y;
  Adapter first = make_adapter(adapter_bytes({{"w", 1, {2}, bytes_of({100, 200})}}));
  Adapter second = make_adapter(adapter_bytes({{"w", 1, {2}, bytes_of({1000, 2000})}}));
  EXPECT_OK(runner.run({first}, &y, /*give_w=*/true));
  EXPECT_EQ(y, (std::vector<float>{101, 202}));
  EXPECT_OK(runner.run({first, second}, &y));
  EXPECT_EQ(y, (std::vector<float>{1001, 2002}));
}

TEST(LoraAdapter, ComesFromAFile) {
  std::string path = ::testing::TempDir() + "lora_test.onnx_adapter";
  std::ofstream(path, std::ios::binary) << adapter_bytes({{"w", 1, {2}, bytes_of({100, 200})}});
  Adapter adapter;
  EXPECT_OK(api().CreateLoraAdapter(path.c_str(), nullptr, adapter.out()));
  std::remove(path.c_str());
  std::vector<float> y;
  EXPECT_OK(Runner().run({adapter}, &y));
  EXPECT_EQ(y, (std::vector<float>{101, 202}));
}

TEST(LoraAdapter, ParametersAreCheckedLikeInputs) {
  Runner runner;
  std::vector<float> y;
  Adapter unknown = make_adapter(adapter_bytes({{"q", 1, {2}, bytes_of({1, 2})}}));
  EXPECT_REFUSED(runner.run({unknown}, &y), ORT_INVALID_ARGUMENT, "'q'");
  Adapter long_one = make_adapter(adapter_bytes({{"w", 1, {3}, bytes_of({1, 2, 3})}}));
  EXPECT_REFUSED(runner.run({long_one}, &y), ORT_INVALID_ARGUMENT, "[3]");
  Adapter doubles = make_adapter(adapter_bytes({{"w", 11, {2}, std::string(16, '\0')}}));
  EXPECT_REFUSED(runner.run({doubles}, &y), ORT_INVALID_ARGUMENT, "double");
}

TEST(LoraAdapter, WrongFilesAreRefused) {
  EXPECT_REFUSED(status_for("abc"), ORT_FAIL, "no adapter");
  EXPECT_REFUSED(status_for(""), ORT_FAIL, "no adapter");
  EXPECT_REFUSED(status_for(AdapterWriter().write({}, 1, "XXXX")), ORT_FAIL, "TORT");
  EXPECT_REFUSED(status_for(AdapterWriter().write({}, 2)), ORT_FAIL, "version 2");
  EXPECT_REFUSED(status_for(AdapterWriter().write({}, 0)), ORT_FAIL, "version 0");
  EXPECT_REFUSED(status_for(adapter_bytes({{"w", 1, {3}, bytes_of({1, 2})}})), ORT_FAIL, "needs 12");
  EXPECT_REFUSED(status_for(adapter_bytes({{"w", 1, {}, bytes_of({1})}})), ORT_FAIL, "0 dimensions");
  EXPECT_REFUSED(status_for(adapter_bytes({{"w", 8, {2}, bytes_of({1, 2})}})), ORT_FAIL, "element type 8");
  EXPECT_REFUSED(status_for(adapter_bytes({{"w", 99, {2}, bytes_of({1, 2})}})), ORT_FAIL, "element type 99");
  EXPECT_REFUSED(status_for(adapter_bytes({{"w", 1, {-2}, bytes_of({1, 2})}})), ORT_INVALID_ARGUMENT, "-2");
  EXPECT_REFUSED(status_for(adapter_bytes({{"w", 1, {INT64_MAX, 4}, bytes_of({1, 2})}})), ORT_INVALID_ARGUMENT,
                 "overflow");
  std::string bytes = adapter_bytes({});
  Adapter adapter;
  EXPECT_REFUSED(api().CreateLoraAdapterFromArray(bytes.data(), bytes.size(), default_allocator(), adapter.out()),
                 ORT_FAIL, "allocator of a device");
  EXPECT_REFUSED(api().CreateLoraAdapter("/nonexistent/x.onnx_adapter", nullptr, adapter.out()), ORT_NO_SUCHFILE,
                 "x.onnx_adapter");
  RunOptions options;
  EXPECT_OK(api().CreateRunOptions(options.out()));
  EXPECT_REFUSED(api().RunOptionsAddActiveLoraAdapter(options, nullptr), ORT_INVALID_ARGUMENT, "adapter");
}

/** Bytes changed at random are refused or read; they never harm. */
TEST(LoraAdapter, DamagedBytesAreHarmless) {
  const std::string whole = adapter_bytes({{"w", 1, {2}, bytes_of({1, 2})}, {"v", 11, {1}, std::string(8, 'x')}});
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  int refused_ones = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string bytes = whole.substr(0, round % 4 == 0 ? random() % whole.size() : whole.size());
    for (int i = 0; i < 3 && !bytes.empty(); ++i) bytes[random() % bytes.size()] = static_cast<char>(random());
    OrtStatus* status = status_for(bytes);
    refused_ones += status != nullptr;
    api().ReleaseStatus(status);
  }
  EXPECT_GT(refused_ones, 1000);
}

}  // namespace
