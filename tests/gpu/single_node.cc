// One node as a graph, its tensors on the device and back.
#include "gpu/single_node.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "gpu/core/graph/claims.h"
#include "gpu/core/graph/stored_group.h"
#include "gpu/core/host/host_operators.h"
#include "gpu/cuda_device.h"
#include "gpu/opencl_device.h"
#include "gpu/testdevice/test_device.h"
#include "gpu/vulkan_device.h"

namespace ortolan::gpu::test {
namespace {

Tensor of_host(const HostTensor& host) {
  return {host.type, host.shape, {host.elements.bytes.begin(), host.elements.bytes.end()}};
}

class Outputs : public GroupOutputs {
 public:
  explicit Outputs(Device& device) : device_(device) {}
  BufferRange make(size_t, ElementType type, const Shape& shape) override {
    size_t bytes = static_cast<size_t>(element_count(shape)) * element_bytes(type);
    buffers_.push_back(device_.allocate(std::max<size_t>(bytes, 4)));
    tensors_.push_back({type, shape, std::vector<std::byte>(bytes)});
    return {buffers_.back().get(), 0, std::max<size_t>(bytes, 4)};
  }
  std::vector<Tensor> read(Queue& queue) {
    for (size_t i = 0; i < tensors_.size(); i++) {
      size_t bytes = tensors_[i].bytes.size();
      if (bytes > 0) queue.read(tensors_[i].bytes.data(), {buffers_[i].get(), 0, bytes});
    }
    queue.finish();
    return std::move(tensors_);
  }

 private:
  Device& device_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<Tensor> tensors_;
};

std::vector<Tensor> run_once(Device& device, CompiledGroup& group, const std::vector<Tensor>& inputs) {
  std::unique_ptr<Queue> queue = device.create_queue();
  WorkingMemory working(device);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<GroupInput> given;
  for (const Tensor& input : inputs) {
    size_t bytes = input.bytes.size();
    buffers.push_back(device.allocate(std::max<size_t>(bytes, 4)));
    if (bytes > 0) queue->write({buffers.back().get(), 0, bytes}, input.bytes.data());
    given.push_back({input.shape, {buffers.back().get(), 0, std::max<size_t>(bytes, 4)}});
  }
  Outputs outputs(device);
  group.run(*queue, working, given, outputs);
  std::vector<Tensor> results = outputs.read(*queue);
  working.check();
  return results;
}

/** The graph as a compiled model holds it. */
Graph from_bytes(Device& device, const Graph& graph) {
  auto bytes = std::make_shared<std::vector<std::byte>>(store_group(graph));
  Graph loaded = load_group({*bytes, bytes});
  judge_again(loaded, device.traits());
  return loaded;
}

Device& test_device(DeviceClass kind, int width, unsigned order, std::optional<int64_t> library_suits_from = {}) {
  TestDeviceOptions options;
  options.library_suits_from = library_suits_from;
  options.kind = kind;
  options.vector_width = width;
  options.order = order;
  return *new TestDevice(options);
}

Device& units_device() {
  TestDeviceOptions options;
  options.order = 3;
  options.matrix_units = {true, true, true, true};
  return *new TestDevice(options);
}

/** With a limit that most launches here pass. */
Device& few_groups_device() {
  TestDeviceOptions options;
  options.kind = DeviceClass::kLanes;
  options.order = 5;
  options.max_groups = {5, 7, 60000};
  return *new TestDevice(options);
}

/** NULL where there is no driver. */
Device* device_of(std::unique_ptr<Device> (*open)()) {
  try {
    return open().release();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::kNoDevice) throw;
    return nullptr;
  }
}

}  // namespace

Graph graph_of(const TestNode& test, const std::vector<NodeInput>& inputs, size_t outputs) {
  Graph graph;
  Node node{"n", test.domain, test.op, test.since_version, test.attributes, {}, {}, {}};
  for (const NodeInput& input : inputs) {
    node.inputs.push_back(input.missing ? kMissing : static_cast<int>(graph.values.size()));
    if (input.missing) continue;
    graph.values.push_back({"in", input.tensor.type, input.tensor.shape, {}});
    if (input.constant) {
      graph.values.back().constant = HostBytes{input.tensor.bytes, nullptr};
    } else {
      graph.inputs.push_back(node.inputs.back());
    }
  }
  for (size_t i = 0; i < outputs; i++) {
    node.outputs.push_back(static_cast<int>(graph.values.size()));
    graph.outputs.push_back(node.outputs.back());
    graph.values.push_back({"out", ElementType::kUndefined, {}, {}});
  }
  graph.nodes.push_back(std::move(node));
  return graph;
}

Tensor floats(Shape shape, std::vector<float> values, ElementType type) {
  return of_host(HostTensor::of_floats(type, std::move(shape), values));
}

Tensor integers(Shape shape, std::vector<int64_t> values, ElementType type) {
  return of_host(HostTensor::of_integers(type, std::move(shape), values));
}

Tensor random_floats(Shape shape, unsigned seed, float low, float high) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> draw(low, high);
  std::vector<float> values(static_cast<size_t>(element_count(shape)));
  for (float& value : values) value = draw(random);
  return floats(std::move(shape), std::move(values));
}

std::string refusal_of(Device& device, const TestNode& node, const std::vector<NodeInput>& inputs, size_t outputs) {
  return claim_nodes(graph_of(node, inputs, outputs), {false}, device.traits()).refusals.at(0);
}

std::vector<Tensor> run_node(Device& device, const TestNode& node, const std::vector<NodeInput>& inputs, size_t outputs,
                             Precision precision) {
  std::vector<Tensor> given;
  for (const NodeInput& input : inputs) {
    if (!input.missing && !input.constant) given.push_back(input.tensor);
  }
  Engine engine(device, {}, Tuning::kNone, Products::kAuto, precision);
  std::vector<Tensor> result = run_graph(engine, graph_of(node, inputs, outputs), given).outputs;
  if (!refusal_of(device, node, inputs, outputs).empty()) return result;  // a test of what no provider would take
  CompiledGroup stored(engine, from_bytes(device, graph_of(node, inputs, outputs)));
  std::vector<Tensor> again = run_once(device, stored, given);
  for (size_t i = 0; i < result.size(); i++) EXPECT_TRUE(result[i].bytes == again[i].bytes) << "stored output " << i;
  return result;
}

GraphRun run_graph(Device& device, Graph graph, const std::vector<Tensor>& inputs) {
  Engine engine(device);
  return run_graph(engine, std::move(graph), inputs);
}

GraphRun run_graph(Engine& engine, Graph graph, const std::vector<Tensor>& inputs) {
  CompiledGroup group(engine, std::move(graph));
  std::vector<Tensor> first = run_once(engine.device(), group, inputs);
  std::vector<Tensor> second = run_once(engine.device(), group, inputs);
  EXPECT_EQ(group.recordings(), 1u);
  for (size_t i = 0; i < first.size(); i++) EXPECT_TRUE(first[i].bytes == second[i].bytes) << "output " << i;
  return {std::move(first), group.launches()};
}

const std::vector<NamedDevice>& all_devices() {
  static const auto* devices = [] {
    auto* all = new std::vector<NamedDevice>{
        {"test_wide", &test_device(DeviceClass::kWide, 16, 0)},
        {"test_lanes", &test_device(DeviceClass::kLanes, 4, 1)},
        {"test_gpu", &test_device(DeviceClass::kGpu, 4, 7)},
        {"test_scalar", &test_device(DeviceClass::kGpu, 1, 2)},
        {"test_library", &test_device(DeviceClass::kGpu, 4, 1, 0)},
        {"test_units", &units_device()},
        {"test_few_groups", &few_groups_device()},
    };
    all->push_back({"cuda", open_cuda().release()});
    if (Device* opencl = device_of(open_opencl)) all->push_back({"opencl", opencl});
    if (Device* vulkan = device_of(open_vulkan)) all->push_back({"vulkan", vulkan});
    return all;
  }();
  return *devices;
}

void expect_near(const Tensor& actual, const Tensor& wanted, float relative, float absolute) {
  ASSERT_EQ(actual.type, wanted.type);
  ASSERT_EQ(actual.shape, wanted.shape);
  std::vector<float> a = actual.floats(), w = wanted.floats();
  ASSERT_EQ(a.size(), w.size());
  for (size_t i = 0; i < a.size(); i++) {
    if (std::isnan(w[i])) {
      EXPECT_TRUE(std::isnan(a[i])) << "element " << i << " is " << a[i];
    } else if (a[i] != w[i]) {
      EXPECT_LE(std::fabs(a[i] - w[i]), absolute + relative * std::fabs(w[i]))
          << "element " << i << ": " << a[i] << ", not " << w[i];
    }
  }
}

}  // namespace ortolan::gpu::test
