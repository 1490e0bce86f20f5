// A language model of two blocks with 4-bit weights through the plugin ABI: its caches stay where they are while tokens
// are decoded, and what the device does in a step is counted.
#include <dlfcn.h>

#include <cmath>
#include <functional>
#include <random>

#include "api/api_test_support.h"

namespace {

constexpr int64_t kVocabulary = 40, kWidth = 64, kInner = 96, kHeads = 4, kKeyHeads = 2, kSize = 16, kBlock = 32;
constexpr int64_t kRoom = 16, kPrompt = 3, kSteps = 8, kBlocks = 2;
constexpr int kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kByte = ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8,
              kInt32 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, kInt64 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64;
const char* const kMicrosoft = "com.microsoft";

/** Writes the model. Block 0 has packed rows that GroupQueryAttention turns, block 1 a RotaryEmbedding of its own. */
class DecoderWriter {
 public:
  std::string bytes() {
    model_.opset_import(kMicrosoft, 1);
    write_inputs();
    write_tables();
    model_.node("Gather", {"table", "ids"}, {"x0"});
    for (int64_t block = 0; block < kBlocks; ++block) write_block(std::to_string(block), std::to_string(block + 1));
    norm("RMSNormalization", "x2", "last");
    product("last", "logits", kWidth, kVocabulary);
    model_.output("logits", kFloat, {"1", "s", std::to_string(kVocabulary)});
    return model_.bytes();
  }

 private:
  std::vector<float> draw(int64_t count, float low, float high) {
    std::uniform_real_distribution<float> uniform(low, high);
    std::vector<float> values(static_cast<size_t>(count));
    for (float& value : values) value = uniform(random_);
    return values;
  }
  void weights(const std::string& name, const std::vector<int64_t>& dims, const std::vector<float>& values) {
    model_.initializer(name, kFloat, dims, values.data(), values.size() * sizeof(float));
  }
  void write_inputs() {
    model_.input("ids", kInt64, {"1", "s"});
    model_.input("positions", kInt64, {"1", "s"});
    model_.input("lengths", kInt32, {"1"});
    model_.input("total", kInt32, {});
  }
  void write_tables() {
    weights("table", {kVocabulary, kWidth}, draw(kVocabulary * kWidth, -1, 1));
    std::vector<float> cosines, sines;
    for (int i = 0; i < kRoom * kSize / 2; ++i) {
      cosines.push_back(std::cos(0.1f * static_cast<float>(i)));
      sines.push_back(std::sin(0.1f * static_cast<float>(i)));
    }
    weights("cosines", {kRoom, kSize / 2}, cosines);
    weights("sines", {kRoom, kSize / 2}, sines);
  }
  void norm(const std::string& op, const std::string& from, const std::string& to) {
    weights(to + "_scale", {kWidth}, draw(kWidth, 0.5f, 1.5f));
    model_.node(op, {from, to + "_scale"}, {to}, ModelWriter::float_attribute("epsilon", 1e-5f));
  }
  void product(const std::string& from, const std::string& to, int64_t inner, int64_t columns) {
    std::vector<uint8_t> codes(static_cast<size_t>(columns * inner / 2));
    for (uint8_t& code : codes) code = static_cast<uint8_t>(random_());
    model_.initializer(to + "_codes", kByte, {columns, inner / kBlock, kBlock / 2}, codes.data(), codes.size());
    weights(to + "_scales", {columns * inner / kBlock}, draw(columns * inner / kBlock, 0.01f, 0.04f));
    model_.node("MatMulNBits", {from, to + "_codes", to + "_scales"}, {to},
                ModelWriter::int_attribute("K", inner) + ModelWriter::int_attribute("N", columns) +
                    ModelWriter::int_attribute("bits", 4) + ModelWriter::int_attribute("block_size", kBlock),
                kMicrosoft);
  }
  void write_block(const std::string& n, const std::string& next) {
    norm(n == "0" ? "SimplifiedLayerNormalization" : "RMSNormalization", "x" + n, "in" + n);
    write_attention(n);
    product("heads" + n, "mixed" + n, kWidth, kWidth);
    model_.node("Add", {"x" + n, "mixed" + n}, {"y" + n});
    norm("RMSNormalization", "y" + n, "mid" + n);
    product("mid" + n, "gate" + n, kWidth, kInner);
    product("mid" + n, "up" + n, kWidth, kInner);
    model_.node("Sigmoid", {"gate" + n}, {"open" + n});
    model_.node("Mul", {"gate" + n, "open" + n}, {"silu" + n});
    model_.node("Mul", {"silu" + n, "up" + n}, {"inner" + n});
    product("inner" + n, "down" + n, kInner, kWidth);
    model_.node("Add", {"y" + n, "down" + n}, {"x" + next});
  }
  void write_attention(const std::string& n) {
    bool packed = n == "0";
    std::vector<std::string> rows;
    if (packed) {
      product("in" + n, "qkv" + n, kWidth, (kHeads + 2 * kKeyHeads) * kSize);
      rows = {"qkv" + n, "", ""};
    } else {
      for (auto [name, heads] : {std::pair("q", kHeads), {"k", kKeyHeads}, {"v", kKeyHeads}}) {
        product("in" + n, name + n, kWidth, heads * kSize);
        rows.push_back(name + n);
      }
      rows[0] = turned(rows[0], kHeads), rows[1] = turned(rows[1], kKeyHeads);
    }
    for (const char* part : {"key", "value"}) {
      model_.input(std::string("past_") + part + n, kFloat, {"1", std::to_string(kKeyHeads), "p", "16"});
      model_.output(std::string("present_") + part + n, kFloat, {"1", std::to_string(kKeyHeads), "t", "16"});
      rows.push_back(std::string("past_") + part + n);
    }
    rows.insert(rows.end(), {"lengths", "total"});
    if (packed) rows.insert(rows.end(), {"cosines", "sines"});
    model_.node("GroupQueryAttention", rows, {"heads" + n, "present_key" + n, "present_value" + n},
                ModelWriter::int_attribute("num_heads", kHeads) +
                    ModelWriter::int_attribute("kv_num_heads", kKeyHeads) +
                    ModelWriter::int_attribute("do_rotary", packed),
                kMicrosoft);
  }
  std::string turned(const std::string& rows, int64_t heads) {
    model_.node("RotaryEmbedding", {rows, "positions", "cosines", "sines"}, {rows + "_turned"},
                ModelWriter::int_attribute("num_heads", heads), kMicrosoft);
    return rows + "_turned";
  }

  ModelWriter model_{23};
  std::mt19937 random_{5};
};

std::vector<std::string> cache_names(const char* prefix) {
  std::vector<std::string> names;
  for (int64_t block = 0; block < kBlocks; ++block) {
    for (const char* part : {"_key", "_value"}) names.push_back(prefix + std::string(part) + std::to_string(block));
  }
  return names;
}

/** Tokens for one run, and where they stand. */
struct Tokens {
  std::vector<int64_t> ids, positions;
  std::vector<int32_t> lengths, total;

  Tokens(int64_t first, int64_t count) {
    for (int64_t i = 0; i < count; ++i) {
      ids.push_back((first + i) * 7 % kVocabulary);
      positions.push_back(first + i);
    }
    lengths = {static_cast<int32_t>(first + count - 1)}, total = {static_cast<int32_t>(first + count)};
  }
  size_t bytes() const { return 16 * ids.size() + 8; }
};

/** What was counted since the program began: see plugin.cc. */
struct Work {
  int64_t bytes_written, bytes_read, bytes_copied, lists, groups;
};

using Binding = Handle<OrtIoBinding, &OrtApi::ReleaseIoBinding>;

/** A session and its caches, from run to run. */
class Decoder {
 public:
  Decoder(OrtEnv* env, const std::string& model, OrtSessionOptions* options, const OrtMemoryInfo* memory)
      : session_(make_session(env, model, options)), memory_(memory) {
    EXPECT_OK(api().CreateAllocator(session_, memory, allocator_.out()));
    EXPECT_OK(api().CreateIoBinding(session_, binding_.out()));
  }
  /** Caches of that many rows; with `shared` the outputs are written to them. */
  void make_caches(int64_t rows, bool shared) {
    shared_ = shared;
    const int64_t shape[] = {1, kKeyHeads, rows, kSize};
    caches_.clear();
    for (size_t i = 0; i < cache_names("past").size(); ++i) {
      caches_.emplace_back();
      EXPECT_OK(api().CreateTensorAsOrtValue(allocator_, shape, 4, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                             caches_.back().out()));
    }
  }

  std::vector<float> run(Tokens tokens) {
    auto count = static_cast<int64_t>(tokens.ids.size());
    std::vector<float> logits(static_cast<size_t>(count * kVocabulary));
    bind(tokens.ids, "ids", {1, count}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
    bind(tokens.positions, "positions", {1, count}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
    bind(tokens.lengths, "lengths", {1}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32);
    bind(tokens.total, "total", {}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32);
    Value result = floats(logits, {1, count, kVocabulary});
    api().ClearBoundOutputs(binding_);
    EXPECT_OK(api().BindOutput(binding_, "logits", result));
    bind_caches();
    EXPECT_OK(api().RunWithBinding(session_, nullptr, binding_));
    if (!shared_) take_caches();
    return logits;
  }

  /** The first `rows` rows of each head of all caches. */
  std::vector<float> cached(OrtEnv* env, int64_t rows) {
    std::vector<float> all;
    for (Value& cache : caches_) {
      std::vector<int64_t> shape = shape_of(cache);
      std::vector<float> data(static_cast<size_t>(shape[1] * shape[2] * kSize));
      Value host = floats(data, shape);
      const OrtValue* from = cache;
      OrtValue* to = host;
      EXPECT_OK(api().CopyTensors(env, &from, &to, nullptr, 1));
      for (int64_t head = 0; head < shape[1]; ++head) {
        auto first = data.begin() + head * shape[2] * kSize;
        all.insert(all.end(), first, first + rows * kSize);
      }
    }
    return all;
  }

 private:
  template <class T>
  void bind(std::vector<T>& data, const char* name, std::vector<int64_t> shape, ONNXTensorElementDataType type) {
    Value value = tensor_around(data, std::move(shape), type);
    EXPECT_OK(api().BindInput(binding_, name, value));
  }
  void bind_caches() {
    std::vector<std::string> past = cache_names("past"), present = cache_names("present");
    for (size_t i = 0; i < caches_.size(); ++i) {
      EXPECT_OK(api().BindInput(binding_, past[i].c_str(), caches_[i]));
      if (shared_) {
        EXPECT_OK(api().BindOutput(binding_, present[i].c_str(), caches_[i]));
      } else {
        EXPECT_OK(api().BindOutputToDevice(binding_, present[i].c_str(), memory_));
      }
    }
  }
  void take_caches() {
    OrtValue** values = nullptr;
    size_t count = 0;
    EXPECT_OK(api().GetBoundOutputValues(binding_, default_allocator(), &values, &count));
    ASSERT_EQ(count, caches_.size() + 1);
    api().ReleaseValue(values[0]);
    for (size_t i = 0; i < caches_.size(); ++i) caches_[i] = Value(values[i + 1]);
    EXPECT_OK(api().AllocatorFree(default_allocator(), values));
  }

  Session session_;
  const OrtMemoryInfo* memory_;
  Handle<OrtAllocator, &OrtApi::ReleaseAllocator> allocator_;
  Binding binding_;
  std::vector<Value> caches_;
  bool shared_ = false;
};

struct Plugin {
  const char* name;
  const char* path;
};

class Decode : public ::testing::TestWithParam<Plugin> {
 protected:
  void SetUp() override {
    ASSERT_OK(api().RegisterExecutionProviderLibrary(env_, GetParam().name, GetParam().path));
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    ASSERT_OK(api().GetEpDevices(env_, &devices, &count));
    for (size_t i = 0; i < count && device_ == nullptr; ++i) {
      if (std::strstr(api().EpDevice_EpName(devices[i]), GetParam().name) != nullptr) device_ = devices[i];
    }
    ASSERT_NE(device_, nullptr) << "there is no device";
    ASSERT_OK(api().CreateSessionOptions(options_.out()));
    ASSERT_OK(api().AddSessionConfigEntry(options_, "session.disable_cpu_ep_fallback", "1"));
    ASSERT_OK(api().SessionOptionsAppendExecutionProvider_V2(options_, env_, &device_, 1, nullptr, nullptr, 0));
    void* library = dlopen(GetParam().path, RTLD_NOW | RTLD_NOLOAD);
    ASSERT_NE(library, nullptr);
    work_ = reinterpret_cast<void (*)(Work*)>(dlsym(library, "TestDeviceWork"));
  }
  Decoder on_device() {
    return {env_, model_, options_, api().EpDevice_MemoryInfo(device_, OrtDeviceMemoryType_DEFAULT)};
  }
  /** What the device did in `run`; zeros where it does not count. */
  Work counted(const std::function<void()>& run) {
    Work before{}, after{};
    if (work_ != nullptr) work_(&before);
    run();
    if (work_ != nullptr) work_(&after);
    return {after.bytes_written - before.bytes_written, after.bytes_read - before.bytes_read,
            after.bytes_copied - before.bytes_copied, after.lists - before.lists, after.groups - before.groups};
  }
  void expect_near(const std::vector<float>& actual, const std::vector<float>& wanted) {
    ASSERT_EQ(actual.size(), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) ASSERT_NEAR(actual[i], wanted[i], 2e-4f) << "element " << i;
  }

  Env env_ = make_env();
  std::string model_ = DecoderWriter().bytes();
  const OrtEpDevice* device_ = nullptr;
  SessionOptions options_;
  void (*work_)(Work*) = nullptr;
  MemoryInfo cpu_memory_ = cpu_memory();
  Decoder reference_{env_, model_, nullptr, cpu_memory_};
};

constexpr int64_t kErrorWord = 4;  // that each run reads from the device

TEST_P(Decode, TheCacheStaysInItsPlace) {
  Decoder decoder = on_device();
  decoder.make_caches(kRoom, true);
  reference_.make_caches(0, false);
  expect_near(decoder.run({0, kPrompt}), reference_.run({0, kPrompt}));
  Work second{};
  for (int64_t step = 0; step < kSteps; ++step) {
    SCOPED_TRACE(step);
    Tokens tokens(kPrompt + step, 1);
    std::vector<float> logits;
    Work work = counted([&] { logits = decoder.run(tokens); });
    expect_near(logits, reference_.run(tokens));
    if (work_ == nullptr) continue;
    EXPECT_EQ(work.bytes_read, kVocabulary * 4 + kErrorWord);
    EXPECT_EQ(work.bytes_written, static_cast<int64_t>(tokens.bytes()));
    EXPECT_EQ(work.bytes_copied, 0);
    if (step <= 1) second = work;
    if (step > 0) {
      EXPECT_EQ(work.lists, 0) << "commands are recorded once";
      EXPECT_EQ(work.groups, second.groups);
    }
  }
  expect_near(decoder.cached(env_, kPrompt + kSteps), reference_.cached(env_, kPrompt + kSteps));
}

TEST_P(Decode, ACacheThatGrowsStaysOnTheDevice) {
  Decoder decoder = on_device();
  decoder.make_caches(0, false);
  reference_.make_caches(0, false);
  expect_near(decoder.run({0, kPrompt}), reference_.run({0, kPrompt}));
  for (int64_t step = 0; step < kSteps; ++step) {
    SCOPED_TRACE(step);
    Tokens tokens(kPrompt + step, 1);
    std::vector<float> logits;
    Work work = counted([&] { logits = decoder.run(tokens); });
    expect_near(logits, reference_.run(tokens));
    if (work_ == nullptr) continue;
    EXPECT_EQ(work.bytes_read, kVocabulary * 4 + kErrorWord);
    EXPECT_EQ(work.lists, 1) << "each length is recorded";
  }
  expect_near(decoder.cached(env_, kPrompt + kSteps), reference_.cached(env_, kPrompt + kSteps));
}

INSTANTIATE_TEST_SUITE_P(Devices, Decode,
                         ::testing::Values(Plugin{"TestDevice", TESTDEVICE_PLUGIN}, Plugin{"CUDA", CUDA_PLUGIN},
                                           Plugin{"OpenCL", OPENCL_PLUGIN}, Plugin{"Vulkan", VULKAN_PLUGIN}),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
