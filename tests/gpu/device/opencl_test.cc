// What the OpenCL backend makes of failures, lies and repetition. Most need a driver.
#include <fstream>

#include "base/injected_faults.h"
#include "gpu/device/checks.h"
#include "gpu/opencl_device.h"
#include "opencl/codes.h"
#include "opencl/device.h"
#include "opencl_faults.h"
#include "tested_device.h"

namespace ortolan::gpu {
namespace {

TEST(OpenClCodes, AreToldByName) {
  EXPECT_EQ(opencl::code_name(CL_OUT_OF_RESOURCES), "CL_OUT_OF_RESOURCES (-5)");
  EXPECT_EQ(opencl::code_name(CL_INVALID_LINKER_OPTIONS), "CL_INVALID_LINKER_OPTIONS (-67)");
  EXPECT_EQ(opencl::code_name(-9999), "a code that OpenCL 1.2 does not know (-9999)");
}

TEST(OpenClTraits, AreKeptWithinBounds) {
  DeviceTraits traits = with_sane_bounds({});
  EXPECT_EQ(traits.memory_bytes, size_t{128} << 20);
  EXPECT_EQ(traits.max_buffer_bytes, size_t{128} << 20);
  EXPECT_EQ(traits.offset_alignment, 256u);
  EXPECT_EQ(traits.shared_bytes, 32768u);
  traits.memory_bytes = traits.max_buffer_bytes = traits.shared_bytes = traits.offset_alignment = ~size_t{0};
  traits.max_group_items = traits.compute_units = 0x7fffffff;
  traits = with_sane_bounds(traits);
  EXPECT_EQ(traits.memory_bytes, size_t{128} << 20);
  EXPECT_EQ(traits.max_buffer_bytes, size_t{128} << 20);
  EXPECT_EQ(traits.offset_alignment, 65536u);
  EXPECT_EQ(traits.shared_bytes, 32768u);
  EXPECT_EQ(traits.max_group_items, 4096);
  traits.memory_bytes = size_t{1} << 30;
  traits.max_buffer_bytes = (size_t{1} << 31) - 1;
  traits.offset_alignment = 384;
  traits = with_sane_bounds(traits);
  EXPECT_EQ(traits.max_buffer_bytes, size_t{1} << 30);
  EXPECT_EQ(traits.offset_alignment, 512u);
  traits.max_buffer_bytes = (size_t{1} << 29) - 1;
  EXPECT_EQ(with_sane_bounds(traits).max_buffer_bytes, (size_t{1} << 29) - 512);
}

TEST(OpenClTraits, SixteenBitsNeedTheExtensionAndRounding) {
  const cl_device_fp_config full = CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN | CL_FP_DENORM;
  EXPECT_TRUE(opencl::has_half_arithmetic("cl_khr_fp16", full));
  EXPECT_TRUE(
      opencl::has_half_arithmetic("cl_khr_fp64 cl_khr_fp16 cl_khr_icd", CL_FP_ROUND_TO_NEAREST | CL_FP_INF_NAN));
  EXPECT_FALSE(opencl::has_half_arithmetic("cl_khr_fp64 cl_khr_fp16_more", full));
  EXPECT_FALSE(opencl::has_half_arithmetic("", full));
  EXPECT_FALSE(opencl::has_half_arithmetic("cl_khr_fp16", CL_FP_ROUND_TO_ZERO | CL_FP_INF_NAN));
  EXPECT_FALSE(opencl::has_half_arithmetic("cl_khr_fp16", CL_FP_ROUND_TO_NEAREST));
}

TEST(OpenClPlatform, AnAbsentDriverIsToldWithPackages) {
  FailingCall none("clGetPlatformIDs", -1001);
  for (const char* package : {"pocl-opencl-icd", "mesa-opencl-icd", "intel-opencl-icd", "nvidia-opencl-icd"}) {
    EXPECT_TRUE(throws(ErrorKind::kNoDevice, package, [] { opencl::find_devices(); }));
  }
}

class OpenClTest : public DeviceTest {
 protected:
  void SetUp() override { open_or_skip(open_opencl); }
  void expect_usable() { EXPECT_EQ(download(*upload({1, 2})), std::vector<float>({1, 2})); }
};

TEST_F(OpenClTest, LyingDevicesAreMet) {
  auto traits_with = [](cl_device_info what, uint64_t value) {
    DeviceLie lie(what, value);
    return opencl::find_devices().front().traits;
  };
  const size_t least = size_t{128} << 20, memory = device_->traits().memory_bytes;
  EXPECT_EQ(traits_with(CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0).max_buffer_bytes, least);
  EXPECT_EQ(traits_with(CL_DEVICE_MAX_MEM_ALLOC_SIZE, ~uint64_t{0}).max_buffer_bytes, least);
  EXPECT_LE(traits_with(CL_DEVICE_MAX_MEM_ALLOC_SIZE, uint64_t{1} << 45).max_buffer_bytes, memory);
  EXPECT_GE(traits_with(CL_DEVICE_GLOBAL_MEM_SIZE, 0).memory_bytes, device_->traits().max_buffer_bytes);
  EXPECT_EQ(traits_with(CL_DEVICE_MEM_BASE_ADDR_ALIGN, 0).offset_alignment, 256u);
  EXPECT_EQ(traits_with(CL_DEVICE_MEM_BASE_ADDR_ALIGN, 3000 * 8).offset_alignment, 4096u);
  EXPECT_EQ(traits_with(CL_DEVICE_LOCAL_MEM_SIZE, ~uint64_t{0}).shared_bytes, 32768u);
  EXPECT_EQ(traits_with(CL_DEVICE_MAX_WORK_GROUP_SIZE, 0).max_group_items, 1);
  EXPECT_EQ(traits_with(CL_DEVICE_MAX_COMPUTE_UNITS, 0).compute_units, 1);
}

TEST_F(OpenClTest, DevicesThatCannotCompileAreLeftOut) {
  DeviceLie lie(CL_DEVICE_COMPILER_AVAILABLE, CL_FALSE);
  EXPECT_TRUE(throws(ErrorKind::kNoDevice, "no installed driver", [] { opencl::find_devices(); }));
}

TEST_F(OpenClTest, AProcessorIsWide) {
  opencl::FoundDevice found = opencl::find_devices().front();
  cl_device_type type = 0;
  clGetDeviceInfo(found.device, CL_DEVICE_TYPE, sizeof type, &type, nullptr);
  EXPECT_EQ(found.traits.kind, type & CL_DEVICE_TYPE_CPU ? DeviceClass::kWide : DeviceClass::kGpu);
  DeviceLie lie(CL_DEVICE_TYPE, CL_DEVICE_TYPE_GPU);
  EXPECT_EQ(opencl::find_devices().front().traits.vector_width, 4);
}

TEST_F(OpenClTest, AContextThatFails) {
  opencl::FoundDevice found = opencl::find_devices().front();
  FailingCall failure("clCreateContext", CL_OUT_OF_HOST_MEMORY);
  EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "clCreateContext says CL_OUT_OF_HOST_MEMORY (-6)",
                     [&] { opencl::open_device(found); }));
}

TEST_F(OpenClTest, AllocationFailureLeavesTheDeviceUsable) {
  {
    FailingCall failure("clCreateBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "asked for a buffer of 1234 bytes", [&] { device_->allocate(1234); }));
  }
  std::unique_ptr<Buffer> buffer = device_->allocate(8);
  {
    FailingCall failure("clEnqueueWriteBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "asked for writing 8 bytes at 0",
                       [&] { queue_->write(whole(*buffer), "12345678"); }));
  }
  expect_usable();
}

TEST_F(OpenClTest, MemoryThatCannotBeMappedLeavesTheDeviceUsable) {
  if (device_->traits().type != DeviceType::kCpu) GTEST_SKIP() << "its memory is not mapped";
  std::unique_ptr<Buffer> buffer = device_->allocate(8);
  {
    FailingCall failure("clEnqueueMapBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE);
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "asked for mapping 8 bytes at 0",
                       [&] { queue_->make(whole(*buffer), [](std::span<std::byte>) { FAIL(); }); }));
  }
  expect_usable();
}

TEST_F(OpenClTest, LargeMemoryOfTheProcessIsFreedWithItsBuffer) {
  constexpr size_t kBytes = size_t{64} << 20;
  auto used = [] {
    long pages = 0, resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return static_cast<size_t>(resident) * 4096;
  };
  std::vector<std::byte> bytes(kBytes, std::byte{1});
  size_t before = used();
  for (int i = 0; i < 16; i++) {
    std::unique_ptr<Buffer> buffer = device_->allocate(kBytes);
    queue_->write(whole(*buffer), bytes.data());
    buffer.reset();
    queue_->finish();
  }
  EXPECT_LT(used(), before + 6 * kBytes);  // a sanitiser keeps some of what is freed
}

TEST_F(OpenClTest, WhatDoesNotCompileIsToldWithItsLog) {
  auto load = [&] { device_->load({"softmax", {{"WGX", -3}, {"WGY", 1}}}, {}); };
  EXPECT_TRUE(throws(ErrorKind::kCompile, "CL_BUILD_PROGRAM_FAILURE (-11), asked for kernel softmax", load));
  EXPECT_TRUE(throws(ErrorKind::kCompile, "-DWGX=-3", load));
  EXPECT_TRUE(throws(ErrorKind::kCompile, "error:", load));
  expect_usable();
}

TEST_F(OpenClTest, GroupsThatAreTooLarge) {
  EXPECT_TRUE(throws(ErrorKind::kCompile, "groups of 8192 items", [&] { device_->load(softmax_spec(8192), {}); }));
  DeviceLie lie(CL_KERNEL_WORK_GROUP_SIZE, 8);
  EXPECT_TRUE(throws(ErrorKind::kCompile, "takes 8 of it", [&] { device_->load(softmax_spec(16), {}); }));
}

TEST_F(OpenClTest, TheEndOfAQueueFinishesIt) {
  std::unique_ptr<Queue> queue = device_->create_queue();
  int finished = calls_of("clFinish");
  queue.reset();
  EXPECT_EQ(calls_of("clFinish"), finished + 1);
}

TEST_F(OpenClTest, ALostDeviceStaysLost) {
  std::unique_ptr<Queue> other = device_->create_queue();
  std::unique_ptr<Buffer> buffer = device_->allocate(4);
  {
    FailingCall failure("clFinish", CL_OUT_OF_RESOURCES);
    EXPECT_TRUE(throws(ErrorKind::kDeviceLost, "clFinish says CL_OUT_OF_RESOURCES (-5)", [&] { queue_->finish(); }));
  }
  auto is_lost = [](auto&& body) { return throws(ErrorKind::kDeviceLost, "was lost in an earlier call", body); };
  EXPECT_TRUE(is_lost([&] { queue_->finish(); }));
  EXPECT_TRUE(is_lost([&] { other->flush(); }));
  EXPECT_TRUE(is_lost([&] { other->write(whole(*buffer), "1234"); }));
  EXPECT_TRUE(is_lost([&] { other->mark(); }));
  EXPECT_TRUE(is_lost([&] { device_->allocate(4); }));
  EXPECT_TRUE(is_lost([&] { device_->load(softmax_spec(16), {}); }));
  EXPECT_TRUE(is_lost([&] { device_->create_queue(); }));
  use(open_opencl());
  expect_usable();
}

TEST_F(OpenClTest, ADeviceThatIsNotAvailableIsLost) {
  FailingCall failure("clCreateBuffer", CL_DEVICE_NOT_AVAILABLE);
  EXPECT_TRUE(throws(ErrorKind::kDeviceLost, "CL_DEVICE_NOT_AVAILABLE (-2)", [&] { device_->allocate(4); }));
  EXPECT_TRUE(throws(ErrorKind::kDeviceLost, "was lost in an earlier call", [&] { queue_->finish(); }));
}

TEST_F(OpenClTest, LackOfResourcesIsNoLossWhereTheQueueGoesOn) {
  std::vector<float> x = random_floats(33);
  std::unique_ptr<Buffer> in = upload(x), out = upload(x);
  auto list =
      device_->record({softmax_launch(device_->load(softmax_spec(16), {}), 1, 33, {whole(*in)}, {whole(*out)})});
  {
    FailingCall failure("clEnqueueNDRangeKernel", CL_OUT_OF_RESOURCES);
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "asked for kernel softmax", [&] { queue_->run(*list, {}); }));
  }
  expect_usable();
  queue_->run(*list, {});
  expect_near(download(*out), softmax_reference(x, 33));
}

TEST_F(OpenClTest, AKernelGivesItsBinaryWhenAllQueuesAreDone) {
  std::unique_ptr<Queue> other = device_->create_queue();
  std::vector<float> x = random_floats(1 << 18);
  std::unique_ptr<Buffer> in = upload(x), out = upload(x);
  std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(16), {});
  auto list = device_->record({softmax_launch(kernel, 1 << 12, 64, {whole(*in)}, {whole(*out)})});
  for (int i = 0; i < 20; i++) queue_->run(*list, {});
  queue_->flush();
  int finished = calls_of("clFinish");
  EXPECT_FALSE(kernel->binary().empty());
  EXPECT_EQ(calls_of("clFinish"), finished + 2);
  other.reset();
  kernel->binary();
  EXPECT_EQ(calls_of("clFinish"), finished + 4);  // one of them for the queue that ended
  queue_->run(*list, {});
  expect_near(download(*out), softmax_reference(x, 64));
}

TEST_F(OpenClTest, AMarkTellsThatTheDeviceIsLost) {
  std::shared_ptr<Mark> mark = queue_->mark();
  FailingCall wait("clWaitForEvents", CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
  FailingCall probe("clEnqueueMarkerWithWaitList", CL_INVALID_COMMAND_QUEUE);
  EXPECT_TRUE(throws(ErrorKind::kDeviceLost, "asked for the work before a mark", [&] { mark->wait(); }));
}

TEST_F(OpenClTest, OtherCodesAreFaultsOfDriverOrBackend) {
  FailingCall failure("clCreateBuffer", CL_INVALID_VALUE);
  EXPECT_TRUE(
      throws(ErrorKind::kInternal, "clCreateBuffer says CL_INVALID_VALUE (-30)", [&] { device_->allocate(4); }));
}

/** Two launches, one external buffer of four rows at a time, one of them bound in part. */
class OpenClReplay : public OpenClTest {
 protected:
  void SetUp() override {
    OpenClTest::SetUp();
    if (IsSkipped()) return;
    step_ = device_->traits().offset_alignment;
    x_ = random_floats(4 * step_ / sizeof(float));
    in_ = upload(x_);
    middle_ = device_->allocate(36);
    out_ = device_->allocate(4 * step_);
    std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(16), {});
    list_ = device_->record({softmax_launch(kernel, 1, 9, external(0, 36), {whole(*middle_)}),
                             softmax_launch(kernel, 1, 9, {whole(*middle_)}, external(1, 36))});
  }
  void run(size_t row) {
    const BufferRange externals[] = {{in_.get(), row * step_, 36}, {out_.get(), row * step_, 36}};
    queue_->run(*list_, externals);
  }

  size_t step_ = 0;
  std::vector<float> x_;
  std::unique_ptr<Buffer> in_, middle_, out_;
  std::unique_ptr<CommandList> list_;
};

TEST_F(OpenClReplay, SetsNothingWhereExternalsAreTheSame) {
  run(1);
  queue_->finish();
  int arguments = calls_of("clSetKernelArg"), parts = calls_of("clCreateSubBuffer");
  int launches = calls_of("clEnqueueNDRangeKernel");
  {
    base::FailingAllocation none(0);
    for (int i = 0; i < 10; i++) run(1);
    EXPECT_FALSE(none.has_failed());
  }
  queue_->finish();
  EXPECT_EQ(calls_of("clSetKernelArg"), arguments);
  EXPECT_EQ(calls_of("clCreateSubBuffer"), parts);
  EXPECT_EQ(calls_of("clEnqueueNDRangeKernel"), launches + 20);
  run(2);
  EXPECT_EQ(calls_of("clSetKernelArg"), arguments + 2);
  EXPECT_EQ(calls_of("clCreateSubBuffer"), parts + 2);
  queue_->finish();
}

TEST_F(OpenClReplay, PartsEndWithTheirLastUse) {
  run(1);
  queue_->finish();
  int released = calls_of("clReleaseMemObject");
  for (size_t row : {2, 3, 2, 1}) run(row);
  queue_->finish();
  EXPECT_EQ(calls_of("clReleaseMemObject"), released + 8);
}

TEST_F(OpenClReplay, AListDoesNotKeepExternalMemory) {
  run(1);
  queue_->finish();
  int released = calls_of("clReleaseMemObject");
  in_.reset();
  EXPECT_EQ(calls_of("clReleaseMemObject"), released + 2);
}

TEST_F(OpenClReplay, AFailedBindingIsDoneAgain) {
  std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(16), {});
  auto list = device_->record({softmax_launch(kernel, 1, 9, external(0, 36), {whole(*middle_)}),
                               softmax_launch(kernel, 1, 8, external(0, 32), {{out_.get(), 0, 32}})});
  auto run_row = [&](size_t row) { queue_->run(*list, std::vector<BufferRange>{{in_.get(), row * step_, 36}}); };
  run_row(2);
  {
    FailingCall failure("clCreateSubBuffer", CL_MEM_OBJECT_ALLOCATION_FAILURE, 1);
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "asked for a part of 32 bytes at ", [&] { run_row(1); }));
  }
  run_row(2);
  const float* row = x_.data() + 2 * step_ / sizeof(float);
  expect_near(download(*middle_), softmax_reference(std::vector<float>(row, row + 9), 9));
}

}  // namespace
}  // namespace ortolan::gpu
