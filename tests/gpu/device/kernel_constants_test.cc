// Reading the constants and buffers that kernel texts declare.
#include "gpu/kernels/kernel_constants.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace ortolan::gpu
