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

int calls_of(const char* function) {
  return reinterpret_cast<int (*)(const char*)>(standin_function("standin_calls"))(function);
}
void fail(const char* function, int code) {
  reinterpret_cast<void (*)(const char*, int, int)>(standin_function("standin_fail"))(function, code, 0);
}

/** A softmax and two products of the same operands into external memory, with no barrier between the products. */
class CublasReplay : public CublasTest {
 protected:
  void SetUp() override {
    CublasTest::SetUp();
    draw(product_);
    x_ = a_;
    a_ = softmax_reference(x_, 32);
    in_ = upload(x_);
    factor_ = device_->allocate(kBytes);
    b_on_device_ = upload(b_);
    Launch first = launch_of(product_), second = first;
    first.bindings = {{whole(*factor_)}, {whole(*b_on_device_)}, external(0, kBytes)};
    second.bindings = {{whole(*factor_)}, {whole(*b_on_device_)}, external(1, kBytes)};
    second.after_barrier = false;
    list_ = device_->record(
        {softmax_launch(device_->load(softmax_spec(16), {}), 32, 32, {whole(*in_)}, {whole(*factor_)}), first, second});
  }
  /** Into memory of its own. */
  void expect_run() {
    std::unique_ptr<Buffer> c = device_->allocate(kBytes), d = device_->allocate(kBytes);
    const BufferRange externals[] = {whole(*c), whole(*d)};
    queue_->run(*list_, externals);
    expect_near(download(*c), reference(product_), 1e-4f);
    expect_near(download(*d), reference(product_), 1e-4f);
    kept_.push_back(std::move(c));
    kept_.push_back(std::move(d));
  }

  static constexpr size_t kBytes = 32 * 32 * sizeof(float);
  LibraryProduct product_{32, 32, 32, 1, {0, 32}, {0, 32}, {0, 32}};
  std::vector<float> x_;
  std::unique_ptr<Buffer> in_, factor_, b_on_device_;
  std::vector<std::unique_ptr<Buffer>> kept_;
  std::unique_ptr<CommandList> list_;
};

TEST_F(CublasReplay, ProductsArePartOfTheGraph) {
  expect_run();
  const int made = calls_of("cuGraphInstantiate"), replayed = calls_of("cuGraphLaunch"),
            captured = calls_of("cuStreamEndCapture"), launched = calls_of("cuLaunchKernel");
  for (int i = 0; i < 3; i++) expect_run();
  EXPECT_EQ(calls_of("cuGraphInstantiate"), made + 1);
  EXPECT_EQ(calls_of("cuGraphLaunch"), replayed + 3);
  EXPECT_EQ(calls_of("cuStreamEndCapture"), captured + 6);
  EXPECT_EQ(calls_of("cuLaunchKernel"), launched);
}

TEST_F(CublasReplay, WhatFailsIsToldAndTheNextRunWorks) {
  expect_run();
  for (const char* function : {"cuStreamCreate", "cuStreamBeginCapture", "cuStreamEndCapture",
                               "cuGraphAddChildGraphNode", "cuGraphInstantiate"}) {
    fail(function, cuda::kOutOfMemory);
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, function, [&] { expect_run(); })) << function;
    fail(function, 0);
    expect_run();
    list_.reset();
    SetUp();
    expect_run();
  }
}

TEST_F(CublasReplay, AProductThatCannotBeChangedMakesTheGraphAnew) {
  for (int i = 0; i < 2; i++) expect_run();
  const int made = calls_of("cuGraphInstantiate");
  fail("cuGraphExecChildGraphNodeSetParams", 910);
  expect_run();
  fail("cuGraphExecChildGraphNodeSetParams", 0);
  EXPECT_EQ(calls_of("cuGraphInstantiate"), made + 1);
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
