// The texts of all kernels, and the dialects that make them OpenCL C or CUDA C++: the dialect, then the kernel's text.
#pragma once

#include <span>
#include <string_view>

namespace ortolan::gpu {

struct KernelText {
  std::string_view name;  // of the kernel and of its file
  const char* text;
};

/** By name. */
std::span<const KernelText> kernel_texts();

/** The text of a kernel; NULL where there is none of that name. */
inline const char* find_kernel_text(std::string_view name) {
  for (const KernelText& kernel : kernel_texts()) {
    if (kernel.name == name) return kernel.text;
  }
  return nullptr;
}

extern const char* const kOpenClDialect;
extern const char* const kCudaDialect;

}  // namespace ortolan::gpu
