// The kernels that the test device has, with what their texts say of themselves.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gpu/testdevice/group.h"

namespace ortolan::gpu::test {

enum class Access { kRead, kWrite, kReadWrite, kAtomic };

struct BufferArgument {
  std::string name;
  int binding;
  size_t element_bytes;
  Access access;
};

struct ConstantArgument {
  std::string name;
  int id;
  int fallback;
};

struct KernelDescription {
  size_t param_bytes = 0;
  std::vector<BufferArgument> buffers;  // by binding
  std::vector<ConstantArgument> constants;
  void (*run_group)(Group&) = nullptr;
};

/** All kernels compiled for one vector width (K_VW), by name; width 0: those without vectors. */
std::map<std::string, KernelDescription, std::less<>>& kernels_of_width(int width);

/** The kernel for that width; NULL where there is none. */
const KernelDescription* find_kernel(std::string_view name, int width);

struct RegisterBuffer {
  RegisterBuffer(int width, const char* kernel, BufferArgument argument) {
    kernels_of_width(width)[kernel].buffers.push_back(std::move(argument));
  }
};

struct RegisterConstant {
  RegisterConstant(int width, const char* kernel, ConstantArgument argument) {
    kernels_of_width(width)[kernel].constants.push_back(std::move(argument));
  }
};

template <class Kernel>
struct RegisterKernel {
  RegisterKernel(int width, const char* name, size_t param_bytes) {
    KernelDescription& description = kernels_of_width(width)[name];
    description.param_bytes = param_bytes;
    description.run_group = [](Group& group) {
      Kernel kernel(group);
      run_items(group, [&](const Item& item) { return kernel.run(item); });
    };
  }
};

}  // namespace ortolan::gpu::test
