// Kernels of the stand-in driver: those of the test device, found by what the stand-in compiler wrote.
#pragma once

#include <array>

#include "cuda/kernel.h"
#include "driver_state.h"
#include "gpu/testdevice/registry.h"

namespace ortolan::gpu::cuda {

struct CUmod_st {
  std::string kernel;
  std::map<std::string, int, std::less<>> constants;  // K_VW, WGX and WGY among them
};
struct CUfunc_st {
  CUmod_st* module;
  const test::KernelDescription* description;
};

/** The image of a module begins so. */
constexpr const char* kImageMark = "stand-in of NVRTC for ";
constexpr const char* kReadyMark = "// Ortolan's kernel for ";

/** A launch as it was asked for, with its arguments' values. */
struct KernelLaunch {
  CUfunction function;
  std::array<uint32_t, 3> groups;
  std::vector<CUdeviceptr> buffers;
  std::vector<std::byte> params;
  std::array<uint32_t, 3> meant;  // the groups before they were folded to those of a grid

  /** kSuccess, or the code for a launch that does not fit the kernel. */
  static CUresult make(const KernelNodeParams& node, KernelLaunch& launch);
  /** Runs all groups. */
  CUresult run(DriverState& state) const;

 private:
  void run_groups(test::LaunchFrame& frame) const;
};

}  // namespace ortolan::gpu::cuda
