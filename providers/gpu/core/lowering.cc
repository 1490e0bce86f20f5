// Tensors of a node, and launches field by field.
#include "gpu/core/lowering.h"

#include <algorithm>
#include <cstring>

#include "gpu/core/elements/row_items.h"
#include "gpu/core/graph/fusion.h"
#include "gpu/core/graph/result_shapes.h"

namespace ortolan::gpu {
namespace {

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  static_assert(sizeof(T) == 4);
  size_t end = bytes.size();
  bytes.resize(end + sizeof(T));
  std::memcpy(bytes.data() + end, &value, sizeof(T));
}

}  // namespace

void store(TensorState& tensor) {
  if (tensor.open == nullptr) return;
  tensor.memory = tensor.open->store();
  tensor.open.reset();
}

KernelCall& KernelCall::group(int x, int y) {
  group_x_ = x;
  spec_.constants.insert(spec_.constants.begin(), {{"WGX", x}, {"WGY", y}});
  return *this;
}

KernelCall& KernelCall::row_group(int64_t columns) {
  const int items = row_items(lowering_.traits(), columns);
  return rounds(row_rounds(columns, items)).group(items);
}

KernelCall& KernelCall::rounds(int64_t count) {
  if (count > lowering_.traits().max_rounds) {
    lowering_.fail("its kernel loops " + std::to_string(count) + " times, and the driver of '" +
                   lowering_.traits().name + "' ends loops after " + std::to_string(lowering_.traits().max_rounds) +
                   "; run the node on the CPU");
  }
  return *this;
}

KernelCall& KernelCall::constant(std::string_view name, int value) {
  spec_.constants.push_back({name, value});
  return *this;
}

KernelCall& KernelCall::read(Memory memory) {
  uses_.push_back({memory, false});
  return *this;
}

KernelCall& KernelCall::write(Memory memory) {
  uses_.push_back({memory, true});
  return *this;
}

void KernelCall::add_field(float value) { append(params_, value); }

void KernelCall::add_field(int64_t value) {
  if (value < INT32_MIN || value > INT32_MAX) {
    lowering_.fail("the number " + std::to_string(value) + " is beyond what kernels count, 2^31");
  }
  append(params_, static_cast<int32_t>(value));
}

void KernelCall::run(int64_t groups_x, int64_t groups_y, int64_t groups_z) {
  if (groups_x == 0 || groups_y == 0 || groups_z == 0) return;
  std::array<uint32_t, 3> groups = checked(groups_x, groups_y, groups_z);
  lowering_.recording_.launch(std::move(spec_), groups, std::move(uses_), std::move(params_));
}

int64_t KernelCall::measure(int64_t groups_x, int64_t groups_y, int64_t groups_z) {
  return lowering_.recording_.measure(spec_, checked(groups_x, groups_y, groups_z), uses_, params_);
}

std::array<uint32_t, 3> KernelCall::checked(int64_t groups_x, int64_t groups_y, int64_t groups_z) const {
  check_uses();
  std::array<uint32_t, 3> groups;
  int64_t counts[] = {groups_x, groups_y, groups_z};
  for (int axis = 0; axis < 3; axis++) {
    if (counts[axis] < 0 || counts[axis] > INT32_MAX)
      lowering_.fail("it needs " + std::to_string(counts[axis]) + " groups");
    groups[axis] = static_cast<uint32_t>(counts[axis]);
  }
  if (lowering_.traits().limits_groups() && groups_y > INT32_MAX / groups_x / groups_z)
    lowering_.fail("it needs more than 2^31 groups");
  return groups;
}

void KernelCall::check_uses() const {
  const size_t most = lowering_.traits().max_binding_bytes;
  for (const MemoryUse& use : uses_) {
    if (use.memory.bytes <= most) continue;
    lowering_.fail("a launch sees at most " + std::to_string(most) + " bytes of a tensor; one has " +
                   std::to_string(use.memory.bytes));
  }
}

void KernelCall::run_items(int64_t items) { run((items + group_x_ - 1) / group_x_); }

const TensorState& Lowering::input_state(size_t i) const {
  if (!has(i)) fail("input " + std::to_string(i) + " is missing");
  const TensorState& state = tensors_[node_.inputs[i]];
  if (state.type == ElementType::kUndefined) fail("input " + std::to_string(i) + " is not computed");
  return state;
}

TensorState& Lowering::output_state(size_t i) {
  if (!node_.has_output(i)) fail("output " + std::to_string(i) + " is missing");
  return tensors_[node_.outputs[i]];
}

const HostTensor* Lowering::host(size_t i) const {
  const TensorState& state = input_state(i);
  return state.host ? &*state.host : nullptr;
}

const HostTensor& Lowering::known(size_t i) const {
  const HostTensor* tensor = host(i);
  if (tensor == nullptr) fail("input " + std::to_string(i) + " is not known before the run");
  return *tensor;
}

std::vector<int64_t> Lowering::integers(size_t i) const { return known(i).integers(); }
std::vector<float> Lowering::floats(size_t i) const { return known(i).floats(); }
std::vector<double> Lowering::doubles(size_t i) const { return known(i).doubles(); }

void Lowering::good_for(size_t i, int64_t least, int64_t most) {
  GoodFor& range = tensors_[node_.inputs[i]].good_for;
  range = {std::max(range.least, least), std::min(range.most, most), range.uses + 1};
}

size_t Lowering::axis(int64_t axis, size_t rank) const { return checked_axis(node_, axis, rank); }

Memory Lowering::input(size_t i) {
  input_state(i);  // which must be there
  TensorState& state = tensors_[node_.inputs[i]];
  store(state);
  if (state.memory.block >= 0) return state.memory;
  if (!state.host) fail("input " + std::to_string(i) + " is not computed");
  const std::span<const std::byte> bytes = state.host->elements.bytes;
  std::shared_ptr<Buffer>& buffer = packed_[{node_.inputs[i], is_constant(i) ? "" : "host"}];
  if (buffer == nullptr || !is_constant(i)) buffer = recording_.engine().weights().get(bytes);
  state.memory = recording_.constant(buffer, bytes.size());
  return state.memory;
}

Memory Lowering::packed(size_t i, const Packing& packing) {
  if (!is_constant(i)) fail("input " + std::to_string(i) + " is not constant");
  std::shared_ptr<Buffer>& buffer = packed_[{node_.inputs[i], packing.layout}];
  if (buffer == nullptr) {
    buffer = recording_.engine().weights().get(graph_.values[node_.inputs[i]].constant->bytes, packing);
  }
  return recording_.constant(buffer, buffer->bytes());
}

Memory Lowering::output(size_t i, ElementType type, const Shape& shape) {
  TensorState& state = output_state(i);
  size_t bytes = static_cast<size_t>(element_count(shape)) * element_bytes(type);
  state = {type, shape, recording_.working(bytes), {}};
  state.memory.bytes = bytes;
  return state.memory;
}

bool Lowering::overwrites(size_t input, size_t output) {
  if (!has(input) || !node_.has_output(output)) return false;
  int from = node_.inputs[input];
  auto given = std::find(graph_.inputs.begin(), graph_.inputs.end(), from);
  auto made = std::find(graph_.outputs.begin(), graph_.outputs.end(), node_.outputs[output]);
  if (given == graph_.inputs.end() || made == graph_.outputs.end() || count_uses(graph_, from) > 1) return false;
  return recording_.overwrites(
      {static_cast<int>(given - graph_.inputs.begin()), static_cast<int>(made - graph_.outputs.begin())});
}

void Lowering::open(size_t i, OpenValue value) {
  TensorState& state = output_state(i);
  value.readers = readers_[node_.outputs[i]];
  ElementType type = value.chain.type;
  Shape shape = value.chain.shape;
  state = {type, std::move(shape), {}, {}, {}, std::make_shared<OpenValue>(std::move(value))};
}

OpenValue* Lowering::open_input(size_t i) {
  TensorState& state = tensors_[node_.inputs[i]];
  if (state.open != nullptr && state.open->memory) store(state);  // by way of a view
  return state.open.get();
}

void Lowering::store_input(size_t i) { store(tensors_[node_.inputs[i]]); }

void Lowering::view(size_t output, size_t input, const Shape& shape) {
  const TensorState source = input_state(input);
  if (element_count(shape) != element_count(source.shape)) {
    fail("a view of " + std::to_string(element_count(source.shape)) + " elements has " +
         std::to_string(element_count(shape)));
  }
  TensorState& state = output_state(output);
  state = source;
  state.shape = shape;
  if (state.host) state.host->shape = shape;
  if (state.open != nullptr) state.open->readers += readers_[node_.outputs[output]] - 1;
}

void Lowering::known(size_t output, HostTensor tensor) {
  TensorState& state = output_state(output);
  ElementType type = tensor.type;
  Shape shape = tensor.shape;
  state = {type, std::move(shape), {}, std::move(tensor)};
}

Memory Lowering::table(const std::vector<int32_t>& values) {
  std::span<const std::byte> bytes = std::as_bytes(std::span(values));
  return recording_.constant(recording_.engine().weights().get(bytes), bytes.size());
}

void Lowering::fail(const std::string& what) const { throw Error(ErrorKind::kInvalid, describe(node_) + ": " + what); }

}  // namespace ortolan::gpu
