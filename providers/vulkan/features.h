// What a device may have beyond what every device must: each can be switched off, so that each way is tested.
#pragma once

#include <span>
#include <string>

namespace ortolan::gpu::vulkan {

struct Features {
  bool int64 = false;               // 64-bit integers in kernels
  bool half_arithmetic = false;     // 16-bit floats in kernels
  bool subgroup = false;            // sums over subgroups
  bool int_dot = false;             // dot products of four bytes in hardware
  bool cooperative_matrix = false;  // products of 16-bit floats on matrix units; needs half_arithmetic
  bool push_descriptor = false;     // buffers bound by commands; else by descriptor sets of a list
  bool memory_budget = false;       // the driver says how much memory is left
  bool mapped = false;              // host and device share memory: bytes are copied without staging
  bool external_memory = false;     // memory of other programs and libraries, by file descriptors
  bool external_semaphore = false;  // the same of semaphores
};

struct NamedFeature {
  const char* name;
  bool Features::*member;
};

/** By the names that ORTOLAN_VULKAN_WITHOUT takes. */
std::span<const NamedFeature> all_features();

/** Without those that the text names, between commas. Throws kInvalid for names that there are not. */
Features without(Features features, const std::string& names);

}  // namespace ortolan::gpu::vulkan
