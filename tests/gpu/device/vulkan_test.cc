// What the Vulkan backend makes of failures, lies and repetition. Most need a driver.
#include "vulkan/device.h"

#include <fcntl.h>
#include <unistd.h>
#include <chrono>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "gpu/vulkan_device.h"
#include "tested_device.h"
#include "vulkan/codes.h"
#include "vulkan/spirv.h"
#include "vulkan_faults.h"

namespace ortolan::gpu {
namespace {

TEST(VulkanCodes, AreToldByName) {
  EXPECT_EQ(vulkan::result_name(VK_ERROR_DEVICE_LOST), "VK_ERROR_DEVICE_LOST (-4)");
  EXPECT_EQ(vulkan::result_name(static_cast<VkResult>(-99)), "a result that Vulkan 1.3 does not know (-99)");
}

TEST(VulkanFeatures, AreSwitchedOffByName) {
  vulkan::Features all{true, true, true, true, true, true, true, true, true, true};
  vulkan::Features some = vulkan::without(all, "subgroup,mapped");
  EXPECT_FALSE(some.subgroup || some.mapped);
  EXPECT_TRUE(some.int64 && some.int_dot && some.push_descriptor);
  for (const vulkan::NamedFeature& feature : vulkan::all_features()) {
    EXPECT_FALSE(vulkan::without(all, feature.name).*feature.member) << feature.name;
  }
  EXPECT_TRUE(throws(ErrorKind::kInvalid, "names 'colour', which is none of int64, half_arithmetic",
                     [&] { vulkan::without(all, "subgroup,colour"); }));
}

TEST(VulkanSpirv, IsChosenByWhatTheTextKnows) {
  vulkan::Features none, sums;
  sums.subgroup = true;
  const auto& plain = vulkan::spirv_of("softmax", none, true);
  EXPECT_NE(plain.on, vulkan::spirv_of("softmax", sums, true).on);
  EXPECT_EQ(vulkan::spirv_of("copy", none, true).words.data(), vulkan::spirv_of("copy", sums, true).words.data());
  EXPECT_EQ(vulkan::count_bindings(plain.words), 2u);
  EXPECT_TRUE(throws(ErrorKind::kInternal, "kernel nothing", [] { vulkan::spirv_of("nothing", {}, true); }));
}

PFN_vkVoidFunction VKAPI_CALL early_loader(VkInstance, const char*) { return nullptr; }

TEST(VulkanPlatform, AnAbsentDriverIsToldWithPackages) {
  EXPECT_TRUE(throws(ErrorKind::kNoDevice, "the loader knows Vulkan 1.0 only; install one of the packages mesa-vulkan",
                     [] { vulkan::find_devices(early_loader); }));
}

/** On the first device of the watched loader. */
class VulkanTest : public DeviceTest {
 protected:
  static std::unique_ptr<Device> open_watched() {
    return vulkan::open_device(vulkan::find_devices(watched_entry).front());
  }
  void SetUp() override {
    open_or_skip([] {
      keep_vulkan_driver();
      return open_watched();
    });
  }
  static std::vector<vulkan::FoundDevice> find() { return vulkan::find_devices(watched_entry); }
  void expect_usable() { EXPECT_EQ(download(*upload({1, 2})), std::vector<float>({1, 2})); }

  /** Softmax of a row on a device of its own. */
  static std::vector<float> run_all(const std::vector<float>& x) {
    std::unique_ptr<Device> device = open_watched();
    std::unique_ptr<Queue> queue = device->create_queue(true);
    const size_t bytes = x.size() * sizeof(float);
    std::unique_ptr<Buffer> in = device->allocate(bytes), out = device->allocate(bytes);
    queue->write(whole(*in), x.data());
    queue->copy(whole(*out), whole(*in));
    auto list = device->record({softmax_launch(device->load(softmax_spec(16), {}), 1, static_cast<int>(x.size()),
                                               external(0, bytes), {whole(*out)})});
    std::shared_ptr<LaunchTimes> times = queue->run_timed(*list, std::vector<BufferRange>{whole(*in)});
    queue->mark()->wait();
    if (times != nullptr) times->read();
    std::vector<float> y(x.size());
    queue->read(y.data(), whole(*out));
    queue->finish();
    return y;
  }
};

// Each function fails once, at each of its calls: an error comes or the right result, and the next try succeeds.
TEST_F(VulkanTest, WhateverFailsIsToldOrMadeUpFor) {
  const std::vector<float> x = random_floats(33), wanted = softmax_reference(x, 33);
  for (VkResult result : {VK_ERROR_OUT_OF_DEVICE_MEMORY, VK_ERROR_DEVICE_LOST, VK_ERROR_UNKNOWN}) {
    for (const std::string& function : watched_functions()) {
      bool is_met = true;
      for (int works = 0; is_met && works < 40; works++) {
        SCOPED_TRACE(function + " fails after " + std::to_string(works) + " with " + std::to_string(result));
        FailingVulkan failure(function, result, works, true);
        try {
          expect_near(run_all(x), wanted);
        } catch (const Error& error) {
          EXPECT_NE(std::string(error.what()).find("vulkan: "), std::string::npos) << error.what();
        }
        is_met = failure.was_met();
      }
      EXPECT_FALSE(is_met) << function;
    }
  }
  expect_near(run_all(x), wanted);
}

TEST_F(VulkanTest, ADriverThatDoesNotStartIsNoDevice) {
  FailingVulkan failure("vkCreateInstance", VK_ERROR_INCOMPATIBLE_DRIVER);
  EXPECT_TRUE(throws(ErrorKind::kNoDevice, "says VK_ERROR_INCOMPATIBLE_DRIVER (-9); install one of the packages",
                     [] { find(); }));
}

TEST_F(VulkanTest, DevicesThatLackSomethingAreToldWithIt) {
  auto expect_lack = [](const std::string& lacked, VulkanLies told) {
    LyingVulkan lying(std::move(told));
    EXPECT_TRUE(throws(ErrorKind::kNoDevice, "' lacks " + lacked, [] { find(); })) << lacked;
  };
  auto feature = [](auto change) { return VulkanLies{change, {}, {}, {}}; };
  using Features = VkPhysicalDeviceFeatures2;
  expect_lack("shaderInt16", feature([](Features& told) { told.features.shaderInt16 = VK_FALSE; }));
  expect_lack("storageBuffer16BitAccess", feature([](Features& told) {
                in_chain<VkPhysicalDevice16BitStorageFeatures>(&told,
                                                               VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_16BIT_STORAGE_FEATURES)
                    .storageBuffer16BitAccess = VK_FALSE;
              }));
  expect_lack("timelineSemaphore", feature([](Features& told) {
                in_chain<VkPhysicalDeviceTimelineSemaphoreFeatures>(
                    &told, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_TIMELINE_SEMAPHORE_FEATURES)
                    .timelineSemaphore = VK_FALSE;
              }));
  expect_lack("a queue that computes", {{}, {}, {}, [](auto& family) { family.queueFlags &= ~VK_QUEUE_COMPUTE_BIT; }});
  expect_lack("Vulkan 1.1", {{}, [](auto& told) { told.properties.apiVersion = VK_API_VERSION_1_0; }, {}, {}});
}

TEST_F(VulkanTest, SemaphoresOfOthersHoldWorkAndAreRaised) {
  LyingVulkan lying({{}, {}, {}, {}, true});
  std::unique_ptr<Device> device = open_watched();
  if (!device->imports_semaphores()) GTEST_SKIP() << "semaphores are switched off";
  const int file = open("/dev/null", O_RDONLY);
  std::shared_ptr<Semaphore> semaphore = device->import_semaphore(file);
  close(file);
  std::unique_ptr<Queue> queue = device->create_queue();
  std::unique_ptr<Buffer> from = device->allocate(8), to = device->allocate(8);
  const uint64_t number = 77;
  uint64_t copied = 0;
  queue->write(whole(*from), &number);
  queue->wait_for(semaphore, 2);
  queue->copy(whole(*to), whole(*from));
  std::atomic<bool> is_done{false};
  std::thread waiting([&] {
    queue->finish();
    is_done = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(is_done);
  raise_imported(2);
  waiting.join();
  queue->raise(semaphore, 9);
  queue->wait_for(semaphore, 9);
  semaphore.reset();
  queue->read(&copied, whole(*to));
  queue->finish();
  EXPECT_EQ(copied, number);
  EXPECT_TRUE(throws(ErrorKind::kInvalid, "descriptor 987654 as a timeline semaphore",
                     [&] { device->import_semaphore(987654); }));
}

TEST_F(VulkanTest, LyingDevicesAreMet) {
  auto traits_with = [](auto change) {
    LyingVulkan lying({{}, [&](VkPhysicalDeviceProperties2& told) { change(told.properties.limits); }, {}, {}});
    return find().front().traits;
  };
  EXPECT_EQ(traits_with([](auto& limits) { limits.maxStorageBufferRange = 0; }).max_binding_bytes, size_t{128} << 20);
  EXPECT_EQ(traits_with([](auto& limits) { limits.minStorageBufferOffsetAlignment = 0; }).offset_alignment, 256u);
  EXPECT_EQ(traits_with([](auto& limits) { limits.minStorageBufferOffsetAlignment = 4096; }).offset_alignment, 4096u);
  EXPECT_EQ(traits_with([](auto& limits) { limits.maxComputeWorkGroupInvocations = 0; }).max_group_items, 1);
  EXPECT_EQ(traits_with([](auto& limits) { limits.maxComputeSharedMemorySize = ~0u; }).shared_bytes, 32768u);
}

TEST_F(VulkanTest, WithoutTimestampsThereAreNoTimes) {
  LyingVulkan lying({{}, {}, {}, [](auto& family) { family.timestampValidBits = 0; }});
  use(open_watched());
  std::unique_ptr<Buffer> buffer = upload({1, 2});
  auto list =
      device_->record({softmax_launch(device_->load(softmax_spec(16), {}), 1, 2, {whole(*buffer)}, external(0, 8))});
  std::unique_ptr<Buffer> out = device_->allocate(8);
  EXPECT_EQ(device_->create_queue(true)->run_timed(*list, std::vector<BufferRange>{whole(*out)}), nullptr);
  expect_near(download(*out), softmax_reference({1, 2}, 2));
}

void tell_of_budget(VkPhysicalDeviceMemoryProperties2& told) {
  if (told.pNext == nullptr) return;
  auto& budget = in_chain<VkPhysicalDeviceMemoryBudgetPropertiesEXT>(
      &told, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MEMORY_BUDGET_PROPERTIES_EXT);
  for (VkDeviceSize& bytes : budget.heapBudget) bytes = 1000;
  for (VkDeviceSize& bytes : budget.heapUsage) bytes = 900;
}

TEST_F(VulkanTest, MemoryThatTheDriverHasNotIsNotAskedFor) {
  vulkan::FoundDevice found = find().front();
  found.features.memory_budget = true;
  use(vulkan::open_device(found));
  {
    LyingVulkan lying({{}, {}, tell_of_budget, {}});
    EXPECT_TRUE(throws(ErrorKind::kOutOfMemory, "has 100 bytes left for this process",
                       [&] { device_->allocate(size_t{50} << 20); }));
  }
  expect_usable();
}

TEST_F(VulkanTest, SmallBuffersShareMemory) {
  const int before = vulkan_calls("vkAllocateMemory");
  {
    std::vector<std::unique_ptr<Buffer>> buffers;
    for (int i = 0; i < 1000; i++) buffers.push_back(device_->allocate(1000));
    EXPECT_LE(vulkan_calls("vkAllocateMemory"), before + 1);
  }
  const int freed = vulkan_calls("vkFreeMemory");
  device_->allocate(size_t{40} << 20).reset();  // not of a slab
  EXPECT_EQ(vulkan_calls("vkFreeMemory"), freed + 1);
  for (int i = 0; i < 1000; i++) upload({1, 2, 3});
  EXPECT_LE(vulkan_calls("vkAllocateMemory"), before + 3);
}

TEST_F(VulkanTest, AReplayRecordsNothing) {
  std::vector<float> x = random_floats(33);
  std::unique_ptr<Buffer> in = upload(x), other = upload(x), out = upload(x);
  auto list =
      device_->record({softmax_launch(device_->load(softmax_spec(16), {}), 1, 33, external(0, 132), {whole(*out)})});
  auto begun = [&](Buffer& external) {
    const int before = vulkan_calls("vkBeginCommandBuffer");
    queue_->run(*list, std::vector<BufferRange>{whole(external)});
    queue_->finish();
    return vulkan_calls("vkBeginCommandBuffer") - before;
  };
  EXPECT_EQ(begun(*in), 1);
  EXPECT_EQ(begun(*in), 0);
  EXPECT_EQ(begun(*other), 1);
  EXPECT_EQ(begun(*in), 0);
  expect_near(download(*out), softmax_reference(x, 33));
}

TEST_F(VulkanTest, QueuesThatComeAndGoShareTimelines) {
  const int before = vulkan_calls("vkCreateSemaphore");
  for (int i = 0; i < 100; i++) device_->create_queue()->mark()->wait();
  EXPECT_LE(vulkan_calls("vkCreateSemaphore"), before + 1);
}

TEST_F(VulkanTest, WritesBehindWorkAreStaged) {
  std::vector<float> x = random_floats(9000), y = random_floats(9000);
  std::unique_ptr<Buffer> a = upload(x), b = device_->allocate(36000);
  const int before = vulkan_calls("vkCmdCopyBuffer");
  queue_->copy(whole(*b), whole(*a));
  queue_->write(whole(*a), y.data());
  EXPECT_EQ(vulkan_calls("vkCmdCopyBuffer"), before + 2);
  EXPECT_EQ(download(*b), x);
  EXPECT_EQ(download(*a), y);
}

TEST_F(VulkanTest, LargeBytesComeAndGoInParts) {
  std::vector<float> x = random_floats(size_t{10} << 20);
  expect_near(download(*upload(x)), x, 0);
}

TEST_F(VulkanTest, AForeignCacheIsNotRead) {
  std::vector<std::byte> binary = device_->load(softmax_spec(16), {})->binary();
  ASSERT_GE(binary.size(), 32u);
  binary[20] ^= std::byte{1};  // of the driver's name for itself
  EXPECT_TRUE(device_->load(softmax_spec(16), binary)->was_compiled());
  binary.resize(31);
  EXPECT_TRUE(device_->load(softmax_spec(16), binary)->was_compiled());
}

TEST_F(VulkanTest, GroupsThatAreTooLarge) {
  EXPECT_TRUE(throws(ErrorKind::kCompile, "groups of 65536 items", [&] { device_->load(softmax_spec(65536), {}); }));
  EXPECT_TRUE(throws(ErrorKind::kCompile, "choose a smaller WGX", [&] { device_->load(softmax_spec(-3), {}); }));
}

TEST_F(VulkanTest, ALostDeviceStaysLost) {
  std::unique_ptr<Queue> other = device_->create_queue();
  std::unique_ptr<Buffer> buffer = upload({1, 2});
  queue_->copy({buffer.get(), 0, 4}, {buffer.get(), 4, 4});
  {
    FailingVulkan failure("vkQueueSubmit", VK_ERROR_DEVICE_LOST);
    EXPECT_TRUE(
        throws(ErrorKind::kDeviceLost, "vkQueueSubmit says VK_ERROR_DEVICE_LOST (-4)", [&] { queue_->finish(); }));
  }
  auto is_lost = [](auto&& body) { return throws(ErrorKind::kDeviceLost, "was lost in an earlier call", body); };
  EXPECT_TRUE(is_lost([&] { queue_->finish(); }));
  EXPECT_TRUE(is_lost([&] { other->flush(); }));
  EXPECT_TRUE(is_lost([&] { other->write(whole(*buffer), "12345678"); }));
  EXPECT_TRUE(is_lost([&] { other->mark(); }));
  EXPECT_TRUE(is_lost([&] { device_->allocate(4); }));
  EXPECT_TRUE(is_lost([&] { device_->load(softmax_spec(16), {}); }));
  EXPECT_TRUE(is_lost([&] { device_->create_queue(); }));
  use(open_watched());
  expect_usable();
}

}  // namespace
}  // namespace ortolan::gpu
