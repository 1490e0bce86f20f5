// Products by CLBlast: where it is tuned, and that they are right. Most need a driver and the library.
#include "opencl/clblast.h"

#include <cmath>

#include "gpu/opencl_device.h"
#include "opencl/codes.h"
#include "opencl_faults.h"
#include "tested_device.h"

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

int64_t place_of(const LibraryProduct::Matrix& matrix, int64_t number, int64_t row, int64_t column) {
  if (matrix.turned) std::swap(row, column);
  return matrix.first + number * matrix.stack + row * matrix.row + column;
}

class OpenClLibraryTest : public DeviceTest {
 protected:
  void SetUp() override {
    open_or_skip(open_opencl);
    if (IsSkipped()) return;
    library_ = device_->product_library();
    if (library_ == nullptr) GTEST_SKIP() << "CLBlast is not installed (libclblast1)";
  }

  /** Rows with some elements between them, matrices with more, and a first element behind others. */
  static LibraryProduct spread(int64_t m, int64_t n, int64_t k, int64_t count, bool turns_a, bool turns_b) {
    LibraryProduct p{m, n, k, count};
    p.a = {3, (turns_a ? m : k) + 2, 0, turns_a};
    p.b = {1, (turns_b ? k : n) + 1, 0, turns_b};
    p.c = {2, n + 3};
    p.a.stack = (turns_a ? k : m) * p.a.row + 5;
    p.c.stack = m * p.c.row + 1;
    p.alpha = 0.5f;
    return p;
  }
  /** Elements that hold all matrices. */
  static size_t room(const LibraryProduct::Matrix& matrix, int64_t rows, int64_t count) {
    return static_cast<size_t>(matrix.first + (count - 1) * matrix.stack + rows * matrix.row);
  }
  void draw(const LibraryProduct& p) {
    a_ = random_floats(room(p.a, p.a.turned ? p.k : p.m, p.count));
    b_ = random_floats(room(p.b, p.b.turned ? p.n : p.k, p.count));
    c_ = random_floats(room(p.c, p.m, p.count));
  }
  std::vector<float> reference(const LibraryProduct& p) const {
    std::vector<float> c = c_;
    for (int64_t place = 0; place < p.count * p.m * p.n; place++) {
      int64_t z = place / (p.m * p.n), i = place / p.n % p.m, j = place % p.n;
      double sum = 0;
      for (int64_t k = 0; k < p.k; k++) sum += double{a_[place_of(p.a, z, i, k)]} * b_[place_of(p.b, z, k, j)];
      float& to = c[place_of(p.c, z, i, j)];
      to = static_cast<float>(p.alpha * sum + (p.beta == 0 ? 0 : p.beta * to));
    }
    return c;
  }
  Launch launch_of(const LibraryProduct& p) {
    std::shared_ptr<const Kernel> kernel = library_->load(p);
    EXPECT_NE(kernel, nullptr);
    const size_t bytes = sizeof(float);
    return {kernel,
            {1, 1, 1},
            {external(0, a_.size() * bytes), external(1, b_.size() * bytes), external(2, c_.size() * bytes)},
            {}};
  }
  std::vector<float> run(CommandList& list) {
    std::unique_ptr<Buffer> a = upload(a_), b = upload(b_), c = upload(c_);
    queue_->run(list, std::vector<BufferRange>{whole(*a), whole(*b), whole(*c)});
    return download(*c);
  }
  void expect_right(const LibraryProduct& p) {
    draw(p);
    auto list = device_->record({launch_of(p)});
    for (int i = 0; i < 2; i++) {
      expect_near(run(*list), reference(p), 1e-4f * std::sqrt(static_cast<float>(p.k)));
      draw(p);
    }
  }

  ProductLibrary* library_ = nullptr;
  std::vector<float> a_, b_, c_;
};

TEST_F(OpenClLibraryTest, SizesTurnsAndStacks) {
  EXPECT_EQ(library_->name().substr(0, 10), "CLBlast 1.");
  struct {
    int64_t m, n, k, count;
  } const sizes[] = {{1, 1, 1, 1}, {5, 1, 9, 2}, {7, 33, 5, 1}, {64, 32, 96, 1}, {61, 130, 77, 3}, {200, 210, 220, 1}};
  for (auto [m, n, k, count] : sizes) {
    for (int turns = 0; turns < 4; turns++) {
      SCOPED_TRACE(testing::Message() << m << ' ' << n << ' ' << k << ' ' << count << ' ' << turns);
      expect_right(spread(m, n, k, count, turns % 2 == 1, turns / 2 == 1));
    }
  }
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
