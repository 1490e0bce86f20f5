// What every backend checks, with its name before the error's text.
#pragma once

#include "gpu/device/device.h"
#include "gpu/kernels/kernel_constants.h"

namespace ortolan::gpu {

/** The traits with their numbers within what OpenCL 1.2 and Vulkan demand and what a device can have: drivers give
 *  zeros, sizes that no memory has, and sizes that are no multiple of the alignment. */
DeviceTraits with_sane_bounds(DeviceTraits traits);

/** The dialect's constants, WGX, WGY (the group's size) and FOLDED with the ids 0 to 2, and all constants of the spec's
 * text, with the values that the spec gives. Throws kInternal, with the backend's name, where there is no such text or
 * constant. */
std::vector<DeclaredConstant> constants_of(const char* backend, const KernelSpec& spec);

/** Throws kInternal where a launch does not fit its kernel, which has so many buffers: number of buffers, the
 * parameters, groups. */
void check_launch(const char* backend, const std::string& kernel, size_t buffers, const DeviceTraits& traits,
                  const Launch& launch);

/** Throws kInternal where the range is outside of its buffer, or has none. */
void check_range(const char* backend, const BufferRange& range);

/** The same, and where kernels cannot be given the offset or so many bytes. */
void check_bound_range(const char* backend, const BufferRange& range, const DeviceTraits& traits);

/** The part of external buffer `number` that a binding stands for. Throws kInternal where it is not given or ends too
 * early. */
BufferRange part_of_external(const char* backend, std::span<const BufferRange> externals, size_t number,
                             const BufferRange& part);

/** Throws kOutOfMemory where one buffer cannot have so many bytes. */
void check_buffer_size(const char* backend, size_t bytes, const DeviceTraits& traits);

/** "verb N bytes at OFFSET", for errors. */
std::string words_of(const char* verb, const BufferRange& range);

}  // namespace ortolan::gpu
