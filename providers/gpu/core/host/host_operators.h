// Shape arithmetic on the host: nodes whose inputs are known before the run are computed while commands are recorded.
#pragma once

#include "gpu/core/graph/graph.h"

namespace ortolan::gpu {

/** Whether the host computes such nodes when it knows their inputs. Shape and Size need shapes alone. */
bool has_host_operator(const Node& node);
/** Whether the node's result depends on its inputs' shapes alone. */
bool reads_shapes_alone(const Node& node);

/** A node's inputs: NULL for those left out. Shape and Size have elements for none of theirs. */
using HostInputs = std::vector<const HostTensor*>;

/** The outputs; nothing where they have more than `most` elements or types that are not for the host. Throws kInvalid.
 */
std::optional<std::vector<HostTensor>> evaluate_on_host(const Node& node, const HostInputs& inputs, int64_t most);

}  // namespace ortolan::gpu
