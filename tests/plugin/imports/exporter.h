// Memory that a program has from elsewhere and gives to a provider by a file descriptor.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace ortolan::plugin_test {

class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  /** A new descriptor, which the caller closes. */
  virtual int descriptor() const = 0;
  /** As the exporter sees it. */
  virtual std::span<std::byte> bytes() = 0;
};

/** A file in memory for the test device and stand-ins, memory of Vulkan's first device for Vulkan; NULL where Vulkan
 * exports none. */
std::unique_ptr<SharedMemory> make_shared_memory(const std::string& provider, size_t bytes);

}  // namespace ortolan::plugin_test
