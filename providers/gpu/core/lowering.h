// What an operator sees when its node becomes launches: types, shapes and memory of its tensors for one set of shapes.
#pragma once

#include <functional>

#include "gpu/core/host/host_tensor.h"
#include "gpu/core/recording.h"

namespace ortolan::gpu {

/** The values of an input that a recording is good for. */
struct GoodFor {
  int64_t least = INT64_MIN, most = INT64_MAX;
  int uses = 0;  // of the input, that said so
};

struct OpenValue;

/** A tensor of a group for one set of shapes. */
struct TensorState {
  ElementType type = ElementType::kUndefined;
  Shape shape;
  Memory memory;                   // block -1: not on the device, or not yet
  std::optional<HostTensor> host;  // its elements, where they are known
  GoodFor good_for = {};
  std::shared_ptr<OpenValue> open = {};  // what stores its elements, where they are not stored yet
};

/** Makes the launch of a tensor that is open. */
void store(TensorState& tensor);

/** Packed weights of a group by value and layout, kept from one recording to the next. */
using PackedConstants = std::map<std::pair<int, std::string>, std::shared_ptr<Buffer>>;

class Lowering;

/** A launch in the making. Buffers come in the order of the kernel's bindings. */
class KernelCall {
 public:
  KernelCall(Lowering& lowering, std::string_view kernel) : lowering_(lowering), spec_{kernel, {}} {}
  KernelCall& group(int x, int y = 1);
  /** A group for each row of so many elements, along which its items loop. */
  KernelCall& row_group(int64_t columns);
  /** How many rounds an item's loops make, of all together; fails where the device's driver would end them before. */
  KernelCall& rounds(int64_t count);
  KernelCall& constant(std::string_view name, int value);
  KernelCall& read(Memory memory);
  KernelCall& write(Memory memory);
  /** The kernel's parameter block: 32-bit fields, in its order. Integers must fit. */
  template <class... Fields>
  KernelCall& params(Fields... fields) {
    (add_field(fields), ...);
    return *this;
  }
  /** Adds the launch, unless a count is 0: then there is nothing to compute. */
  void run(int64_t groups_x, int64_t groups_y = 1, int64_t groups_z = 1);
  /** Nanoseconds of this launch, which is not added. */
  int64_t measure(int64_t groups_x, int64_t groups_y = 1, int64_t groups_z = 1);
  /** Groups for at least `items` work-items in x. */
  void run_items(int64_t items);

 private:
  std::array<uint32_t, 3> checked(int64_t groups_x, int64_t groups_y, int64_t groups_z) const;
  void check_uses() const;
  void add_field(float value);
  void add_field(int64_t value);
  void add_field(int value) { add_field(static_cast<int64_t>(value)); }
  void add_field(size_t value) { add_field(static_cast<int64_t>(value)); }
  void add_field(bool value) { add_field(static_cast<int64_t>(value)); }
  template <class Each>
  void add_field(const std::vector<Each>& values) {
    for (Each value : values) add_field(value);
  }

  Lowering& lowering_;
  KernelSpec spec_;
  int group_x_ = 1;
  std::vector<MemoryUse> uses_;
  std::vector<std::byte> params_;
};

class Lowering {
 public:
  /** `readers` has for each value of the graph how many need its elements. */
  Lowering(Recording& recording, const Graph& graph, const std::vector<int>& readers, std::vector<TensorState>& tensors,
           PackedConstants& packed, const Node& node)
      : recording_(recording),
        graph_(graph),
        readers_(readers),
        tensors_(tensors),
        packed_(packed),
        node_(node),
        number_(recording.node()) {}

  const Node& node() const { return node_; }
  /** Its number in the graph: the recording was at it. */
  int number() const { return number_; }
  /** The same for a part of the node. */
  Lowering of_part(const Node& part) const { return {recording_, graph_, readers_, tensors_, packed_, part}; }
  const DeviceTraits& traits() const { return recording_.engine().device().traits(); }
  Recording& recording() { return recording_; }
  Tuner& tuner() { return recording_.engine().tuner(); }
  Tuning tuning() const { return recording_.engine().tuner().tuning(); }
  Precision precision() const { return recording_.engine().precision(); }

  bool has(size_t i) const { return node_.has_input(i); }
  ElementType type(size_t i) const { return input_state(i).type; }
  const Shape& shape(size_t i) const { return input_state(i).shape; }
  int64_t count(size_t i) const { return element_count(shape(i)); }
  /** The elements of an input where they are known before the run: constants, shape arithmetic. */
  const HostTensor* host(size_t i) const;
  /** The same as integers, floats or doubles; fails where they are not known. */
  std::vector<int64_t> integers(size_t i) const;
  std::vector<float> floats(size_t i) const;
  std::vector<double> doubles(size_t i) const;
  /** All that is lowered holds while the one integer of input i is from `least` to `most`. */
  void good_for(size_t i, int64_t least, int64_t most);
  /** A negative axis counts from the end. Fails outside of [-rank, rank - 1]. */
  size_t axis(int64_t axis, size_t rank) const;

  Memory input(size_t i);
  bool is_constant(size_t i) const { return has(i) && graph_.values[node_.inputs[i]].constant.has_value(); }
  /** A constant input as `packing` lays it out. */
  Memory packed(size_t i, const Packing& packing);

  /** Says the shape of an output and gives its memory. */
  Memory output(size_t i, ElementType type, const Shape& shape);
  Memory output(size_t i, const Shape& shape) { return output(i, type(0), shape); }
  /** Says that an output is an input's elements with some of them changed; true: the output's memory has them. */
  bool overwrites(size_t input, size_t output);
  /** The output is made when its elements are asked for; `value` needs no readers. */
  void open(size_t i, OpenValue value);
  /** What stores input i; NULL where it is stored. */
  OpenValue* open_input(size_t i);
  /** Makes the launch of an input that is open. */
  void store_input(size_t i);
  /** The output is the input with another shape. */
  void view(size_t output, size_t input, const Shape& shape);
  /** The output's elements are known now. */
  void known(size_t output, HostTensor tensor);
  /** Costs nothing unless a launch uses it. */
  Memory scratch(size_t bytes) { return recording_.working(bytes); }
  /** For errors that show while kernels run: the run ends with this text behind the node's name. */
  ErrorBit error(const std::string& what) { return recording_.error(describe(node_) + ": " + what); }
  /** Data that goes with the list. */
  Memory table(const std::vector<int32_t>& values);

  KernelCall call(std::string_view kernel) { return {*this, kernel}; }
  /** Throws kInvalid with the node's name. */
  [[noreturn]] void fail(const std::string& what) const;

 private:
  friend class KernelCall;
  const TensorState& input_state(size_t i) const;
  const HostTensor& known(size_t i) const;
  TensorState& output_state(size_t i);

  Recording& recording_;
  const Graph& graph_;
  const std::vector<int>& readers_;
  std::vector<TensorState>& tensors_;
  PackedConstants& packed_;
  const Node& node_;
  const int number_;
};

}  // namespace ortolan::gpu
