// A group of nodes as bytes that outlive the model: what compiled models hold.
#pragma once

#include "gpu/core/graph.h"
#include "gpu/device/device.h"

namespace ortolan::gpu {

/** The format of the bytes; a library reads its own alone. */
inline constexpr uint32_t kStoredGroupVersion = 1;

/** What a cache has under a key. */
struct CacheEntry {
  std::string key;
  std::vector<std::byte> content;
};

struct StoredGroup {
  Graph graph;
  std::vector<CacheEntry> choices;  // of the tuner, for the device that they were measured on
  std::vector<CacheEntry> kernels;  // compiled: machine code, for the device that it was compiled for
};

std::vector<std::byte> store_group(const StoredGroup& group);

/** The group, whose constants are views of the bytes. Any bytes may be given: throws kInvalid, with what is wrong,
 *  unless nodes come after what they read, and each value is of its type, of its shape, and made once. */
StoredGroup load_group(const HostBytes& bytes);

/** Throws kInvalid where a node runs neither on a device with such traits nor on the host, with the reason. A node that
 *  is for the host alone is marked as unsupported. */
void judge_again(Graph& graph, const DeviceTraits& traits);

}  // namespace ortolan::gpu
