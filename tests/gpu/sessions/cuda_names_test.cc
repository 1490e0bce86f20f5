// The CUDA provider under the names that ONNX Runtime's has: its options, streams that others made, memory that others
// made. Where another provider is tested, there is nothing to test.
#include <array>
#include <numeric>

#include "tested_provider.h"

namespace {

using Binding = Handle<OrtIoBinding, &OrtApi::ReleaseIoBinding>;

/** NVIDIA's driver, as a program that uses CUDA itself has it; a stand-in. */
class Driver {
 public:
  Driver() : library_(dlopen(std::getenv("ORTOLAN_LIBCUDA"), RTLD_NOW | RTLD_LOCAL)) {
    void* context = nullptr;
    EXPECT_EQ(call("cuInit", 0u), 0);
    EXPECT_EQ(call("cuDevicePrimaryCtxRetain", &context, 0), 0);
    EXPECT_EQ(call("cuCtxPushCurrent_v2", context), 0);
  }
  ~Driver() {
    void* context = nullptr;
    call("cuCtxPopCurrent_v2", &context);
  }
  template <class... Arguments>
  int call(const char* name, Arguments... arguments) {
    return reinterpret_cast<int (*)(Arguments...)>(dlsym(library_, name))(arguments...);
  }
  void* stream() {
    void* made = nullptr;
    EXPECT_EQ(call("cuStreamCreate", &made, 1u), 0);
    return made;
  }
  uint64_t work_of(void* stream) {
    return reinterpret_cast<uint64_t (*)(void*)>(dlsym(library_, "standin_work_of"))(stream);
  }

 private:
  void* library_;
};

/** Floats in memory that the driver gave. */
class DriverFloats {
 public:
  DriverFloats(Driver& driver, std::vector<float> values)
      : driver_(driver), stream_(driver.stream()), values_(std::move(values)) {
    EXPECT_EQ(driver_.call("cuMemAlloc_v2", &address_, bytes()), 0);
    EXPECT_EQ(driver_.call("cuMemcpyHtoDAsync_v2", address_, values_.data(), bytes(), stream_), 0);
    EXPECT_EQ(driver_.call("cuStreamSynchronize", stream_), 0);
  }
  ~DriverFloats() {
    driver_.call("cuMemFree_v2", address_);
    driver_.call("cuStreamDestroy_v2", stream_);
  }
  DriverFloats(const DriverFloats&) = delete;
  DriverFloats& operator=(const DriverFloats&) = delete;
  size_t bytes() const { return values_.size() * sizeof(float); }
  std::vector<float> read() {
    EXPECT_EQ(driver_.call("cuMemcpyDtoHAsync_v2", values_.data(), address_, bytes(), stream_), 0);
    EXPECT_EQ(driver_.call("cuStreamSynchronize", stream_), 0);
    return values_;
  }
  /** Elements from `first` on as a tensor. */
  Value tensor(const OrtMemoryInfo* memory, size_t first, const std::vector<int64_t>& shape) {
    Value made;
    size_t count = std::accumulate(shape.begin(), shape.end(), size_t{1}, std::multiplies<>());
    EXPECT_OK(api().CreateTensorWithDataAsOrtValue(memory, reinterpret_cast<void*>(address_ + first * sizeof(float)),
                                                   count * sizeof(float), shape.data(), shape.size(),
                                                   ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, made.out()));
    return made;
  }

 private:
  Driver& driver_;
  void* stream_;
  std::vector<float> values_;
  unsigned long long address_ = 0;
};

class CudaNames : public ::testing::Test {
 protected:
  void SetUp() override {
    if (provider_.metadata("device").find("stand-in") == std::string::npos) GTEST_SKIP() << "this is not CUDA";
  }
  void expect_same(const std::vector<float>& got) {
    std::vector<float> wanted = run(provider_.cpu_session());
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); i++) EXPECT_NEAR(got[i], wanted[i], 1e-4f);
  }
  Provider provider_;
};

TEST_F(CudaNames, OptionsWithTheDefaultsThatAreThere) {
  expect_same(run(provider_.session({{"device_id", "0"},
                                     {"gpu_mem_limit", "18446744073709551615"},
                                     {"arena_extend_strategy", "kNextPowerOfTwo"},
                                     {"cudnn_conv_algo_search", "EXHAUSTIVE"},
                                     {"do_copy_in_default_stream", "1"},
                                     {"cudnn_conv_use_max_workspace", "1"},
                                     {"cudnn_conv1d_pad_to_nc1d", "0"},
                                     {"enable_cuda_graph", "0"},
                                     {"enable_skip_layer_norm_strict_mode", "0"},
                                     {"prefer_nhwc", "0"},
                                     {"use_ep_level_unified_stream", "0"},
                                     {"use_tf32", "1"},
                                     {"fuse_conv_bias", "0"},
                                     {"sdpa_kernel", "0"},
                                     {"tunable_op_enable", "0"},
                                     {"tunable_op_tuning_enable", "0"},
                                     {"tunable_op_max_tuning_duration_ms", "0"},
                                     {"has_user_compute_stream", "0"},
                                     {"user_compute_stream", "0"}})));
}

TEST_F(CudaNames, OptionsThatMakeNoSense) {
  auto expect_refused = [&](const char* key, const char* value, const std::string& part) {
    Session session;
    EXPECT_REFUSED(provider_.create(session, {{key, value}}), ORT_INVALID_ARGUMENT, part);
  };
  expect_refused("device_id", "7", "option device is '7'");
  expect_refused("device_id", "x", "option device_id is 'x', it must be a number from 0");
  expect_refused("gpu_mem_limit", "-1", "it must be a number from 0");
  expect_refused("arena_extend_strategy", "k", "it must be kNextPowerOfTwo or kSameAsRequested");
  expect_refused("cudnn_conv_algo_search", "FAST", "it must be EXHAUSTIVE, HEURISTIC or DEFAULT");
  expect_refused("use_tf32", "yes", "it must be 0 or 1");
  expect_refused("user_compute_stream", "0x10", "it must be the number of a CUstream's address");
  expect_refused("colour", "blue", "there is no option colour, which is set to 'blue'; there are device, precision");
}

TEST_F(CudaNames, ProductsThatMayRound) {
  for (const char* tf32 : {"0", "1"})
    expect_same(run(provider_.session({{"use_tf32", tf32}, {"products", "library"}})));
  expect_same(run(provider_.session({{"precision", "tf32"}, {"products", "library"}})));
}

TEST_F(CudaNames, OwnNamesCountForMore) {
  Session session;
  EXPECT_REFUSED(provider_.create(session, {{"device", "9"}, {"device_id", "0"}}), ORT_INVALID_ARGUMENT,
                 "option device is '9'");
}

TEST_F(CudaNames, AMemoryLimitEndsInAStatus) {
  Session session;
  OrtStatus* status = provider_.create(session, {{"gpu_mem_limit", "8"}});
  if (status == nullptr) {
    std::vector<float> pixels(64);
    Value image = floats(pixels, {1, 1, 8, 8}), probabilities;
    const char *in = "image", *out = "probabilities";
    const OrtValue* inputs[] = {image};
    status = api().Run(session, nullptr, &in, inputs, 1, &out, 1, probabilities.out());
  }
  ASSERT_NE(status, nullptr);
  api().ReleaseStatus(status);
}

TEST_F(CudaNames, RunsGoToTheCallersStream) {
  Driver driver;
  void* stream = driver.stream();
  {
    Session session = provider_.session({{"has_user_compute_stream", "1"},
                                         {"user_compute_stream", std::to_string(reinterpret_cast<uintptr_t>(stream))}});
    uint64_t before = driver.work_of(stream);
    expect_same(run(session));
    EXPECT_GT(driver.work_of(stream), before + 2);
  }
  EXPECT_EQ(driver.call("cuStreamSynchronize", stream), 0);  // it is the caller's still
  EXPECT_EQ(driver.call("cuStreamDestroy_v2", stream), 0);
}

TEST_F(CudaNames, TensorsInMemoryOfOthers) {
  Driver driver;
  std::vector<float> pixels(128);
  for (size_t i = 0; i < 64; i++) pixels[i] = pixels[64 + i] = static_cast<float>(i % 7) / 7;
  MemoryInfo memory;
  EXPECT_OK(api().CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, memory.out()));
  Session session = provider_.session();
  for (size_t first : {size_t{0}, size_t{64}, size_t{3}}) {  // at a whole block, at a step of kernels, at none
    DriverFloats images(driver, [&] {
      std::vector<float> values(first, 9.0f);
      values.insert(values.end(), pixels.begin(), pixels.begin() + 64);
      return values;
    }());
    DriverFloats results(driver, std::vector<float>(first + 10, -1.0f));
    Value image = images.tensor(memory, first, {1, 1, 8, 8}), result = results.tensor(memory, first, {1, 10});
    Binding binding;
    EXPECT_OK(api().CreateIoBinding(session, binding.out()));
    EXPECT_OK(api().BindInput(binding, "image", image));
    EXPECT_OK(api().BindOutput(binding, "probabilities", result));
    for (int i = 0; i < 3; i++) EXPECT_OK(api().RunWithBinding(session, nullptr, binding));
    std::vector<float> read = results.read();
    EXPECT_EQ(std::vector<float>(read.begin(), read.begin() + first), std::vector<float>(first, -1.0f));
    expect_same({read.begin() + first, read.end()});
  }
}

TEST_F(CudaNames, OutputsLieWhereTheDriverFindsThem) {
  Driver driver;
  MemoryInfo memory;
  EXPECT_OK(api().CreateMemoryInfo("Cuda", OrtDeviceAllocator, 0, OrtMemTypeDefault, memory.out()));
  Session session = provider_.session();
  std::vector<float> pixels(64);
  for (size_t i = 0; i < pixels.size(); i++) pixels[i] = static_cast<float>(i % 7) / 7;
  Value image = floats(pixels, {1, 1, 8, 8});
  Binding binding;
  EXPECT_OK(api().CreateIoBinding(session, binding.out()));
  EXPECT_OK(api().BindInput(binding, "image", image));
  EXPECT_OK(api().BindOutputToDevice(binding, "probabilities", memory));
  EXPECT_OK(api().RunWithBinding(session, nullptr, binding));
  OrtValue** outputs = nullptr;
  size_t count = 0;
  EXPECT_OK(api().GetBoundOutputValues(binding, default_allocator(), &outputs, &count));
  ASSERT_EQ(count, 1u);
  void* address = nullptr;
  EXPECT_OK(api().GetTensorMutableData(outputs[0], &address));
  std::vector<float> read(10);
  void* stream = driver.stream();
  EXPECT_EQ(driver.call("cuMemcpyDtoHAsync_v2", read.data(), reinterpret_cast<unsigned long long>(address), size_t{40},
                        stream),
            0);
  EXPECT_EQ(driver.call("cuStreamSynchronize", stream), 0);
  EXPECT_EQ(driver.call("cuStreamDestroy_v2", stream), 0);
  expect_same(read);
  api().ReleaseValue(outputs[0]);
  EXPECT_OK(api().AllocatorFree(default_allocator(), outputs));
}

}  // namespace
