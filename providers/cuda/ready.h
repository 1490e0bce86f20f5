// Kernels as PTX that was made when this library was built, for machines that have the driver and no NVRTC. Constants
// that size arrays and loops are fixed, a text for each choice; the driver compiles the others' values, which are put
// into the text, as it would have compiled constants.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/kernels/kernel_constants.h"

namespace ortolan::gpu::cuda {

struct ReadyText {
  std::string_view name;
  int capability = 0;         // compute capability that it needs, major * 10 + minor
  std::string_view fixed;     // constants, NAME=value, between commas
  const char* ptx = nullptr;  // with <NAME> for the value of each other constant
};

/** Made by CMake; none where the build had no clang. */
std::span<const ReadyText> ready_texts();
inline constexpr int kReadyVectorWidth = 4;

/** Throws kNoDevice where GPUs of this compute capability are too old for all; else the target, as the compiler's are
 * called. */
std::string ready_target(int capability);
/** PTX with its end mark, which begins with the kernel's name and constants in comments. Throws kCompile where there is
 * none of that kernel with these constants. */
std::vector<std::byte> ready_kernel(const std::string& name, std::span<const DeclaredConstant> constants,
                                    int capability);

}  // namespace ortolan::gpu::cuda
