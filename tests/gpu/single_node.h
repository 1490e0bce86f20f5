// Runs one node, or a graph, on a device through the whole core: for tests of operators.
#pragma once

#include <memory>
#include <vector>

#include "gpu/core/group.h"

namespace ortolan::gpu::test {

/** A tensor of a test, on the host. */
struct Tensor {
  ElementType type = ElementType::kFloat;
  Shape shape;
  std::vector<std::byte> bytes;

  std::vector<float> floats() const { return host().floats(); }
  std::vector<int64_t> integers() const { return host().integers(); }
  HostTensor host() const { return {type, shape, {bytes, nullptr}}; }
};

Tensor floats(Shape shape, std::vector<float> values, ElementType type = ElementType::kFloat);
Tensor integers(Shape shape, std::vector<int64_t> values, ElementType type = ElementType::kInt64);
/** Floats in [low, high) from a seed. */
Tensor random_floats(Shape shape, unsigned seed, float low = -2.0f, float high = 2.0f);

struct TestNode {
  std::string op;
  std::map<std::string, Attribute, std::less<>> attributes = {};
  int since_version = kNewest;
  std::string domain = {};
};

struct NodeInput {
  Tensor tensor;
  bool constant = false;  // an initializer, not an input
  bool missing = false;
};
inline NodeInput constant(Tensor tensor) { return {std::move(tensor), true}; }
inline NodeInput missing() { return {{}, false, true}; }

/** The node as a graph; inputs that are no constants are the graph's. */
Graph graph_of(const TestNode& node, const std::vector<NodeInput>& inputs, size_t outputs);
/** The node's refusal for such inputs; empty where it is taken. */
std::string refusal_of(Device& device, const TestNode& node, const std::vector<NodeInput>& inputs, size_t outputs = 1);
/** Runs it twice, the second time from the recorded list, and fails the test where the runs differ. Throws gpu::Error.
 */
std::vector<Tensor> run_node(Device& device, const TestNode& node, const std::vector<NodeInput>& inputs,
                             size_t outputs = 1, Precision precision = Precision::kFloat);

struct GraphRun {
  std::vector<Tensor> outputs;
  size_t launches;
};
/** The same for a graph, whose constants must live until it returns. */
GraphRun run_graph(Device& device, Graph graph, const std::vector<Tensor>& inputs);
GraphRun run_graph(Engine& engine, Graph graph, const std::vector<Tensor>& inputs);

/** The devices that tests run on: the test device in several orders and widths of vectors, then OpenCL's where there is
 *  a driver. Living as long as the program. */
struct NamedDevice {
  std::string name;
  Device* device;
};
const std::vector<NamedDevice>& all_devices();

/** |a - b| <= absolute + relative * |b| for each element, the same shape, NaN where NaN is wanted. */
void expect_near(const Tensor& actual, const Tensor& wanted, float relative = 1e-5f, float absolute = 1e-6f);

}  // namespace ortolan::gpu::test
