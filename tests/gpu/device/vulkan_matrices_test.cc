// Matrices in kernels for Vulkan: that the build completes their types, and which sizes of them a device's units are
// given.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "gpu/vulkan_device.h"
#include "tested_device.h"
#include "vulkan/device.h"
#include "vulkan/matrix_types.h"
#include "vulkan/spirv.h"
#include "vulkan_faults.h"

namespace ortolan::gpu {
namespace {

constexpr uint32_t kTypeInt = 21, kTypeFloat = 22, kConstant = 43, kSpecConstant = 50, kDecorate = 71, kMatrix = 4456;

using Words = std::vector<uint32_t>;

/** An instruction: its number and operands. */
void add(Words& module, uint32_t op, const Words& operands) {
  module.push_back(static_cast<uint32_t>(operands.size() + 1) << 16 | op);
  module.insert(module.end(), operands.begin(), operands.end());
}

/** The operands of all instructions of a number, in order. */
std::vector<Words> all_of(std::span<const uint32_t> module, uint32_t op) {
  std::vector<Words> found;
  for (size_t at = 5; at < module.size(); at += module[at] >> 16) {
    if ((module[at] & 0xffff) == op) {
      found.emplace_back(module.begin() + static_cast<long>(at) + 1,
                         module.begin() + static_cast<long>(at + (module[at] >> 16)));
    }
  }
  return found;
}

/** A module with a type of matrices of floats of so many bits, whose rows are the specialisation constant 7 and columns
 * `columns`, both declared after it. */
Words module_with(uint32_t bits, uint32_t columns) {
  Words module = {0x07230203, 0x00010300, 0, 20, 0};
  add(module, 17, {vulkan::kMatricesCapability});
  add(module, 5, {1, 0x61});          // a name
  add(module, kDecorate, {9, 1, 7});  // SpecId
  add(module, kDecorate, {10, 1, 8});
  add(module, 19, {1});  // void
  add(module, kTypeInt, {2, 32, 0});
  add(module, kConstant, {2, 3, bits});
  add(module, kConstant, {2, 4, 3});  // a subgroup
  add(module, kConstant, {2, 5, 7});
  add(module, kConstant, {2, 6, columns});
  add(module, kMatrix, {8, 3, 4, 5, 6, 4});
  add(module, kTypeFloat, {11, 32});
  add(module, kSpecConstant, {2, 9, 16});
  add(module, kSpecConstant, {2, 10, 16});
  return module;
}

TEST(VulkanMatrices, NumbersBecomeTypesAndConstants) {
  const Words module = vulkan::with_matrix_types(module_with(32, 8));
  EXPECT_EQ(all_of(module, kMatrix), (std::vector<Words>{{8, 11, 4, 9, 10, 4}}));
  EXPECT_EQ(all_of(module, 17), (std::vector<Words>{{9}, {vulkan::kMatricesCapability}}));
  EXPECT_TRUE(all_of(module, 5).empty());
  auto place = [&](uint32_t head) { return std::find(module.begin(), module.end(), head); };
  EXPECT_LT(place(4 << 16 | kSpecConstant), place(7 << 16 | kMatrix));
  EXPECT_LT(place(3 << 16 | kTypeFloat), place(7 << 16 | kMatrix));
  Words of_halves = vulkan::with_matrix_types(module_with(16, 8));
  EXPECT_EQ(all_of(of_halves, kMatrix), (std::vector<Words>{{8, 20, 4, 9, 10, 4}}));
  EXPECT_EQ(all_of(of_halves, kTypeFloat), (std::vector<Words>{{11, 32}, {20, 16}}));
  EXPECT_EQ(of_halves[3], 21u);
}

TEST(VulkanMatrices, WhatThereIsNotIsTold) {
  auto complaint = [](const Words& module) {
    try {
      vulkan::with_matrix_types(module);
    } catch (const std::runtime_error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(complaint(module_with(64, 8)), "a matrix has floats of so many bits: 64, which there is not");
  EXPECT_EQ(complaint(module_with(32, 9)), "a matrix has the specialisation constant 9, which there is not");
  Words cut = module_with(32, 8);
  cut.pop_back();
  EXPECT_EQ(complaint(cut), "an instruction passes the module's end");
  EXPECT_EQ(complaint({1, 2}), "no module is so short");
}

/** The three types of the kernel, and that all they are made of is declared before. */
TEST(VulkanMatrices, TheKernelsAreComplete) {
  vulkan::Features features;
  for (bool has_steps : {false, true}) {
    for (bool has_long : {false, true}) {
      features.int64 = has_long;
      const std::span<const uint32_t> words = vulkan::spirv_of("product_cooperative", features, has_steps).words;
      EXPECT_TRUE(vulkan::has_matrices(words));
      const std::vector<Words> types = all_of(words, kMatrix);
      EXPECT_EQ(types.size(), 3u);
      for (const Words& type : types) {
        const auto* place = std::search(words.data(), words.data() + words.size(), type.begin(), type.end());
        const auto before = words.first(static_cast<size_t>(place - words.data()) - 1);
        std::set<uint32_t> floats, constants;
        for (const Words& each : all_of(before, kTypeFloat)) floats.insert(each[0]);
        for (const Words& each : all_of(before, kSpecConstant)) constants.insert(each[1]);
        EXPECT_TRUE(floats.count(type[1]) && constants.count(type[3]) && constants.count(type[4]));
      }
    }
  }
  EXPECT_FALSE(vulkan::has_matrices(vulkan::spirv_of("softmax", features, true).words));
}

class VulkanMatricesTest : public DeviceTest {
 protected:
  void SetUp() override {
    open_or_skip([] {
      keep_vulkan_driver();
      return vulkan::open_device(vulkan::find_devices(watched_entry).front());
    });
  }
  static VkCooperativeMatrixPropertiesKHR matrix(uint32_t m, uint32_t n, uint32_t k) {
    VkCooperativeMatrixPropertiesKHR matrix{};
    matrix.MSize = m;
    matrix.NSize = n;
    matrix.KSize = k;
    matrix.CType = matrix.ResultType = VK_COMPONENT_TYPE_FLOAT32_KHR;
    matrix.scope = VK_SCOPE_SUBGROUP_KHR;
    return matrix;
  }
  static VulkanLies lie_of(std::vector<VkCooperativeMatrixPropertiesKHR> matrices) {
    VulkanLies lies;
    lies.matrices = std::move(matrices);
    return lies;
  }
  static MatrixUnits units_with(VulkanLies lies) {
    LyingVulkan lying(std::move(lies));
    return vulkan::find_devices(watched_entry).front().traits.matrix_units;
  }
  static std::vector<int> sizes_with(std::vector<VkCooperativeMatrixPropertiesKHR> matrices) {
    const MatrixUnits units = units_with(lie_of(std::move(matrices)));
    EXPECT_EQ(units.half, units.whole.items > 0);
    EXPECT_FALSE(units.tf32 || units.bfloat || units.bytes);
    if (!units.half) return {};
    return {units.whole.rows, units.whole.columns, units.whole.depth, units.whole.items};
  }
};

TEST_F(VulkanMatricesTest, TheLargestThatTheKernelCanUse) {
  if (!units_with(lie_of({matrix(16, 16, 16)})).half) GTEST_SKIP() << "matrix units or 16-bit floats are switched off";
  using Sizes = std::vector<int>;
  EXPECT_EQ(sizes_with({matrix(16, 8, 8), matrix(16, 16, 16), matrix(16, 8, 16)}), (Sizes{16, 16, 16, 12}));
  EXPECT_EQ(sizes_with({matrix(8, 16, 16)}), (Sizes{8, 16, 16, 12}));
  EXPECT_EQ(sizes_with({matrix(16, 16, 24), matrix(64, 16, 16), matrix(12, 16, 16), matrix(0, 16, 16)}), Sizes{});
  auto with = [&](auto change) {
    VkCooperativeMatrixPropertiesKHR other = matrix(16, 16, 16);
    change(other);
    return sizes_with({other});
  };
  EXPECT_EQ(with([](auto&) {}), (Sizes{16, 16, 16, 12}));
  EXPECT_EQ(with([](auto& other) { other.CType = VK_COMPONENT_TYPE_FLOAT16_KHR; }), Sizes{});
  EXPECT_EQ(with([](auto& other) { other.ResultType = VK_COMPONENT_TYPE_FLOAT16_KHR; }), Sizes{});
  EXPECT_EQ(with([](auto& other) { other.AType = VK_COMPONENT_TYPE_FLOAT32_KHR; }), Sizes{});
  EXPECT_EQ(with([](auto& other) { other.BType = VK_COMPONENT_TYPE_FLOAT32_KHR; }), Sizes{});
  EXPECT_EQ(with([](auto& other) { other.scope = static_cast<decltype(other.scope)>(2); }), Sizes{});
  EXPECT_EQ(with([](auto& other) { other.saturatingAccumulation = VK_TRUE; }), Sizes{});
}

// What the kernel needs beside the matrices.
TEST_F(VulkanMatricesTest, NeedFullSubgroupsOfASizeThatIsChosenAndAMemoryModel) {
  auto without = [&](auto change) {
    VulkanLies lies = lie_of({matrix(16, 16, 16)});
    lies.features = [&](VkPhysicalDeviceFeatures2& features) { change(features); };
    return units_with(std::move(lies)).half;
  };
  EXPECT_FALSE(without([](VkPhysicalDeviceFeatures2& told) {
    in_chain<VkPhysicalDeviceVulkanMemoryModelFeatures>(&told,
                                                        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_MEMORY_MODEL_FEATURES)
        .vulkanMemoryModel = VK_FALSE;
  }));
  EXPECT_FALSE(without([](VkPhysicalDeviceFeatures2& told) {
    in_chain<VkPhysicalDeviceSubgroupSizeControlFeatures>(
        &told, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_FEATURES)
        .computeFullSubgroups = VK_FALSE;
  }));
  EXPECT_FALSE(without([](VkPhysicalDeviceFeatures2& told) {
    in_chain<VkPhysicalDeviceCooperativeMatrixFeaturesKHR>(
        &told, VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR)
        .cooperativeMatrix = VK_FALSE;
  }));
}

TEST(VulkanFeatures, MatricesNeedHalves) {
  vulkan::Features features;
  features.cooperative_matrix = features.half_arithmetic = true;
  EXPECT_TRUE(vulkan::without(features, "int64").cooperative_matrix);
  EXPECT_FALSE(vulkan::without(features, "half_arithmetic").cooperative_matrix);
}

}  // namespace
}  // namespace ortolan::gpu
