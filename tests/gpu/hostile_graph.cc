// One change at a time, of numbers that sizes and places are computed from above all.
#include "gpu/hostile_graph.h"

#include <cstring>

#include "gpu/core/graph/stored_group.h"

namespace ortolan::gpu::test {
namespace {

constexpr size_t kMostBytes = size_t{1} << 24;  // of a tensor

class Changer {
 public:
  Changer(Graph& graph, std::mt19937& random) : graph_(graph), random_(random) {}

  void change() {
    if (graph_.nodes.empty()) return;
    Node& node = graph_.nodes[below(graph_.nodes.size())];
    Value& value = graph_.values[below(graph_.values.size())];
    switch (below(8)) {
      case 0:
        return change_list(node.inputs);
      case 1:
        return change_list(node.outputs);
      case 2:
      case 3:
        return change_attribute(node);
      case 4:
        return change_shape(value);
      case 5:
        value.type = static_cast<ElementType>(below(17));
        return;
      case 6:
        node.since_version = static_cast<int>(below(26));
        return;
      default:
        return change_constant(value);
    }
  }

 private:
  size_t below(size_t limit) { return random_() % limit; }
  int64_t number() {
    constexpr int64_t numbers[] = {0, -1, 1, 2, 3, -3, 17, 4096, 1 << 20, int64_t{1} << 32, INT64_MAX, INT64_MIN};
    return numbers[below(std::size(numbers))];
  }
  void change_list(std::vector<int>& list) {
    if (list.empty() || below(3) == 0) {
      list.push_back(static_cast<int>(below(graph_.values.size())));
    } else if (below(2) == 0) {
      list.pop_back();
    } else {
      list[below(list.size())] = below(2) == 0 ? kMissing : static_cast<int>(below(graph_.values.size()));
    }
  }
  void change_attribute(Node& node) {
    if (node.attributes.empty()) return;
    auto place = std::next(node.attributes.begin(), static_cast<std::ptrdiff_t>(below(node.attributes.size())));
    if (below(4) == 0) {
      node.attributes.erase(place);
    } else if (auto* one = std::get_if<int64_t>(&place->second)) {
      *one = number();
    } else if (auto* list = std::get_if<std::vector<int64_t>>(&place->second)) {
      change_numbers(*list);
    } else if (auto* text = std::get_if<std::string>(&place->second)) {
      *text += 'x';
    } else {
      place->second = number();
    }
  }
  void change_numbers(std::vector<int64_t>& list) {
    if (list.empty() || below(3) == 0) {
      list.push_back(number());
    } else if (below(2) == 0) {
      list.pop_back();
    } else {
      list[below(list.size())] = number();
    }
  }
  void change_shape(Value& value) {
    if (!value.shape) return;
    if (!value.constant) return change_numbers(*value.shape);
    value.shape = below(2) == 0 ? Shape{element_count(*value.shape)} : Shape{1, element_count(*value.shape), 1};
  }
  void change_constant(Value& value) {
    if (!value.constant || value.constant->bytes.size() < sizeof(int64_t)) return;
    auto bytes = std::make_shared<std::vector<std::byte>>(value.constant->bytes.begin(), value.constant->bytes.end());
    int64_t put = number();
    size_t size = std::max<size_t>(element_bytes(value.type), 1);
    std::memcpy(bytes->data() + below(bytes->size() / size) * size, &put, size);
    value.constant = HostBytes{*bytes, bytes};
  }

  Graph& graph_;
  std::mt19937& random_;
};

class AnyOutputs : public GroupOutputs {
 public:
  explicit AnyOutputs(Device& device) : device_(device) {}
  BufferRange make(size_t, ElementType type, const Shape& shape) override {
    size_t bytes = static_cast<size_t>(element_count(shape)) * element_bytes(type);
    if (bytes > kMostBytes) throw Error(ErrorKind::kOutOfMemory, "an output is too large for a test");
    buffers_.push_back(device_.allocate(std::max<size_t>(bytes, 4)));
    return {buffers_.back().get(), 0, bytes == 0 ? 4 : bytes};
  }

 private:
  Device& device_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
};

void run_on_zeros(Device& device, Graph graph) {
  Engine engine(device);
  std::unique_ptr<Queue> queue = device.create_queue();
  WorkingMemory working(device);
  std::vector<std::unique_ptr<Buffer>> buffers;
  std::vector<GroupInput> inputs;
  for (int input : graph.inputs) {
    Shape shape = graph.values[input].shape.value_or(Shape());
    for (int64_t& dimension : shape) dimension = dimension < 0 ? 2 : dimension;
    size_t bytes = static_cast<size_t>(element_count(shape)) * element_bytes(graph.values[input].type);
    if (bytes > kMostBytes) return;
    const std::vector<std::byte> zeros(std::max<size_t>(bytes, 4));
    buffers.push_back(device.allocate(zeros.size()));
    queue->write({buffers.back().get(), 0, zeros.size()}, zeros.data());
    queue->finish();
    inputs.push_back({shape, {buffers.back().get(), 0, zeros.size()}});
  }
  CompiledGroup group(engine, std::move(graph));
  AnyOutputs outputs(device);
  group.run(*queue, working, inputs, outputs);
  queue->finish();
  working.check();
}

}  // namespace

void make_hostile(Graph& graph, std::mt19937& random) { Changer(graph, random).change(); }

bool runs_from_bytes(Device& device, const Graph& graph) {
  try {
    auto bytes = std::make_shared<std::vector<std::byte>>(store_group(graph));
    Graph loaded = load_group({*bytes, bytes});
    judge_again(loaded, device.traits());
    run_on_zeros(device, std::move(loaded));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace ortolan::gpu::test
