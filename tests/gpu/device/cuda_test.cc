// What the CUDA backend makes of failures, lies and repetition, on the stand-in driver.
#include <cstdlib>

#include "cuda/compiler.h"
#include "cuda/device.h"
#include "gpu/cuda_device.h"
#include "tested_device.h"

namespace ortolan::gpu {
namespace {

using cuda::find_devices;

template <class... Arguments>
auto standin(const char* name, Arguments... arguments) {
  return reinterpret_cast<int (*)(Arguments...)>(standin_function(name))(arguments...);
}

int calls_of(const char* function) { return standin("standin_calls", function); }

/** While it lives, the driver's function gives the code, after it has worked `works` times. */
class FailingDriver {
 public:
  FailingDriver(const char* function, int code, int works = 0) : function_(function) {
    standin("standin_fail", function, code, works);
  }
  ~FailingDriver() { standin("standin_fail", function_, 0, 0); }
  FailingDriver(const FailingDriver&) = delete;
  FailingDriver& operator=(const FailingDriver&) = delete;

 private:
  const char* function_;
};

/** While it lives, every device says this number of itself. */
class DriverLie {
 public:
  DriverLie(int attribute, int value) : attribute_(attribute) { standin("standin_lie", attribute, value); }
  ~DriverLie() { standin("standin_lie", attribute_, -1); }
  DriverLie(const DriverLie&) = delete;
  DriverLie& operator=(const DriverLie&) = delete;

 private:
  int attribute_;
};

/** While it lives, the environment has another value. */
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name), before_(std::getenv(name) ? std::getenv(name) : "") {
    setenv(name, value, 1);
  }
  ~Variable() { before_.empty() ? unsetenv(name_) : setenv(name_, before_.c_str(), 1); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::string before_;
};

TEST(CudaDriver, ItsAbsenceIsToldWithPackages) {
  Variable file("ORTOLAN_LIBCUDA", "/no/such/libcuda.so.1");
  for (const char* part : {"there is no driver libcuda.so.1", "libcuda1", "libnvidia-compute"}) {
    EXPECT_TRUE(throws(ErrorKind::kNoDevice, part, [] { cuda::load_driver(); }));
  }
}

TEST(CudaDriver, OneThatIsTooOldIsTold) {
  Variable file("ORTOLAN_LIBCUDA", STANDIN_LIBNVRTC);
  EXPECT_TRUE(throws(ErrorKind::kNoDevice, "has no function cuInit: it is older", [] { cuda::load_driver(); }));
}

TEST(CudaDriver, OneWithoutGpuIsTold) {
  open_cuda();
  FailingDriver failure("cuInit", cuda::kNoDevice);
  EXPECT_TRUE(throws(ErrorKind::kNoDevice, "cuInit says CUDA_ERROR_NO_DEVICE (100, no CUDA-capable device",
                     [] { cuda::load_driver(); }));
}

TEST(CudaCompiler, ItsAbsenceIsToldWithPackages) {
  Variable file("ORTOLAN_LIBNVRTC", "/no/such/libnvrtc.so.12");
  for (const char* part : {"NVRTC is missing", "libnvrtc12", "cuda-nvrtc", "nvidia-cuda-nvrtc"}) {
    EXPECT_TRUE(throws(ErrorKind::kNoDevice, part, [] { cuda::Compiler(); }));
  }
  Variable other("ORTOLAN_LIBNVRTC", STANDIN_LIBCUDA);
  EXPECT_TRUE(throws(ErrorKind::kNoDevice, "has no function nvrtcVersion", [] { cuda::Compiler(); }));
}

TEST(CudaCompiler, ChoosesWhatTheGpuRuns) {
  Variable archs("ORTOLAN_STANDIN_ARCHS", "80,52,75");
  open_cuda();
  cuda::Compiler compiler;
  EXPECT_EQ(compiler.target(75), "sm_75");
  EXPECT_EQ(compiler.target(80), "sm_80");
  EXPECT_EQ(compiler.target(70), "compute_52");
  EXPECT_EQ(compiler.target(120), "compute_80");
  EXPECT_TRUE(throws(ErrorKind::kNoDevice, "compute capability 3.7 is older", [&] { compiler.target(37); }));
}

class CudaTest : public DeviceTest {
 protected:
  void SetUp() override { open_or_skip(open_cuda); }
  void expect_usable() { EXPECT_EQ(download(*upload({1, 2})), std::vector<float>({1, 2})); }
  Launch softmax(int rows, int cols, Binding x, Binding y) {
    return softmax_launch(device_->load(softmax_spec(16), {}), rows, cols, x, y);
  }
};

TEST_F(CudaTest, LyingDevicesAreMet) {
  auto traits_with = [](int attribute, int value) {
    DriverLie lie(attribute, value);
    return find_devices().front().traits;
  };
  EXPECT_EQ(traits_with(cuda::kMaxThreadsPerBlock, 0).max_group_items, 1);
  EXPECT_EQ(traits_with(cuda::kMultiprocessorCount, 0).compute_units, 1);
  EXPECT_EQ(traits_with(cuda::kMaxSharedMemoryPerBlock, 0).shared_bytes, 32768u);
  EXPECT_EQ(find_devices().front().traits.max_groups, (std::array<uint32_t, 3>{0x7fffffff, 65535, 65535}));
  EXPECT_FALSE(traits_with(cuda::kComputeCapabilityMajor, 5).has_half_arithmetic);
  EXPECT_FALSE(find_devices().front().traits.matrix_units.half);
  EXPECT_EQ(find_devices().front().traits.driver, "CUDA 12.4, sm_70 by NVRTC 12.4");
}

TEST_F(CudaTest, MatrixUnitsByComputeCapability) {
  auto units_of = [](int major, int minor) {
    DriverLie a(cuda::kComputeCapabilityMajor, major), b(cuda::kComputeCapabilityMinor, minor);
    const MatrixUnits units = find_devices().front().traits.matrix_units;
    EXPECT_EQ(units.bfloat, units.tf32);
    EXPECT_EQ(units.bytes, units.tf32);
    return std::pair(units.half, units.tf32);
  };
  EXPECT_EQ(units_of(7, 0), std::pair(false, false));
  EXPECT_EQ(units_of(7, 5), std::pair(true, false));
  EXPECT_EQ(units_of(8, 0), std::pair(true, true));
  EXPECT_EQ(units_of(9, 0), std::pair(true, true));
}

TEST_F(CudaTest, ProhibitedDevicesAreLeftOut) {
  DriverLie lie(cuda::kComputeMode, cuda::kComputeModeProhibited);
  EXPECT_TRUE(throws(ErrorKind::kNoDevice, "nvidia-smi -c", [] { find_devices(); }));
}

TEST_F(CudaTest, AContextThatFails) {
  FailingDriver failure("cuDevicePrimaryCtxRetain", cuda::kOutOfMemory);
  EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "cuDevicePrimaryCtxRetain says CUDA_ERROR_OUT_OF_MEMORY (2,", open_cuda));
}

TEST_F(CudaTest, AllocationFailureLeavesTheDeviceUsable) {
  {
    FailingDriver failure("cuMemAlloc", cuda::kOutOfMemory);
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "asked for a buffer of 1234 bytes", [&] { device_->allocate(1234); }));
  }
  expect_usable();
}

TEST_F(CudaTest, CompilerErrorsAreTold) {
  auto load = [&] { device_->load({"softmax", {{"WGX", -3}, {"WGY", 1}}}, {}); };
  EXPECT_TRUE(throws(ErrorKind::kCompile, "NVRTC_ERROR_COMPILATION, asked for softmax.k with the options", load));
  EXPECT_TRUE(throws(ErrorKind::kCompile, "-arch=sm_70 -std=c++17 -DK_VW=4 -DWGX=-3", load));
  EXPECT_TRUE(throws(ErrorKind::kCompile, "NVRTC 12.4 says:\nerror:", load));
  expect_usable();
}

TEST_F(CudaTest, GroupsThatAreTooLarge) {
  EXPECT_TRUE(throws(ErrorKind::kCompile, "groups of 8192 items", [&] { device_->load(softmax_spec(8192), {}); }));
  DriverLie lie(cuda::kMaxThreadsPerBlock, 8);
  EXPECT_TRUE(throws(ErrorKind::kCompile, "takes 8 of it", [&] { device_->load(softmax_spec(16), {}); }));
}

TEST_F(CudaTest, ADamagedImageIsCompiledAgain) {
  std::vector<std::byte> binary = device_->load(softmax_spec(16), {})->binary();
  EXPECT_FALSE(device_->load(softmax_spec(16), binary)->was_compiled());
  binary.back() ^= std::byte{1};
  int loaded = calls_of("cuModuleLoadData");
  EXPECT_TRUE(device_->load(softmax_spec(16), binary)->was_compiled());
  EXPECT_EQ(calls_of("cuModuleLoadData"), loaded + 1);  // the driver does not see it
  binary.resize(20);
  EXPECT_TRUE(device_->load(softmax_spec(16), binary)->was_compiled());
}

TEST_F(CudaTest, ABadAccessLosesTheDevice) {
  std::unique_ptr<Buffer> in = upload(random_floats(33)), out = device_->allocate(4);
  auto list = device_->record({softmax(1, 33, {whole(*in)}, {whole(*out)})});
  queue_->run(*list, {});
  EXPECT_TRUE(throws(ErrorKind::kDeviceLost, "cuStreamSynchronize says CUDA_ERROR_ILLEGAL_ADDRESS (700,",
                     [&] { queue_->finish(); }));
  auto is_lost = [](auto&& body) { return throws(ErrorKind::kDeviceLost, "was lost in an earlier call", body); };
  EXPECT_TRUE(is_lost([&] { queue_->finish(); }));
  EXPECT_TRUE(is_lost([&] { queue_->write(whole(*in), "1234"); }));
  EXPECT_TRUE(is_lost([&] { queue_->mark(); }));
  EXPECT_TRUE(is_lost([&] { queue_->run(*list, {}); }));
  EXPECT_TRUE(is_lost([&] { device_->allocate(4); }));
  EXPECT_TRUE(is_lost([&] { device_->load(softmax_spec(16), {}); }));
  EXPECT_TRUE(is_lost([&] { device_->record({}); }));
  EXPECT_TRUE(is_lost([&] { device_->create_queue(); }));
  list.reset();
  in.reset();
  out.reset();
  standin("standin_recover");
  queue_.reset();
  use(open_cuda());
  expect_usable();
}

TEST_F(CudaTest, OtherCodesAreFaultsOfDriverOrBackend) {
  FailingDriver failure("cuMemAlloc", 1);
  EXPECT_TRUE(throws(ErrorKind::kInternal, "cuMemAlloc says CUDA_ERROR_INVALID_VALUE (1, invalid argument)",
                     [&] { device_->allocate(4); }));
  FailingDriver unknown("cuMemAlloc", 12345);
  EXPECT_TRUE(
      throws(ErrorKind::kInternal, "a code that the driver does not know (12345,", [&] { device_->allocate(4); }));
}

/** Three launches, the first two of which depend on nothing, and externals. */
class CudaReplay : public CudaTest {
 protected:
  void SetUp() override {
    CudaTest::SetUp();
    step_ = device_->traits().offset_alignment;
    x_ = random_floats(4 * step_ / sizeof(float));
    in_ = upload(x_);
    middle_ = device_->allocate(36);
    other_ = device_->allocate(36);
    out_ = device_->allocate(4 * step_);
    Launch beside = softmax(1, 9, external(0, 36), {whole(*other_)});
    beside.after_barrier = false;
    list_ = device_->record(
        {softmax(1, 9, external(0, 36), {whole(*middle_)}), beside, softmax(1, 9, {whole(*middle_)}, external(1, 36))});
  }
  void run(size_t row) {
    const BufferRange externals[] = {{in_.get(), row * step_, 36}, {out_.get(), row * step_, 36}};
    queue_->run(*list_, externals);
  }
  void expect_row(size_t row) {
    const float* first = x_.data() + row * step_ / sizeof(float);
    std::vector<float> once = softmax_reference(std::vector<float>(first, first + 9), 9);
    expect_near(download(*other_), once);
    expect_near(download({out_.get(), row * step_, 36}), softmax_reference(once, 9));
  }

  size_t step_ = 0;
  std::vector<float> x_;
  std::unique_ptr<Buffer> in_, middle_, other_, out_;
  std::unique_ptr<CommandList> list_;
};

TEST_F(CudaReplay, IsOneCall) {
  run(1);
  expect_row(1);
  int launched = calls_of("cuLaunchKernel"), made = calls_of("cuGraphInstantiate");
  int changed = calls_of("cuGraphExecKernelNodeSetParams"), replayed = calls_of("cuGraphLaunch");
  for (int i = 0; i < 5; i++) run(1);
  expect_row(1);
  EXPECT_EQ(calls_of("cuLaunchKernel"), launched);
  EXPECT_EQ(calls_of("cuGraphInstantiate"), made + 1);
  EXPECT_EQ(calls_of("cuGraphLaunch"), replayed + 5);
  EXPECT_EQ(calls_of("cuGraphExecKernelNodeSetParams"), changed);
}

TEST_F(CudaReplay, OtherExternalsChangeTheGraph) {
  for (int i = 0; i < 2; i++) run(1);
  int made = calls_of("cuGraphInstantiate"), changed = calls_of("cuGraphExecKernelNodeSetParams");
  run(2);
  expect_row(2);
  run(3);
  expect_row(3);
  EXPECT_EQ(calls_of("cuGraphInstantiate"), made);
  EXPECT_EQ(calls_of("cuGraphExecKernelNodeSetParams"), changed + 6);
}

TEST_F(CudaReplay, AGraphThatCannotBeChangedIsMadeAnew) {
  for (int i = 0; i < 2; i++) run(1);
  int made = calls_of("cuGraphInstantiate");
  {
    FailingDriver failure("cuGraphExecKernelNodeSetParams", 910);
    run(2);
  }
  expect_row(2);
  EXPECT_EQ(calls_of("cuGraphInstantiate"), made + 1);
}

TEST_F(CudaReplay, AGraphThatFailsIsMadeByTheNextRun) {
  run(1);
  {
    FailingDriver failure("cuGraphInstantiate", cuda::kOutOfMemory);
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "asked for a graph of 3 kernels", [&] { run(2); }));
  }
  run(2);
  expect_row(2);
}

TEST_F(CudaReplay, ATimedQueueLaunchesKernelByKernel) {
  std::unique_ptr<Queue> timed = device_->create_queue(true);
  const BufferRange externals[] = {{in_.get(), 0, 36}, {out_.get(), 0, 36}};
  for (int i = 0; i < 2; i++) {
    std::shared_ptr<LaunchTimes> times = timed->run_timed(*list_, externals);
    timed->finish();
    EXPECT_EQ(times->read().size(), 3u);
  }
}

}  // namespace
}  // namespace ortolan::gpu
