// What Vulkan's results are called and mean.
#pragma once

#include <string>

#include "gpu/device/error.h"
#include "vulkan/functions.h"

namespace ortolan::gpu::vulkan {

/** As vulkan_core.h calls it, with its number. */
std::string result_name(VkResult result);

ErrorKind kind_of(VkResult result);

/** The error of a call: `asked` says what it was to do, with its values. */
Error error_of(VkResult result, const char* function, const std::string& asked);

/** Throws where the result is an error. `asked` is called for the words of error_of. */
void check(VkResult result, const char* function, auto&& asked) {
  if (result < 0) throw error_of(result, function, asked());
}

}  // namespace ortolan::gpu::vulkan
