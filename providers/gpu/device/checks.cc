// Bounds and checks of the backends.
#include "gpu/device/checks.h"

#include <algorithm>
#include <bit>

#include "gpu/kernels/kernel_texts.h"

namespace ortolan::gpu {
namespace {

constexpr size_t kLeastBuffer = size_t{128} << 20;  // what OpenCL 1.2 and Vulkan demand of every device
constexpr size_t kLeastShared = size_t{32} << 10;
constexpr size_t kMostShared = size_t{16} << 20;
constexpr size_t kMostMemory = size_t{1} << 46;  // a driver that says more does not know
constexpr size_t kLeastAlignment = 256, kMostAlignment = 65536;
constexpr int kMostGroupItems = 4096;
constexpr uint32_t kLeastGroups = 65535;  // what Vulkan demands
constexpr int kMostComputeUnits = 65536;
constexpr size_t kMostParamBytes = 128;

[[noreturn]] void fail(const char* backend, const std::string& what) {
  throw Error(ErrorKind::kInternal, std::string(backend) + ": " + what);
}

bool is_inside(const BufferRange& range, size_t bytes) {
  return range.offset <= bytes && range.bytes <= bytes - range.offset;
}

}  // namespace

DeviceTraits with_sane_bounds(DeviceTraits traits) {
  if (traits.max_buffer_bytes < kLeastBuffer || traits.max_buffer_bytes > kMostMemory) traits.max_buffer_bytes = 0;
  if (traits.memory_bytes < kLeastBuffer || traits.memory_bytes > kMostMemory) {
    traits.memory_bytes = std::max(traits.max_buffer_bytes, kLeastBuffer);
  }
  if (traits.max_buffer_bytes == 0) traits.max_buffer_bytes = kLeastBuffer;
  traits.offset_alignment = std::bit_ceil(std::clamp(traits.offset_alignment, kLeastAlignment, kMostAlignment));
  traits.max_buffer_bytes = std::min(traits.max_buffer_bytes, traits.memory_bytes);
  traits.max_binding_bytes = std::min(std::max(traits.max_binding_bytes, kLeastBuffer), traits.max_buffer_bytes);
  for (size_t* bytes : {&traits.max_buffer_bytes, &traits.max_binding_bytes})
    *bytes -= *bytes % traits.offset_alignment;
  if (traits.shared_bytes == 0 || traits.shared_bytes > kMostShared) traits.shared_bytes = kLeastShared;
  traits.max_group_items = std::clamp(traits.max_group_items, 1, kMostGroupItems);
  for (uint32_t& most : traits.max_groups) most = std::clamp(most, kLeastGroups, kMostGroups);
  traits.compute_units = std::clamp(traits.compute_units, 1, kMostComputeUnits);
  return traits;
}

std::vector<DeclaredConstant> constants_of(const char* backend, const KernelSpec& spec) {
  auto fail_spec = [&](const std::string& what) { fail(backend, "kernel " + std::string(spec.name) + ": " + what); };
  const char* text = find_kernel_text(spec.name);
  if (text == nullptr) fail_spec("there is no text of this name");
  std::vector<DeclaredConstant> constants = {{"WGX", 1, 0}, {"WGY", 1, 1}, {"FOLDED", 0, 2}};
  for (const DeclaredConstant& declared : declared_constants(text)) constants.push_back(declared);
  for (const KernelConstant& given : spec.constants) {
    auto found = std::find_if(constants.begin(), constants.end(), [&](auto& each) { return each.name == given.name; });
    if (found == constants.end()) fail_spec("its text has no constant " + std::string(given.name));
    found->value = given.value;
  }
  return constants;
}

void check_launch(const char* backend, const std::string& kernel, size_t buffers, const DeviceTraits& traits,
                  const Launch& launch) {
  auto fail_launch = [&](const std::string& what) { fail(backend, "kernel " + kernel + ": " + what); };
  if (launch.bindings.size() != buffers) {
    fail_launch(std::to_string(launch.bindings.size()) + " buffers are bound, it has " + std::to_string(buffers));
  }
  if (launch.params.size() > kMostParamBytes) {
    fail_launch("the parameters have " + std::to_string(launch.params.size()) + " bytes, at most " +
                std::to_string(kMostParamBytes) + " are allowed");
  }
  for (int axis = 0; axis < 3; axis++) {
    uint32_t groups = launch.groups[axis];
    if (groups < 1 || groups > traits.max_groups[axis]) fail_launch("it has " + std::to_string(groups) + " groups");
  }
}

void check_range(const char* backend, const BufferRange& range) {
  const size_t bytes = range.buffer == nullptr ? 0 : range.buffer->bytes();
  if (range.buffer != nullptr && is_inside(range, bytes)) return;
  fail(backend, std::to_string(range.bytes) + " bytes at " + std::to_string(range.offset) +
                    " are outside of their buffer of " + std::to_string(bytes) + " bytes");
}

void check_bound_range(const char* backend, const BufferRange& range, const DeviceTraits& traits) {
  check_range(backend, range);
  if (range.bytes > traits.max_binding_bytes) {
    fail(backend, std::to_string(range.bytes) + " bytes of a buffer are bound, at most " +
                      std::to_string(traits.max_binding_bytes) + " may be");
  }
  if (range.offset % traits.offset_alignment == 0) return;
  fail(backend, "a buffer is bound at the odd offset " + std::to_string(range.offset) +
                    ", which is not a multiple of " + std::to_string(traits.offset_alignment));
}

BufferRange part_of_external(const char* backend, std::span<const BufferRange> externals, size_t number,
                             const BufferRange& part) {
  if (number >= externals.size()) fail(backend, "external buffer " + std::to_string(number) + " is not given");
  const BufferRange& given = externals[number];
  if (is_inside(part, given.bytes)) return {given.buffer, given.offset + part.offset, part.bytes};
  fail(backend, "external buffer " + std::to_string(number) + " has " + std::to_string(given.bytes) +
                    " bytes, a kernel is to see " + std::to_string(part.bytes) + " at " + std::to_string(part.offset));
}

void check_buffer_size(const char* backend, size_t bytes, const DeviceTraits& traits) {
  if (bytes <= traits.max_buffer_bytes) return;
  throw Error(ErrorKind::kOutOfMemory, std::string(backend) + ": a buffer of " + std::to_string(bytes) +
                                           " bytes is larger than the " + std::to_string(traits.max_buffer_bytes) +
                                           " that device '" + traits.name + "' allows");
}

std::string words_of(const char* verb, const BufferRange& range) {
  return std::string(verb) + " " + std::to_string(range.bytes) + " bytes at " + std::to_string(range.offset);
}

}  // namespace ortolan::gpu
