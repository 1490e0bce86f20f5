// Runs launches on the test device's kernels.
#include "kernel_launch.h"

#include <algorithm>
#include <cstring>

namespace ortolan::gpu::cuda {
namespace {

constexpr unsigned kOrder = 5;  // of items: a shuffle
constexpr CUresult kInvalidValue = 1, kMisaligned = 716;
constexpr unsigned kMostRows = 65535;

bool is_grid(const KernelNodeParams& node) {
  return node.grid_x > 0 && node.grid_y > 0 && node.grid_z > 0 && node.grid_x <= 0x7fffffff &&
         node.grid_y <= kMostRows && node.grid_z <= kMostRows;
}

bool is_block(const KernelNodeParams& node, const CUmod_st& module) {
  return node.block_x == static_cast<unsigned>(module.constants.at("WGX")) &&
         node.block_y == static_cast<unsigned>(module.constants.at("WGY")) && node.block_z == 1 &&
         node.block_x * node.block_y <= 1024 && node.shared_bytes == 0 && node.extra == nullptr;
}

uint64_t total(const std::array<uint32_t, 3>& groups) { return uint64_t{groups[0]} * groups[1] * groups[2]; }

}  // namespace

CUresult KernelLaunch::make(const KernelNodeParams& node, KernelLaunch& launch) {
  const test::KernelDescription& description = *node.func->description;
  if (!is_grid(node) || !is_block(node, *node.func->module)) return kInvalidValue;
  launch.function = node.func;
  launch.groups = launch.meant = {node.grid_x, node.grid_y, node.grid_z};
  const size_t count = description.buffers.size();
  for (size_t i = 0; i < count; i++) {
    launch.buffers.push_back(*static_cast<CUdeviceptr*>(node.params[i]));
    if (launch.buffers.back() % description.buffers[i].element_bytes != 0) return kMisaligned;
  }
  const auto* params = static_cast<const std::byte*>(node.params[count]);
  launch.params.assign(params, params + description.param_bytes);
  if (node.func->module->constants.at("FOLDED") == 0) return kSuccess;
  std::memcpy(launch.meant.data(), params + description.param_bytes, sizeof launch.meant);
  return total(launch.meant) <= total(launch.groups) ? kSuccess : kInvalidValue;
}

CUresult KernelLaunch::run(DriverState& state) const {
  std::vector<test::Argument> arguments;
  for (CUdeviceptr buffer : buffers) {
    auto block = state.find(buffer);
    bool is_known = block != state.blocks.end();
    arguments.push_back(
        {is_known ? state.memory(buffer, 0) : nullptr, is_known ? block->second.bytes - (buffer - block->first) : 0});
  }
  const CUmod_st& module = *function->module;
  test::LaunchFrame frame{module.kernel, arguments, module.constants, params.data(), {}, {}, kOrder, {}};
  const int sizes[] = {module.constants.at("WGX"), module.constants.at("WGY"), 1};
  std::copy(meant.begin(), meant.end(), frame.groups);
  std::copy(sizes, sizes + 3, frame.group_size);
  try {
    run_groups(frame);
  } catch (const Error& error) {
    state.last_error = error.what();
    return kIllegalAddress;
  }
  return kSuccess;
}

void KernelLaunch::run_groups(test::LaunchFrame& frame) const {
  const int x = frame.groups[0], y = frame.groups[1];
  for (int number = static_cast<int>(total(meant)) - 1; number >= 0; number--) {
    test::Group group{&frame, {number % x, number / x % y, number / (x * y)}, number};
    function->description->run_group(group);
  }
}

}  // namespace ortolan::gpu::cuda
