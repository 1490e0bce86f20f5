// A header with a hash of all that follows; values, nodes, inputs and outputs of the graph.
#include "gpu/core/graph/stored_group.h"

#include <algorithm>

#include "gpu/core/graph/field_bytes.h"
#include "gpu/core/host/host_operators.h"
#include "gpu/core/operators.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ortolan::gpu {
namespace {

struct Header {
  char mark[8] = {'o', 'r', 't', 'g', 'r', 'o', 'u', 'p'};
  uint32_t version = kStoredGroupVersion;
  uint32_t order = 0x01020304;  // of the bytes of numbers
  uint64_t bytes = 0;           // of the whole
  uint64_t hash = 0;            // of what follows the header
};

uint64_t hash_of(std::span<const std::byte> bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

[[noreturn]] void fail(const std::string& what) {
  throw Error(ErrorKind::kInvalid, "the compiled group " + what + "; compile the model again");
}

[[noreturn]] void fail_at(const Node& node, const std::string& what) {
  fail("is damaged: " + describe(node) + ' ' + what);
}

// ---- Writing ----

void write_numbers(FieldWriter& to, const auto& numbers) {
  to.count(numbers.size());
  for (auto number : numbers) to.number(number);
}

void write_tensor(FieldWriter& to, ElementType type, const Shape& shape, const HostBytes& elements) {
  to.number(static_cast<int32_t>(type));
  write_numbers(to, shape);
  to.block(elements.bytes);
}

struct AttributeWriter {
  FieldWriter& to;
  void operator()(int64_t value) { to.number(value); }
  void operator()(float value) { to.number(value); }
  void operator()(const std::string& value) { to.text(value); }
  void operator()(const std::vector<int64_t>& values) { write_numbers(to, values); }
  void operator()(const std::vector<float>& values) { write_numbers(to, values); }
  void operator()(const std::vector<std::string>& values) {
    to.count(values.size());
    for (const std::string& value : values) to.text(value);
  }
  void operator()(const HostTensor& value) { write_tensor(to, value.type, value.shape, value.elements); }
};

void write_value(FieldWriter& to, const Value& value) {
  to.text(value.name);
  to.number(static_cast<int32_t>(value.type));
  to.number(static_cast<uint8_t>(value.shape.has_value()));
  if (value.shape) write_numbers(to, *value.shape);
  to.number(static_cast<uint8_t>(value.constant.has_value()));
  if (value.constant) to.block(value.constant->bytes);
}

void write_node(FieldWriter& to, const Node& node) {
  for (const std::string* text : {&node.name, &node.domain, &node.op}) to.text(*text);
  to.number(static_cast<int32_t>(node.since_version));
  to.count(node.attributes.size());
  for (const auto& [name, attribute] : node.attributes) {
    to.text(name);
    to.number(static_cast<uint8_t>(attribute.index()));
    std::visit(AttributeWriter{to}, attribute);
  }
  write_numbers(to, node.inputs);
  write_numbers(to, node.outputs);
}

size_t constant_bytes(const Graph& graph) {
  size_t bytes = 0;
  for (const Value& value : graph.values) bytes += value.constant ? value.constant->bytes.size() : 0;
  return bytes;
}

// ---- Reading ----

ElementType read_type(FieldReader& from) {
  auto number = from.number<int32_t>();
  auto type = static_cast<ElementType>(number);
  if (type != ElementType::kUndefined && element_bytes(type) == 0) {
    from.fail("there is no element type " + std::to_string(number));
  }
  return type;
}

template <class T>
std::vector<T> read_numbers(FieldReader& from) {
  std::vector<T> numbers;
  for (size_t left = from.count(); left > 0; left--) numbers.push_back(from.number<T>());
  return numbers;
}

/** Dimensions are 0 or more, or -1 where they may be open. */
Shape read_shape(FieldReader& from, bool may_be_open) {
  Shape shape = read_numbers<int64_t>(from);
  for (int64_t dimension : shape) {
    if (dimension < (may_be_open ? -1 : 0)) from.fail("a dimension is " + std::to_string(dimension));
  }
  return shape;
}

size_t tensor_bytes(FieldReader& from, ElementType type, const Shape& shape) {
  size_t bytes = element_bytes(type);
  for (int64_t dimension : shape) {
    if (__builtin_mul_overflow(bytes, dimension, &bytes))
      from.fail("a tensor has more elements than there are numbers");
  }
  return bytes;
}

std::span<const std::byte> read_elements(FieldReader& from, ElementType type, const Shape& shape) {
  size_t wanted = tensor_bytes(from, type, shape);
  std::span<const std::byte> bytes = from.block();
  if (type == ElementType::kUndefined || bytes.size() != wanted) {
    from.fail("a tensor of type " + std::string(type_name(type)) + " has " + std::to_string(bytes.size()) +
              " bytes, not " + std::to_string(wanted));
  }
  return bytes;
}

bool read_switch(FieldReader& from) {
  auto value = from.number<uint8_t>();
  if (value > 1) from.fail("a switch is " + std::to_string(value));
  return value == 1;
}

/** Reads a graph whose constants belong to `owner`. */
class GraphLoader {
 public:
  GraphLoader(FieldReader& from, std::shared_ptr<const void> owner) : from_(from), owner_(std::move(owner)) {}

  Graph load() {
    Graph graph;
    for (size_t left = from_.count(); left > 0; left--) graph.values.push_back(read_value());
    for (size_t left = from_.count(); left > 0; left--) graph.nodes.push_back(read_node());
    graph.inputs = read_numbers<int>(from_);
    graph.outputs = read_numbers<int>(from_);
    return graph;
  }

 private:
  Value read_value() {
    Value value;
    value.name = from_.text();
    value.type = read_type(from_);
    bool has_shape = read_switch(from_);
    if (has_shape) value.shape = read_shape(from_, true);
    if (!read_switch(from_)) return value;
    if (!has_shape) from_.fail("constant '" + value.name + "' has no shape");
    if (std::find(value.shape->begin(), value.shape->end(), -1) != value.shape->end()) {
      from_.fail("constant '" + value.name + "' has an open dimension");
    }
    value.constant = HostBytes{read_elements(from_, value.type, *value.shape), owner_};
    return value;
  }

  Node read_node() {
    Node node;
    for (std::string* text : {&node.name, &node.domain, &node.op}) *text = from_.text();
    node.since_version = from_.number<int32_t>();
    for (size_t left = from_.count(); left > 0; left--) {
      std::string name = from_.text();
      node.attributes.insert_or_assign(std::move(name), read_attribute());
    }
    node.inputs = read_numbers<int>(from_);
    node.outputs = read_numbers<int>(from_);
    return node;
  }

  Attribute read_attribute() {
    switch (auto kind = from_.number<uint8_t>()) {
      case 0:
        return from_.number<int64_t>();
      case 1:
        return from_.number<float>();
      case 2:
        return from_.text();
      case 3:
        return read_numbers<int64_t>(from_);
      case 4:
        return read_numbers<float>(from_);
      case 5:
        return read_texts();
      case 6:
        return read_tensor();
      default:
        from_.fail("there is no attribute of kind " + std::to_string(kind));
    }
  }

  std::vector<std::string> read_texts() {
    std::vector<std::string> texts;
    for (size_t left = from_.count(); left > 0; left--) texts.push_back(from_.text());
    return texts;
  }

  HostTensor read_tensor() {
    HostTensor tensor;
    tensor.type = read_type(from_);
    tensor.shape = read_shape(from_, false);
    tensor.elements = {read_elements(from_, tensor.type, tensor.shape), owner_};
    return tensor;
  }

  FieldReader& from_;
  std::shared_ptr<const void> owner_;
};

void check_header(std::span<const std::byte> bytes) {
  Header header;
  const Header wanted;
  if (bytes.size() < sizeof header) fail("is damaged: it has " + std::to_string(bytes.size()) + " bytes");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.mark, wanted.mark, sizeof header.mark) != 0) fail("is damaged: it does not begin as one does");
  if (header.order != wanted.order) fail("is from a machine with another order of bytes");
  if (header.version != wanted.version) {
    fail("is of format " + std::to_string(header.version) + ", and this library reads " +
         std::to_string(wanted.version));
  }
  if (header.bytes != bytes.size()) {
    fail("is damaged: it has " + std::to_string(bytes.size()) + " bytes of " + std::to_string(header.bytes));
  }
  if (header.hash != hash_of(bytes.subspan(sizeof header))) fail("is damaged: its content is not what was written");
}

/** Checks that values are there when they are read, and are made once. */
class OrderCheck {
 public:
  explicit OrderCheck(const Graph& graph) : graph_(graph), is_there_(graph.values.size()) {}

  void check() {
    for (size_t i = 0; i < is_there_.size(); i++) is_there_[i] = graph_.values[i].constant.has_value();
    for (int input : graph_.inputs) {
      if (!make(input) || element_bytes(graph_.values[input].type) == 0) {
        fail("is damaged: value " + std::to_string(input) + " cannot be an input");
      }
    }
    for (const Node& node : graph_.nodes) check(node);
    for (int output : graph_.outputs) {
      if (!is_there(output)) fail("is damaged: nothing makes value " + std::to_string(output) + ", an output");
    }
  }

 private:
  bool is_value(int number) const { return number >= 0 && static_cast<size_t>(number) < is_there_.size(); }
  bool is_there(int number) const { return is_value(number) && is_there_[static_cast<size_t>(number)]; }
  /** False where the value was there already, or is none. */
  bool make(int number) {
    if (!is_value(number) || is_there(number)) return false;
    return is_there_[static_cast<size_t>(number)] = true;
  }
  void check(const Node& node) {
    for (int input : node.inputs) {
      if (input != kMissing && !is_there(input)) fail_at(node, "reads value " + std::to_string(input) + " too early");
    }
    for (int output : node.outputs) {
      if (output != kMissing && !make(output)) fail_at(node, "cannot make value " + std::to_string(output));
    }
  }

  const Graph& graph_;
  std::vector<bool> is_there_;
};

std::string refusal_of(const Graph& graph, const Node& node, const DeviceTraits& traits) {
  const Operator* row = find_operator(node);
  return row == nullptr ? "there is no kernel for it" : row->refuse(Candidate(graph, node, traits));
}

}  // namespace

std::vector<std::byte> store_group(const Graph& graph) {
  FieldWriter to;
  to.reserve(constant_bytes(graph) + constant_bytes(graph) / 8);
  to.bytes().resize(sizeof(Header));
  to.count(graph.values.size());
  for (const Value& value : graph.values) write_value(to, value);
  to.count(graph.nodes.size());
  for (const Node& node : graph.nodes) write_node(to, node);
  write_numbers(to, graph.inputs);
  write_numbers(to, graph.outputs);
  std::vector<std::byte> bytes = std::move(to.bytes());
  Header header;
  header.bytes = bytes.size();
  header.hash = hash_of(std::span(bytes).subspan(sizeof header));
  std::memcpy(bytes.data(), &header, sizeof header);
  return bytes;
}

Graph load_group(const HostBytes& bytes) {
  check_header(bytes.bytes);
  FieldReader from(bytes.bytes);
  from.skip(sizeof(Header));
  Graph graph = GraphLoader(from, bytes.owner).load();
  if (!from.is_at_end()) from.fail("more follows");
  OrderCheck(graph).check();
  return graph;
}

void judge_again(Graph& graph, const DeviceTraits& traits) {
  for (Node& node : graph.nodes) {
    node.unsupported = refusal_of(graph, node, traits);
    if (node.unsupported.empty() || has_host_operator(node)) continue;
    throw Error(ErrorKind::kInvalid, describe(node) + " does not run on '" + traits.name + "': " + node.unsupported +
                                         "; compile the model again for this device");
  }
}

}  // namespace ortolan::gpu
