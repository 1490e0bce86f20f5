// Kernels as PTX that came with the library: which there are, and what stands in them.
#include "cuda/ready.h"

#include <algorithm>

#include "gpu/device/checks.h"
#include "gpu/kernels/kernel_texts.h"
#include "tested_device.h"

namespace ortolan::gpu {
namespace {

using cuda::ready_kernel;
using cuda::ready_texts;

class CudaReadyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (ready_texts().empty()) GTEST_SKIP() << "the build had no clang: install the package clang-14";
  }
  static std::string ptx_of(const KernelSpec& spec, int capability) {
    const std::vector<std::byte> bytes = ready_kernel(std::string(spec.name), constants_of("cuda", spec), capability);
    EXPECT_EQ(bytes.back(), std::byte{0});
    return reinterpret_cast<const char*>(bytes.data());
  }
};

TEST_F(CudaReadyTest, ConstantsAreInTheText) {
  const std::string ptx = ptx_of({"gather", {{"WGX", 32}, {"WGY", 4}, {"BYTES", 7777}}}, 70);
  EXPECT_EQ(
      ptx.rfind(
          "// Ortolan's kernel for compute_70 gather\n// K_VW=4\n// WGX=32\n// WGY=4\n// FOLDED=0\n// BYTES=7777\n", 0),
      0u);
  EXPECT_NE(ptx.find(", 7777;"), std::string::npos);
  EXPECT_NE(ptx.find("\n.maxntid 32, 4, 1\n.minnctapersm 1\n{"), std::string::npos);
  EXPECT_EQ(ptx.find("<BYTES>"), std::string::npos);
  EXPECT_NE(ptx.find("<"), std::string::npos) << "counts of registers stay";
}

TEST_F(CudaReadyTest, TheNewestTextThatTheGpuRuns) {
  KernelSpec spec{"product_matrix_units",
                  {{"WGX", 32}, {"WGY", 8}, {"DOWN", 2}, {"TM", 4}, {"TN", 4}, {"BK", 16}, {"FACTORS", 2}}};
  EXPECT_NE(ptx_of(spec, 75).find(".m16n8k8."), std::string::npos);
  EXPECT_NE(ptx_of(spec, 90).find(".m16n8k16."), std::string::npos);
  EXPECT_TRUE(throws(ErrorKind::kCompile, "is not ready-made with the constants", [&] { ptx_of(spec, 70); }));
  spec.constants.back().value = 1;
  EXPECT_NE(ptx_of(spec, 80).find(".tf32.tf32."), std::string::npos);
}

TEST_F(CudaReadyTest, WhatThereIsNotIsToldWithThePackage) {
  const KernelSpec spec{"softmax", {{"WGX", 48}, {"WGY", 1}}};
  for (const char* part : {"kernel softmax is not ready-made", "// WGX=48\n", "NVRTC is missing", "libnvrtc12"}) {
    EXPECT_TRUE(throws(ErrorKind::kCompile, part, [&] { ptx_of(spec, 90); }));
  }
  EXPECT_EQ(cuda::ready_target(90), "compute_70");
  EXPECT_TRUE(throws(ErrorKind::kNoDevice, "compute capability 6.1 needs NVRTC", [] { cuda::ready_target(61); }));
}

TEST_F(CudaReadyTest, EveryTextIsOfAKernelAndFixesItsConstants) {
  for (const cuda::ReadyText& text : ready_texts()) {
    KernelSpec spec{text.name, {}};
    for (std::string_view rest = text.fixed; !rest.empty();) {
      const std::string_view one = rest.substr(0, rest.find(','));
      rest.remove_prefix(std::min(one.size() + 1, rest.size()));
      const size_t equals = one.find('=');
      spec.constants.push_back({one.substr(0, equals), std::stoi(std::string(one.substr(equals + 1)))});
    }
    EXPECT_NE(ptx_of(spec, text.capability).find(".target sm_" + std::to_string(text.capability)), std::string::npos)
        << text.name << ' ' << text.fixed;
  }
}

}  // namespace
}  // namespace ortolan::gpu
