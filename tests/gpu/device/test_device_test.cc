// What the test device finds in kernels, and the faults that it has in store.
#include "gpu/testdevice/test_device.h"

#include <cstring>

#include "tested_device.h"

namespace ortolan::gpu {
namespace {

class TestDeviceTest : public DeviceTest {
 protected:
  void SetUp() override { open(0); }
  void open(unsigned order) {
    queue_.reset();
    test::TestDeviceOptions options;
    options.order = order;
    options.memory_bytes = 4096;
    use(std::make_unique<test::TestDevice>(options));
  }
  test::TestDevice& device() { return static_cast<test::TestDevice&>(*device_); }

  /** Four groups of 16 items over 64 elements. */
  void run_bad(int mode) {
    std::unique_ptr<Buffer> x = upload(std::vector<float>(64, 1.0f)), y = upload(std::vector<float>(64, 0.0f));
    Launch launch{device_->load({"bad", {{"WGX", 16}, {"MODE", mode}}}, {}), {4, 1, 1}, {{whole(*x)}, {whole(*y)}}, {}};
    launch.params.resize(4);
    std::memcpy(launch.params.data(), &mode, 4);
    auto list = device_->record({launch});
    queue_->run(*list, {});
    queue_->finish();
  }
};

/** What is found in the order from first to last. */
constexpr const char* kFaults[] = {
    "read outside: x[64], size 64, group 3, item 15",
    "write outside: y[64], size 64, group 3, item 15",
    "read before any write: s[15], size 16, group 0, item 0",
    "read before any write: s[1], size 16, group 0, item 1",
    "a barrier is not reached by all items; ended 8",
    "items wait at different barriers, the other at line",
    "race between groups (write): y[0], size 64, group 1, item 0",
    "access outside of a private array: a[4], size 4, group 0, item 0",
    "write outside: s[16], size 16, group 0, item 15",
    "race (read of another item's write): s[7], size 16, group 0, item 8",
};

TEST_F(TestDeviceTest, EveryFaultIsFoundWhereItIs) {
  run_bad(0);
  for (int mode = 1; mode <= 10; mode++) {
    EXPECT_TRUE(throws(ErrorKind::kInternal, kFaults[mode - 1], [&] { run_bad(mode); })) << mode;
  }
}

TEST_F(TestDeviceTest, FaultsAreFoundInEveryOrder) {
  for (unsigned order : {1u, 2u, 7u, 12u}) {
    open(order);
    run_bad(0);
    for (int mode = 1; mode <= 10; mode++) {
      EXPECT_TRUE(throws(ErrorKind::kInternal, "kernel bad", [&] { run_bad(mode); })) << mode << " in order " << order;
    }
  }
}

using TestDeviceDeathTest = TestDeviceTest;
TEST_F(TestDeviceDeathTest, OverflowIsFoundBySanitisers) {
  if (std::string(ORTOLAN_SANITIZE).find("undefined") == std::string::npos) {
    GTEST_SKIP() << "built without -fsanitize=undefined";
  }
  EXPECT_DEATH(run_bad(11), "signed integer overflow");
}

TEST_F(TestDeviceTest, AResultThatIsReadTooEarlyIsWrong) {
  std::unique_ptr<Buffer> buffer = upload({1, 2});
  std::vector<float> out(2, 0.0f);
  queue_->read(out.data(), whole(*buffer));
  queue_->flush();
  EXPECT_EQ(out, std::vector<float>({0, 0}));
  queue_->finish();
  EXPECT_EQ(out, std::vector<float>({1, 2}));
}

TEST_F(TestDeviceTest, AQueueThatDoesNotWaitForAnotherIsWrong) {
  std::unique_ptr<Buffer> buffer = upload({1, 2});
  const std::vector<float> values = {3, 4};
  std::unique_ptr<Queue> other = device_->create_queue();
  other->write(whole(*buffer), values.data());
  EXPECT_EQ(download(*buffer), std::vector<float>({1, 2}));
}

TEST_F(TestDeviceTest, AMissingBarrierIsFound) {
  std::unique_ptr<Buffer> a = upload(random_floats(33)), b = device_->allocate(132), c = device_->allocate(132);
  std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(16), {});
  Launch first = softmax_launch(kernel, 1, 33, {whole(*a)}, {whole(*b)});
  Launch second = softmax_launch(kernel, 1, 33, {whole(*b)}, {whole(*c)});
  second.after_barrier = false;
  auto list = device_->record({first, second});
  queue_->run(*list, {});
  EXPECT_TRUE(throws(ErrorKind::kInternal, "no barrier keeps its buffer", [&] { queue_->finish(); }));
}

TEST_F(TestDeviceTest, OneBufferIsNotReadAndWritten) {
  std::unique_ptr<Buffer> a = upload(random_floats(33));
  std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(16), {});
  auto list = device_->record({softmax_launch(kernel, 1, 33, {whole(*a)}, {whole(*a)})});
  queue_->run(*list, {});
  EXPECT_TRUE(throws(ErrorKind::kInternal, "buffers 0 and 1 overlap", [&] { queue_->finish(); }));
}

TEST_F(TestDeviceTest, AllocationsFailAsTold) {
  device().faults().allocations_to_failure = 1;
  std::unique_ptr<Buffer> first = device_->allocate(4);
  EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "4 bytes are not free; 4 of 4096", [&] { device_->allocate(4); }));
  device_->allocate(4);
}

TEST_F(TestDeviceTest, MemoryComesToAnEnd) {
  std::unique_ptr<Buffer> first = device_->allocate(4000);
  EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "100 bytes are not free", [&] { device_->allocate(100); }));
  first.reset();
  EXPECT_EQ(device().bytes_in_use(), 0u);
  device_->allocate(4096);
}

TEST_F(TestDeviceTest, KernelsFailToCompileAsTold) {
  device().faults().kernels_to_failure = 0;
  EXPECT_TRUE(
      throws(ErrorKind::kCompile, "kernel softmax does not compile", [&] { device_->load(softmax_spec(16), {}); }));
  std::shared_ptr<const Kernel> kernel = device_->load(softmax_spec(16), {});
  device_->load(softmax_spec(16), kernel->binary());
  EXPECT_EQ(device().compiled(), 1);
  EXPECT_EQ(device().loaded(), 1);
}

TEST_F(TestDeviceTest, ALostDeviceStaysLost) {
  std::unique_ptr<Buffer> a = upload(random_floats(33)), b = device_->allocate(132);
  auto list = device_->record({softmax_launch(device_->load(softmax_spec(16), {}), 1, 33, {whole(*a)}, {whole(*b)})});
  std::unique_ptr<Queue> other = device_->create_queue();
  device().faults().launches_to_loss = 1;
  queue_->run(*list, {});
  queue_->finish();
  queue_->run(*list, {});
  auto is_lost = [](auto&& body) { return throws(ErrorKind::kDeviceLost, "the device is lost", body); };
  EXPECT_TRUE(is_lost([&] { queue_->finish(); }));
  EXPECT_TRUE(is_lost([&] { queue_->finish(); }));
  EXPECT_TRUE(is_lost([&] { other->write({a.get(), 0, 4}, "abcd"); }));
  EXPECT_TRUE(is_lost([&] { device_->allocate(4); }));
  EXPECT_TRUE(is_lost([&] { device_->load(softmax_spec(16), {}); }));
  EXPECT_TRUE(is_lost([&] { device_->create_queue(); }));
  EXPECT_EQ(device().launches(), 1);
}

}  // namespace
}  // namespace ortolan::gpu
