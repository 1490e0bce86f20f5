// Products by CLBlast: where it is tuned, and that they are right. Most need a driver and the library.
#include "opencl/clblast.h"

#include <cmath>

#include "gpu/opencl_device.h"
#include "opencl/codes.h"
#include "opencl_faults.h"
#include "tested_library.h"

namespace ortolan::gpu {
namespace {

DeviceTraits device_of(const std::string& vendor, DeviceType type) {
  DeviceTraits traits;
  traits.vendor = vendor;
  traits.type = type;
  return traits;
}

TEST(OpenClLibrary, IsTunedForGpusOfItsVendors) {
  for (const char* vendor : {"NVIDIA Corporation", "Advanced Micro Devices, Inc.", "AMD", "Intel(R) Corporation", "ARM",
                             "Intel", "QUALCOMM"}) {
    EXPECT_TRUE(opencl::is_tuned_by_clblast(device_of(vendor, DeviceType::kGpu))) << vendor;
    EXPECT_FALSE(opencl::is_tuned_by_clblast(device_of(vendor, DeviceType::kCpu))) << vendor;
  }
  for (const char* vendor : {"", "nvidia", "AuthenticAMD", "Imagination Technologies", "Apple"}) {
    EXPECT_FALSE(opencl::is_tuned_by_clblast(device_of(vendor, DeviceType::kGpu))) << vendor;
  }
}

TEST(OpenClLibrary, TakesLargeProductsOfFloats) {
  LibraryProduct product{256, 256, 256};
  EXPECT_TRUE(opencl::is_large_for_clblast(product));
  EXPECT_TRUE(opencl::is_large_for_clblast({64, 64, 64, 64}));
  EXPECT_FALSE(opencl::is_large_for_clblast({255, 256, 256}));
  EXPECT_FALSE(opencl::is_large_for_clblast({63, 1 << 20, 1 << 20}));
  product.beta = 1;
  EXPECT_TRUE(opencl::is_large_for_clblast(product));
  product.k = 255;
  product.m = 1 << 20;
  EXPECT_FALSE(opencl::is_large_for_clblast(product));
  product.beta = 0;
  EXPECT_TRUE(opencl::is_large_for_clblast(product));
  product.is_half = true;
  EXPECT_FALSE(opencl::is_large_for_clblast(product));
}

TEST(OpenClLibrary, ItsCodesAreToldFromTheDrivers) {
  EXPECT_EQ(opencl::code_name(-2045), "a code of CLBlast (-2045)");
  EXPECT_EQ(opencl::code_name(-1016), "a code of CLBlast (-1016)");
}

class OpenClLibraryTest : public LibraryTest {
 protected:
  void SetUp() override {
    open_or_skip(open_opencl);
    if (IsSkipped()) return;
    library_ = device_->product_library();
    if (library_ == nullptr) GTEST_SKIP() << "CLBlast is not installed (libclblast1)";
  }
};

TEST_F(OpenClLibraryTest, SizesTurnsAndStacks) {
  EXPECT_EQ(library_->name().substr(0, 10), "CLBlast 1.");
  expect_all_forms();
}

TEST_F(OpenClLibraryTest, AddsToWhatIsThere) {
  LibraryProduct product = spread(70, 40, 30, 2, false, true);
  product.beta = 2;
  expect_right(product);
}

TEST_F(OpenClLibraryTest, DoesNotReadWhatItDoesNotAddTo) {
  for (int64_t side : {9, 256}) {
    LibraryProduct product{side, side, side, 1, {0, side}, {0, side}, {0, side}};
    draw(product);
    c_.assign(c_.size(), NAN);
    auto list = device_->record({launch_of(product)});
    expect_near(run(*list), reference(product), 1e-2f);
  }
}

TEST_F(OpenClLibraryTest, KernelsBeforeAndBehindIt) {
  LibraryProduct product{32, 32, 32, 1, {0, 32}, {0, 32}, {0, 32}};
  draw(product);
  const size_t bytes = c_.size() * sizeof(float);
  std::shared_ptr<const Kernel> softmax = device_->load(softmax_spec(16), {});
  std::unique_ptr<Buffer> x = upload(a_), a = device_->allocate(bytes), b = upload(b_), c = device_->allocate(bytes),
                          y = device_->allocate(bytes);
  Launch middle = launch_of(product);
  middle.bindings = {{whole(*a)}, {whole(*b)}, {whole(*c)}};
  auto list = device_->record({softmax_launch(softmax, 32, 32, {whole(*x)}, {whole(*a)}), middle,
                               softmax_launch(softmax, 32, 32, {whole(*c)}, {whole(*y)})});
  std::unique_ptr<Queue> timed = device_->create_queue(true);
  std::shared_ptr<LaunchTimes> times = timed->run_timed(*list, {});
  timed->finish();
  a_ = softmax_reference(a_, 32);
  expect_near(download(*y), softmax_reference(reference(product), 32), 1e-4f);
  std::vector<LaunchTime> read = times->read();
  ASSERT_EQ(read.size(), 3u);
  for (size_t i = 0; i < 3; i++) EXPECT_LT(read[i].begin, read[i].end) << i;
  EXPECT_LE(read[0].end, read[1].begin);
  EXPECT_LE(read[1].end, read[2].begin);
}

TEST_F(OpenClLibraryTest, AFailureIsAnErrorAndTheNextRunIsRight) {
  LibraryProduct product{32, 32, 32, 1, {0, 32}, {0, 32}, {0, 32}};
  draw(product);
  auto list = device_->record({launch_of(product)});
  {
    FailingCall failure("clEnqueueNDRangeKernel", CL_MEM_OBJECT_ALLOCATION_FAILURE);
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory,
                       "says CL_MEM_OBJECT_ALLOCATION_FAILURE (-4), asked for a product, which", [&] { run(*list); }));
  }
  expect_near(run(*list), reference(product), 1e-3f);
}

TEST_F(OpenClLibraryTest, WhatItDoesNotDoIsNotOffered) {
  LibraryProduct product{32, 32, 32, 1, {0, 32}, {0, 32}, {0, 32}};
  product.is_half = true;
  EXPECT_EQ(library_->load(product), nullptr);
  product.is_half = false;
  product.a.row = int64_t{1} << 31;
  EXPECT_EQ(library_->load(product), nullptr);
}

TEST_F(OpenClLibraryTest, ALibraryThatFailsIsNotOffered) {
  use(open_opencl());
  FailingCall failure("clEnqueueNDRangeKernel", CL_INVALID_WORK_GROUP_SIZE);
  EXPECT_EQ(device_->product_library()->load({32, 32, 32, 1, {0, 32}, {0, 32}, {0, 32}}), nullptr);
}

TEST_F(OpenClLibraryTest, LaunchesThatDoNotFit) {
  LibraryProduct product{32, 32, 32, 1, {0, 32}, {0, 32}, {0, 32}};
  draw(product);
  Launch launch = launch_of(product);
  launch.bindings.pop_back();
  EXPECT_TRUE(throws(ErrorKind::kInternal, "has 2 buffers", [&] { device_->record({launch}); }));
}

TEST_F(OpenClLibraryTest, ALibraryThatIsNotThereIsNotUsed) {
  auto context = std::make_shared<opencl::Context>(opencl::find_devices().front());
  EXPECT_EQ(opencl::Clblast::open(context, "libno-such-library.so.1"), nullptr);
  EXPECT_EQ(opencl::Clblast::open(context, "libm.so.6"), nullptr);
}

}  // namespace
}  // namespace ortolan::gpu
