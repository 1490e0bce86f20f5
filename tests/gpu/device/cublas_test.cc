// Products by cuBLASLt, on its stand-in.
#include "cuda/cublas.h"

#include <cstdlib>

#include "cuda/device.h"
#include "gpu/cuda_device.h"
#include "gpu/device/half_float.h"
#include "tested_library.h"

namespace ortolan::gpu {
namespace {

class CublasTest : public LibraryTest {
 protected:
  void SetUp() override {
    open_or_skip(open_cuda);
    library_ = device_->product_library();
    ASSERT_NE(library_, nullptr);
  }
};

TEST_F(CublasTest, SizesTurnsAndStacks) {
  EXPECT_EQ(library_->name(), "cuBLASLt 12.4");
  expect_all_forms();
}

TEST_F(CublasTest, AddsToWhatIsThere) {
  LibraryProduct product = spread(70, 40, 30, 2, false, true);
  product.beta = 2;
  expect_right(product);
}

TEST_F(CublasTest, RoundsFactorsWhereItMay) {
  LibraryProduct product{32, 32, 32, 1, {0, 32}, {0, 32}, {0, 32}};
  draw(product);
  const std::vector<float> exact = reference(product);
  auto farthest = [&] {
    auto list = device_->record({launch_of(product)});
    std::vector<float> got = run(*list);
    float most = 0;
    for (size_t i = 0; i < got.size(); i++) most = std::max(most, std::fabs(got[i] - exact[i]));
    return most;
  };
  EXPECT_LT(farthest(), 1e-4f);
  product.is_rounded = true;
  EXPECT_GT(farthest(), 1e-3f);
  EXPECT_LT(farthest(), 0.2f);
}

TEST_F(CublasTest, Halves) {
  LibraryProduct product{5, 3, 4, 1, {0, 4}, {0, 3}, {0, 3}};
  product.is_half = true;
  draw(product);
  auto halves = [](std::vector<float>& values) {
    std::vector<uint16_t> stored;
    for (float& value : values) {
      stored.push_back(static_cast<uint16_t>(to_half(value)));
      value = from_half(stored.back());
    }
    return stored;
  };
  std::vector<uint16_t> a = halves(a_), b = halves(b_), c(15);
  std::unique_ptr<Buffer> on_a = device_->allocate(40), on_b = device_->allocate(24), on_c = device_->allocate(30);
  queue_->write(whole(*on_a), a.data());
  queue_->write(whole(*on_b), b.data());
  auto list =
      device_->record({{library_->load(product), {1, 1, 1}, {{whole(*on_a)}, {whole(*on_b)}, {whole(*on_c)}}, {}}});
  queue_->run(*list, {});
  queue_->read(c.data(), whole(*on_c));
  queue_->finish();
  std::vector<float> got;
  for (uint16_t each : c) got.push_back(from_half(each));
  expect_near(got, reference(product), 2e-2f);
}

TEST_F(CublasTest, KernelsBeforeAndBehindItInEachRun) {
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
  a_ = softmax_reference(a_, 32);
  for (int i = 0; i < 3; i++) {
    queue_->run(*list, {});
    expect_near(download(*y), softmax_reference(reference(product), 32), 1e-4f);
  }
}

TEST_F(CublasTest, WhatItDoesNotDoIsNotOffered) {
  EXPECT_EQ(library_->load({4, 13, 4, 1, {0, 4}, {0, 13}, {0, 13}}), nullptr);
}

TEST_F(CublasTest, SuitsLargeProducts) {
  EXPECT_TRUE(library_->suits({128, 128, 128}));
  EXPECT_TRUE(library_->suits({16, 128, 128, 8}));
  EXPECT_FALSE(library_->suits({1, 4096, 4096}));
  EXPECT_FALSE(library_->suits({64, 64, 64}));
}

TEST_F(CublasTest, LaunchesThatDoNotFit) {
  LibraryProduct product{32, 32, 32, 1, {0, 32}, {0, 32}, {0, 32}};
  draw(product);
  Launch launch = launch_of(product);
  launch.bindings.pop_back();
  EXPECT_TRUE(throws(ErrorKind::kInternal, "2 buffers are bound, it has 3", [&] { device_->record({launch}); }));
  launch = launch_of(product);
  launch.groups[0] = 2;
  EXPECT_TRUE(throws(ErrorKind::kInternal, "several groups", [&] { device_->record({launch}); }));
}

TEST_F(CublasTest, ALibraryThatIsNotThereIsNotUsed) {
  auto context = std::make_shared<cuda::Context>(cuda::find_devices().front());
  for (const char* file : {"/no/such/libcublasLt.so.12", STANDIN_LIBNVRTC}) {
    setenv("ORTOLAN_LIBCUBLASLT", file, 1);
    EXPECT_EQ(cuda::Cublas::open(context), nullptr);
  }
  setenv("ORTOLAN_LIBCUBLASLT", STANDIN_LIBCUBLASLT, 1);
}

}  // namespace
}  // namespace ortolan::gpu
