// A group of nodes as bytes that outlive the model: what compiled models hold.
#pragma once

#include "gpu/core/graph/graph.h"
#include "gpu/device/device.h"

namespace ortolan::gpu {

/** The format of the bytes; a library reads its own alone. */
inline constexpr uint32_t kStoredGroupVersion = 1;

std::vector<std::byte> store_group(const Graph& graph);

/** The group, whose constants are views of the bytes. Any bytes may be given: throws kInvalid, with what is wrong,
 *  unless nodes come after what they read, and each value is of its type, of its shape, and made once. */
Graph load_group(const HostBytes& bytes);

/** Throws kInvalid where a node runs neither on a device with such traits nor on the host, with the reason. A node that
 *  is for the host alone is marked as unsupported. */
void judge_again(Graph& graph, const DeviceTraits& traits);

}  // namespace ortolan::gpu
