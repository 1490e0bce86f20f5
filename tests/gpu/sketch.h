// Graphs of several nodes: the same results as node by node, in so many launches.
#pragma once

#include <deque>
#include <set>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {

/** A graph in the making, whose values are computed node by node on the way. */
class Sketch {
 public:
  explicit Sketch(Device& device) : device_(device) {}

  int input(Tensor tensor) {
    int value = add_value(tensor);
    graph_.inputs.push_back(value);
    inputs_.push_back(std::move(tensor));
    return value;
  }
  int constant(Tensor tensor) {
    int value = add_value(tensor);
    graph_.values[value].constant = HostBytes{tensors_[value].bytes, nullptr};
    return value;
  }
  int node(const TestNode& test, const std::vector<int>& inputs) {
    std::vector<NodeInput> given;
    for (int value : inputs) given.push_back({tensors_[value], graph_.values[value].constant.has_value()});
    int value = add_value(run_node(device_, test, given)[0]);
    std::string name = test.op + std::to_string(graph_.nodes.size());
    graph_.nodes.push_back({name, test.domain, test.op, test.since_version, test.attributes, inputs, {value}, {}});
    return value;
  }
  int node(const std::string& op, const std::vector<int>& inputs) { return node(TestNode{op}, inputs); }
  /** Another node without computing it. */
  int unchecked(const std::string& name, const std::string& op, const std::vector<int>& inputs) {
    graph_.values.push_back({"out", ElementType::kUndefined, {}, {}});
    int value = static_cast<int>(graph_.values.size()) - 1;
    graph_.nodes.push_back({name, "", op, kNewest, {}, inputs, {value}, {}});
    return value;
  }

  /** Runs the graph; the outputs must be those of its nodes alone. Gives the launches. */
  size_t run(const std::vector<int>& outputs, float relative = 1e-5f, float absolute = 1e-5f) {
    GraphRun result = run_graph(device_, part_for(outputs), inputs_);
    for (size_t i = 0; i < outputs.size(); i++) {
      SCOPED_TRACE("output " + std::to_string(i));
      expect_same(result.outputs[i], tensors_[outputs[i]], relative, absolute);
    }
    return result.launches;
  }
  Tensor run_unchecked(int output) { return run_graph(device_, part_for({output}), inputs_).outputs[0]; }

 private:
  /** The nodes that the outputs need. */
  Graph part_for(const std::vector<int>& outputs) const {
    Graph part = graph_;
    part.outputs = outputs;
    part.nodes.clear();
    std::set<int> needed(outputs.begin(), outputs.end());
    for (auto node = graph_.nodes.rbegin(); node != graph_.nodes.rend(); ++node) {
      if (needed.count(node->outputs[0]) == 0) continue;
      needed.insert(node->inputs.begin(), node->inputs.end());
      part.nodes.insert(part.nodes.begin(), *node);
    }
    return part;
  }
  int add_value(const Tensor& tensor) {
    graph_.values.push_back({"value", tensor.type, tensor.shape, {}});
    tensors_.push_back(tensor);
    return static_cast<int>(graph_.values.size()) - 1;
  }
  static void expect_same(const Tensor& actual, const Tensor& wanted, float relative, float absolute) {
    if (is_float(wanted.type)) return expect_near(actual, wanted, relative, absolute);
    EXPECT_EQ(actual.type, wanted.type);
    EXPECT_EQ(actual.shape, wanted.shape);
    EXPECT_TRUE(actual.bytes == wanted.bytes);
  }

  Device& device_;
  Graph graph_;
  std::vector<Tensor> inputs_;
  std::deque<Tensor> tensors_;
};

/** Floats from a seed. */
inline Tensor numbers(Shape shape, unsigned seed, ElementType type = ElementType::kFloat) {
  Tensor tensor = random_floats(std::move(shape), seed);
  return type == ElementType::kFloat ? tensor : floats(tensor.shape, tensor.floats(), type);
}

template <class Body>
void on_all_devices(Body&& body) {
  for (const NamedDevice& device : all_devices()) {
    SCOPED_TRACE(device.name);
    Sketch sketch(*device.device);
    body(sketch);
  }
}

}  // namespace ortolan::gpu::test
