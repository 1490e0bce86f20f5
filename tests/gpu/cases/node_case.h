// A node of the operator tests as the GPU core's tests have it.
#pragma once

#include <optional>

#include "gpu/single_node.h"
#include "ops/op_test.h"

namespace ortolan::gpu::test {

struct DeviceCase {
  TestNode node;
  std::vector<NodeInput> inputs;
};

/** Nothing where a GPU provider is never asked: a subgraph, a tensor of strings, a sequence, no such operator. */
std::optional<DeviceCase> device_case(const ortolan::test::NodeCase& node, bool constants);

/** Of a tensor whose elements a device can hold. */
Tensor device_tensor(const tensor::Tensor& from);

}  // namespace ortolan::gpu::test
