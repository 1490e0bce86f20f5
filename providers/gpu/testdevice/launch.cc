// Checks and runs launches.
#include "gpu/testdevice/launch.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ortolan::gpu::test {
namespace {

[[noreturn]] void fail(const std::string& kernel, const std::string& what) {
  throw Error(ErrorKind::kInternal, "test device: kernel " + kernel + ": " + what);
}

bool is_written(const Launch& launch, size_t i) { return runnable_of(launch).writes(i); }

bool overlap(const Argument& a, const Argument& b) {
  return a.bytes > 0 && b.bytes > 0 && a.data < b.data + b.bytes && b.data < a.data + a.bytes;
}

constexpr size_t kCountsBytes = 3 * sizeof(uint32_t);  // of groups, behind the parameters

uint64_t total(const std::array<uint32_t, 3>& groups) { return uint64_t{groups[0]} * groups[1] * groups[2]; }

std::vector<int> order_of_groups(int count, unsigned order) {
  std::vector<int> turns(count);
  std::iota(turns.begin(), turns.end(), 0);
  if (order == 1) std::reverse(turns.begin(), turns.end());
  for (int i = count - 1; order > 1 && i > 0; i--) {
    order = order * 1664525u + 1013904223u;
    std::swap(turns[i], turns[(order >> 8) % static_cast<unsigned>(i + 1)]);
  }
  return turns;
}

}  // namespace

TestKernel::TestKernel(const KernelSpec& spec, int vector_width, std::span<const std::byte> binary) : name_(spec.name) {
  description_ = find_kernel(spec.name, vector_width);
  if (description_ == nullptr) fail(name_, "there is no such kernel for vectors of " + std::to_string(vector_width));
  for (const KernelConstant& constant : spec.constants) constants_[std::string(constant.name)] = constant.value;
  for (auto& [name, value] : constants_) {
    bool known = name == "WGX" || name == "WGY" || name == "FOLDED";
    for (const ConstantArgument& argument : description_->constants) known |= argument.name == name;
    if (!known) fail(name_, "its text has no constant " + name);
  }
  std::vector<std::byte> own = this->binary();
  was_compiled_ = !std::equal(binary.begin(), binary.end(), own.begin(), own.end());
}

int TestKernel::group_size(int axis) const {
  if (axis == 2) return 1;
  auto found = constants_.find(axis == 0 ? "WGX" : "WGY");
  return found == constants_.end() ? 1 : found->second;
}

std::vector<std::byte> TestKernel::binary() const {
  std::vector<std::byte> bytes(name_.size());
  std::memcpy(bytes.data(), name_.data(), name_.size());
  return bytes;
}

void TestKernel::check(const Launch& launch, const DeviceTraits& traits) const {
  if (launch.bindings.size() != description_->buffers.size()) {
    fail(name_, std::to_string(launch.bindings.size()) + " buffers are bound, it has " +
                    std::to_string(description_->buffers.size()));
  }
  size_t wanted = description_->param_bytes + (traits.limits_groups() ? kCountsBytes : 0);
  if (launch.params.size() != wanted || launch.params.size() > 128) {
    fail(name_, "the parameters have " + std::to_string(launch.params.size()) + " bytes, it takes " +
                    std::to_string(wanted) + ", at most 128");
  }
  for (size_t i = 0; i < launch.bindings.size(); i++) {
    const BufferRange& range = launch.bindings[i].range;
    if (description_->buffers[i].binding != static_cast<int>(i)) fail(name_, "its bindings are not in order");
    if (range.offset % traits.offset_alignment != 0) {
      fail(name_, "the offset " + std::to_string(range.offset) + " of buffer " + description_->buffers[i].name +
                      " is not a multiple of " + std::to_string(traits.offset_alignment));
    }
  }
  for (int axis = 0; axis < 3; axis++) {
    uint32_t groups = launch.groups[axis];
    if (groups < 1 || groups > traits.max_groups[axis]) fail(name_, "it has " + std::to_string(groups) + " groups");
  }
  if (group_size(0) * group_size(1) > traits.max_group_items) fail(name_, "its groups are too large");
}

std::array<uint32_t, 3> TestKernel::meant_groups(const Launch& launch) const {
  if (constants_.find("FOLDED") == constants_.end()) return launch.groups;
  std::array<uint32_t, 3> meant;
  std::memcpy(meant.data(), launch.params.data() + description_->param_bytes, kCountsBytes);
  if (total(launch.groups) < total(meant)) fail(name_, "its folded groups are too few");
  return meant;
}

LaunchFrame TestKernel::frame_of(const ReadyLaunch& ready, unsigned order) const {
  LaunchFrame frame{name_, ready.arguments, constants_, ready.launch->params.data(), {}, {}, order, {}};
  std::array<uint32_t, 3> groups = meant_groups(*ready.launch);
  for (int axis = 0; axis < 3; axis++) {
    frame.groups[axis] = static_cast<int>(groups[axis]);
    frame.group_size[axis] = group_size(axis);
  }
  return frame;
}

void TestKernel::run(const ReadyLaunch& ready, unsigned order) const {
  LaunchFrame frame = frame_of(ready, order);
  int count = frame.groups[0] * frame.groups[1] * frame.groups[2];
  for (int number : order_of_groups(count, order)) {
    Group group{&frame,
                {number % frame.groups[0], number / frame.groups[0] % frame.groups[1],
                 number / (frame.groups[0] * frame.groups[1])},
                number};
    description_->run_group(group);
  }
}

void check_overlaps(const ReadyLaunch& ready, std::span<const ReadyLaunch> beside) {
  const Launch& launch = *ready.launch;
  const std::string& name = runnable_of(launch).name();
  for (size_t i = 0; i < ready.arguments.size(); i++) {
    for (size_t j = 0; j < i; j++) {
      if (!is_written(launch, i) && !is_written(launch, j)) continue;
      if (overlap(ready.arguments[i], ready.arguments[j])) {
        fail(name, "buffers " + std::to_string(j) + " and " + std::to_string(i) + " overlap and one is written");
      }
    }
    for (const ReadyLaunch& other : beside) {
      for (size_t j = 0; j < other.arguments.size(); j++) {
        if (!is_written(launch, i) && !is_written(*other.launch, j)) continue;
        if (overlap(ready.arguments[i], other.arguments[j])) {
          fail(name, "no barrier keeps its buffer " + std::to_string(i) + " from buffer " + std::to_string(j) + " of " +
                         runnable_of(*other.launch).name() + ", and one is written");
        }
      }
    }
  }
}

}  // namespace ortolan::gpu::test
