// Blocks of device memory are used again as soon as no queued work can use them.
#include "gpu/epkit/device_memory.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

#include "gpu/testdevice/test_device.h"
#include "thrown_text.h"

namespace ortolan::gpu::epkit {
namespace {

constexpr size_t kBytes = 1000;

class DeviceMemoryTest : public ::testing::Test {
 protected:
  /** A block that was freed is the one that the next request gets. */
  bool is_used_again(void* freed) {
    void* next = memory_.allocate(kBytes);
    return next == freed;
  }

  test::TestDevice device_{test::TestDeviceOptions{}};
  DeviceMemory memory_{device_};
  int first_ = 0, second_ = 0;  // whose addresses name queues
};

TEST_F(DeviceMemoryTest, ABlockIsUsedAgainAtOnceWhereNoQueueIsBusy) {
  void* block = memory_.allocate(kBytes);
  memory_.free(block);
  EXPECT_TRUE(is_used_again(block));
}

TEST_F(DeviceMemoryTest, QueuedWorkKeepsAFreedBlock) {
  memory_.queue_is_busy(&first_);
  void* block = memory_.allocate(kBytes);
  memory_.free(block);
  EXPECT_FALSE(is_used_again(block));
  memory_.queue_is_idle(&first_);
  EXPECT_TRUE(is_used_again(block));
}

TEST_F(DeviceMemoryTest, EachQueueThatWasBusyKeepsIt) {
  void* block = memory_.allocate(kBytes);
  memory_.queue_is_busy(&first_);
  memory_.queue_is_busy(&second_);
  memory_.free(block);
  memory_.queue_is_idle(&first_);
  EXPECT_FALSE(is_used_again(block));
  memory_.queue_is_idle(&second_);
  EXPECT_TRUE(is_used_again(block));
}

TEST_F(DeviceMemoryTest, WorkThatCameLaterDoesNotKeepIt) {
  void* block = memory_.allocate(kBytes);
  memory_.queue_is_busy(&first_);
  memory_.free(block);
  memory_.queue_is_busy(&second_);
  memory_.queue_is_idle(&first_);
  EXPECT_TRUE(is_used_again(block));
}

TEST_F(DeviceMemoryTest, QueuesThatAreNeverIdleTogetherTakeNoMoreAndMore) {
  std::set<void*> seen;
  memory_.queue_is_busy(&first_);
  for (int run = 0; run < 100; run++) {
    const void* ends = run % 2 == 0 ? &first_ : &second_;
    const void* begins = run % 2 == 0 ? &second_ : &first_;
    memory_.queue_is_busy(begins);
    void* block = memory_.allocate(kBytes);
    memory_.free(block);
    memory_.queue_is_idle(ends);
    seen.insert(block);
  }
  EXPECT_LE(seen.size(), 3u);
}

TEST_F(DeviceMemoryTest, FewBytesFromTheHostAreRememberedUntilTheyMayChange) {
  const std::vector<std::byte> four(4, std::byte{7}), many(1000);
  auto* block = static_cast<std::byte*>(memory_.allocate(kBytes));
  EXPECT_TRUE(memory_.remembered(block, 4).empty());
  memory_.remember(block, four.data(), 4);
  memory_.remember(block + 8, four.data(), 4);
  EXPECT_EQ(memory_.remembered(block, 4), four);
  EXPECT_TRUE(memory_.remembered(block, 2).empty());
  EXPECT_TRUE(memory_.remembered(block + 4, 4).empty());
  memory_.range_to_write(block + 4, 4);
  EXPECT_EQ(memory_.remembered(block, 4), four);
  memory_.range_to_write(block + 3, 1);
  EXPECT_TRUE(memory_.remembered(block, 4).empty());
  EXPECT_EQ(memory_.remembered(block + 8, 4), four);
  memory_.free(block);
  ASSERT_TRUE(is_used_again(block));
  EXPECT_TRUE(memory_.remembered(block + 8, 4).empty());
  memory_.remember(block, many.data(), many.size());
  EXPECT_TRUE(memory_.remembered(block, many.size()).empty()) << "what is large is on the device alone";
}

TEST_F(DeviceMemoryTest, NothingOfImportedMemoryIsRemembered) {
  const std::vector<std::byte> four(4, std::byte{7});
  void* imported = memory_.adopt(device_.allocate(1000));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(imported) % 256, 0u);
  memory_.remember(imported, four.data(), 4);
  EXPECT_TRUE(memory_.remembered(imported, 4).empty());
  EXPECT_EQ(memory_.range(imported, 1000).bytes, 1000u);
  EXPECT_TRUE(ortolan::test::throws<Error>("in no block", [&] { memory_.range(imported, 1001); }));
  auto* next = static_cast<std::byte*>(memory_.allocate(kBytes));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(next) % 256, 0u);
  memory_.let_go(imported);
  EXPECT_TRUE(ortolan::test::throws<Error>("in no block", [&] { memory_.range(imported, 4); }));
}

}  // namespace
}  // namespace ortolan::gpu::epkit
