// Reading the constants and buffers that kernel texts declare.
#include "gpu/kernels/kernel_constants.h"

#include <gtest/gtest.h>

#include "gpu/device/checks.h"
#include "gpu/kernels/kernel_texts.h"
#include "gpu/testdevice/registry.h"

namespace ortolan::gpu {
namespace {

TEST(KernelConstants, AreReadWithTheirDefaults) {
  auto constants = declared_constants(
      "K_KERNEL(a)\nK_CONST(3, TM, 8)\n  K_CONST(4, TN, 1) \\\n// K_CONST(6, NO, 1)\nK_CONST( 5 , BIAS , -2 )\n");
  ASSERT_EQ(constants.size(), 3u);
  EXPECT_EQ(constants[0].name, "TM");
  EXPECT_EQ(constants[0].value, 8);
  EXPECT_EQ(constants[1].name, "TN");
  EXPECT_EQ(constants[2].name, "BIAS");
  EXPECT_EQ(constants[2].id, 5);
  EXPECT_EQ(constants[2].value, -2);
}

TEST(KernelConstants, OfEveryKernel) {
  for (const KernelText& kernel : kernel_texts()) {
    std::string_view text = kernel.text;
    size_t count = 0;
    for (size_t at = text.find("K_CONST("); at != text.npos; at = text.find("K_CONST(", at + 1)) count++;
    EXPECT_EQ(declared_constants(text).size(), count) << kernel.name;
    for (const DeclaredConstant& constant : declared_constants(text)) EXPECT_FALSE(constant.name.empty());
  }
}

TEST(KernelBuffers, AreCountedAsTheTestDeviceHasThem) {
  for (const KernelText& kernel : kernel_texts()) {
    const test::KernelDescription* description = test::find_kernel(kernel.name, 4);
    ASSERT_NE(description, nullptr) << kernel.name;
    EXPECT_EQ(count_buffers(kernel.text), description->buffers.size()) << kernel.name;
  }
}

TEST(KernelConstants, OfASpecAreThereOnceWithItsValues) {
  auto constants = constants_of("x", {"softmax", {{"WGX", 8}, {"FOLDED", 1}, {"LOGARITHM", 1}}});
  auto values_of = [&](std::string_view name) {
    std::vector<std::pair<int, int>> found;  // id, value
    for (const DeclaredConstant& each : constants) {
      if (each.name == name) found.emplace_back(each.id, each.value);
    }
    return found;
  };
  using Values = std::vector<std::pair<int, int>>;
  EXPECT_EQ(values_of("WGX"), (Values{{0, 8}}));
  EXPECT_EQ(values_of("WGY"), (Values{{1, 1}}));
  EXPECT_EQ(values_of("FOLDED"), (Values{{2, 1}}));
  EXPECT_EQ(values_of("LOGARITHM"), (Values{{3, 1}}));
  EXPECT_EQ(values_of("HALF"), (Values{{4, 0}}));
}

}  // namespace
}  // namespace ortolan::gpu
