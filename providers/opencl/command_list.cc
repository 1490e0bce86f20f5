// Records launches, and binds their external buffers.
#include "opencl/command_list.h"

#include "gpu/device/checks.h"

namespace ortolan::gpu::opencl {
namespace {

const OpenClKernel& kernel_of(const Launch& launch) { return static_cast<const OpenClKernel&>(*launch.kernel); }

/** NULL where the launch is of a kernel. */
const ClblastProduct* product_of(const Launch& launch) {
  return dynamic_cast<const ClblastProduct*>(launch.kernel.get());
}

RecordedLaunch create_launch(const Launch& launch, const ClblastProduct& product) {
  bool is_one_group = launch.groups == std::array<uint32_t, 3>{1, 1, 1};
  if (launch.bindings.size() != 3 || !launch.params.empty() || !is_one_group) {
    throw Error(ErrorKind::kInternal, "opencl: a product of " + product.name() + " has " +
                                          std::to_string(launch.bindings.size()) + " buffers, " +
                                          std::to_string(launch.params.size()) +
                                          " bytes of parameters, or several groups; it has three buffers alone");
  }
  return {launch.kernel, {}, {}, {}, &product.name(), &product};
}

RecordedLaunch create_launch(const Launch& launch) {
  const OpenClKernel& kernel = kernel_of(launch);
  RecordedLaunch recorded{launch.kernel, kernel.create(), {}, kernel.group_size(), &kernel.name()};
  for (size_t axis = 0; axis < 3; axis++) recorded.items[axis] = launch.groups[axis] * recorded.group_size[axis];
  return recorded;
}

}  // namespace

OpenClCommandList::OpenClCommandList(std::shared_ptr<Context> context, const std::vector<Launch>& launches)
    : context_(std::move(context)) {
  launches_.reserve(launches.size());
  for (const Launch& launch : launches) record(launch);
}

void OpenClCommandList::record(const Launch& launch) {
  const ClblastProduct* product = product_of(launch);
  if (product == nullptr) {
    const OpenClKernel& kernel = kernel_of(launch);
    check_launch("opencl", kernel.name(), kernel.arguments() - 1, context_->traits(), launch);
  }
  launches_.push_back(product == nullptr ? create_launch(launch) : create_launch(launch, *product));
  cl_uint argument = 0;
  for (const Binding& binding : launch.bindings) record_binding(binding, argument++);
  if (product != nullptr) return;
  set_argument(launches_.size() - 1, argument, launch.params.size(), launch.params.data());
}

void OpenClCommandList::record_binding(const Binding& binding, cl_uint argument) {
  const BufferRange& range = binding.range;
  if (binding.external < 0) {
    fixed_.emplace_back(range, context_->traits());
    set_buffer(launches_.size() - 1, argument, fixed_.back());
    return;
  }
  if (externals_.size() <= static_cast<size_t>(binding.external)) externals_.resize(binding.external + 1);
  externals_[binding.external].uses.push_back({launches_.size() - 1, argument, range, {}});
}

void OpenClCommandList::set_argument(size_t launch, cl_uint argument, size_t bytes, const void* value) {
  const RecordedLaunch& recorded = launches_[launch];
  cl_int code = clSetKernelArg(recorded.kernel.get(), argument, bytes, value);
  context_->check(code, "clSetKernelArg", [&] {
    return std::to_string(bytes) + " bytes as argument " + std::to_string(argument) + " of kernel " + *recorded.name;
  });
}

void OpenClCommandList::set_buffer(size_t launch, cl_uint argument, const BoundRange& bound) {
  cl_mem memory = bound.get();
  if (launches_[launch].product != nullptr) {
    launches_[launch].matrices[argument] = memory;
  } else {
    set_argument(launch, argument, sizeof memory, &memory);
  }
}

void OpenClCommandList::bind(std::span<const BufferRange> externals) {
  for (size_t i = 0; i < externals_.size(); i++) {
    External& external = externals_[i];
    if (external.uses.empty()) continue;
    part_of_external("opencl", externals, i, {});  // it is given
    const BufferRange& range = externals[i];
    uint64_t block = block_of(range).number();
    if (block == external.block && range.offset == external.offset && range.bytes == external.bytes) continue;
    external.block = 0;
    for (ExternalUse& use : external.uses) rebind(use, part_of_external("opencl", externals, i, use.part));
    external.block = block;
    external.offset = range.offset;
    external.bytes = range.bytes;
  }
}

void OpenClCommandList::rebind(ExternalUse& use, const BufferRange& range) {
  use.bound = BoundRange(range, context_->traits());
  set_buffer(use.launch, use.argument, use.bound);
}

}  // namespace ortolan::gpu::opencl
