// Where the kernels of the test device register themselves.
#include "gpu/testdevice/registry.h"

namespace ortolan::gpu::test {

std::map<std::string, KernelDescription, std::less<>>& kernels_of_width(int width) {
  static auto* by_width = new std::map<int, std::map<std::string, KernelDescription, std::less<>>>;
  return (*by_width)[width];
}

const KernelDescription* find_kernel(std::string_view name, int width) {
  for (int compiled_for : {width, 0}) {
    auto& kernels = kernels_of_width(compiled_for);
    auto found = kernels.find(name);
    if (found != kernels.end()) return &found->second;
  }
  return nullptr;
}

}  // namespace ortolan::gpu::test
