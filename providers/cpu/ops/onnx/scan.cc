// Kernels of Scan: opset 8 with a batch around it, and from opset 9 on.
#include <cstring>

#include "base/threads/polled_loop.h"
#include "base/threads/run_scope.h"
#include "cpu/moves/stacked_slices.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

std::vector<bool> reversed(const KernelInfo& info, const char* attribute, size_t count) {
  const auto& directions = info.node().ints(attribute);
  require(directions.empty() || directions.size() == count, ErrorCode::kInvalidGraph, attribute, " has ",
          directions.size(), " entries; it needs ", count);
  std::vector<bool> result(count);
  for (size_t i = 0; i < directions.size(); ++i) {
    require(directions[i] == 0 || directions[i] == 1, ErrorCode::kInvalidGraph, attribute, " holds ", directions[i],
            "; entries are 0 (forward) or 1 (reverse)");
    result[i] = directions[i] == 1;
  }
  return result;
}

std::vector<int64_t> axes(const KernelInfo& info, const char* attribute, size_t count) {
  std::vector<int64_t> result = info.node().ints(attribute);
  if (result.empty()) result.resize(count);
  require(result.size() == count, ErrorCode::kInvalidGraph, attribute, " has ", result.size(), " entries; it needs ",
          count);
  return result;
}

/** What both forms share: the body, its counts, and the run along one sequence. */
class ScanBody {
 public:
  ScanBody(const KernelInfo& info, size_t inputs, const char* directions)
      : body_(info.subgraph("body")),
        scans_(checked_cast<size_t>(info.node().int_of("num_scan_inputs"))),
        states_(inputs - scans_) {
    require(scans_ >= 1 && scans_ <= inputs, ErrorCode::kInvalidGraph, "num_scan_inputs is ", scans_,
            ", but the node has ", inputs, " inputs");
    require(
        body_.input_count() == inputs && body_.output_count() == info.output_count() && body_.output_count() >= states_,
        ErrorCode::kInvalidGraph, "the body has ", body_.input_count(), " inputs and ", body_.output_count(),
        " outputs, but the node has ", inputs, " and ", info.output_count());
    reversed_ = reversed(info, directions, scans_);
  }
  size_t states() const { return states_; }
  size_t scans() const { return scans_; }
  size_t scan_outputs() const { return body_.output_count() - states_; }

  /** Runs `length` iterations over slices of `scans`; `values` holds the states and room for the slices. */
  void run(KernelContext& context, int64_t length, std::span<const Tensor> scans, std::vector<Value>& values,
           std::vector<StackedSlices>& outputs) const {
    for (int64_t i = 0; i < length; ++i) {
      base::check_terminate();
      for (size_t s = 0; s < scans_; ++s) values[states_ + s] = slice_at(scans[s], reversed_[s] ? length - 1 - i : i);
      std::vector<Value> results = body_.run(context, values);
      for (size_t s = 0; s < states_; ++s) keep_state(values[s], std::move(results[s]), s);
      for (size_t s = 0; s < outputs.size(); ++s) {
        outputs[s].append(results[states_ + s].tensor(), context.services().max_tensor_bytes);
      }
    }
  }

 private:
  static void keep_state(Value& state, Value next, size_t index) {
    const Shape& before = state.tensor().shape();
    const Shape& after = next.tensor().shape();
    require(before == after, ErrorCode::kInvalidArgument, "the body changes state ", index, " from shape ", before,
            " to ", after, "; a Scan's states must keep their shape");
    state = std::move(next);
  }

  const SubgraphRunner& body_;
  size_t scans_;
  size_t states_;
  std::vector<bool> reversed_;
};

/** The slices in reverse order. */
Tensor reversed_slices(KernelContext& context, const Tensor& stack) {
  Tensor result = new_tensor(context, &stack.memory(), stack.type(), stack.shape());
  int64_t count = stack.element_count() > 0 ? stack.shape()[0] : 0;
  base::TerminatePoll poll;
  for (int64_t i = 0; i < count; ++i) {
    poll.work(64);
    Tensor target = slice_at(result, count - 1 - i);
    copy_anywhere(context, slice_at(stack, i), target);
  }
  return result;
}

class Scan : public OpKernel {
 public:
  explicit Scan(const KernelInfo& info)
      : body_(info, info.input_count(), "scan_input_directions"),
        operations_(slice_operations_of(info)),
        input_axes_(axes(info, "scan_input_axes", body_.scans())),
        output_axes_(axes(info, "scan_output_axes", body_.scan_outputs())),
        output_reversed_(reversed(info, "scan_output_directions", body_.scan_outputs())) {
    for (size_t i = body_.states(); i < info.output_count(); ++i) {
      types_.push_back(info.has_output(i) ? info.output_type(i) : TypeInfo{});
    }
  }

  void compute(KernelContext& context) const override {
    size_t states = body_.states();
    std::vector<Value> values(states + body_.scans());
    for (size_t i = 0; i < states; ++i) values[i] = context.input_value(i);
    std::vector<Tensor> scans;
    for (size_t i = 0; i < body_.scans(); ++i) {
      const Tensor& input = context.input(states + i);
      size_t axis = checked_axis(input_axes_[i], input.rank(), "scan axis");
      scans.push_back(with_axis_moved(context, input, axis, 0, operations_));
      require(scans[i].shape()[0] == scans[0].shape()[0], ErrorCode::kInvalidArgument, "scan input ", i, " has ",
              scans[i].shape()[0], " slices, but scan input 0 has ", scans[0].shape()[0]);
    }
    std::vector<StackedSlices> outputs(types_.size());
    body_.run(context, scans[0].shape()[0], scans, values, outputs);
    for (size_t i = 0; i < states; ++i) {
      if (context.has_output(i)) context.set_output(i, std::move(values[i]));
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (context.has_output(states + i)) context.set_output(states + i, finish(context, outputs[i], i, states + i));
    }
  }

 private:
  /** Scan output i, which is output `at` of the node. */
  Tensor finish(KernelContext& context, StackedSlices& slices, size_t i, size_t at) const {
    const MemoryInfo* memory = output_memory(context, at);
    if (slices.count() == 0) return empty_output(context, memory, types_[i]);
    Tensor stack = slices.finish(types_[i], context, memory, operations_);
    if (output_reversed_[i]) stack = reversed_slices(context, stack);
    size_t axis = checked_axis(output_axes_[i], stack.rank(), "scan axis");
    return with_axis_moved(context, stack, 0, axis, operations_);
  }

  /** Without iterations the output's type says the shape; what it does not know is 0. */
  static Tensor empty_output(KernelContext& context, const MemoryInfo* memory, const TypeInfo& type) {
    Shape shape;
    for (Dim dim : type.shape.dims()) shape.push_back(dim.known() ? dim.value() : 0);
    if (shape.element_count() != 0 || shape.empty()) shape = Shape{0};
    ElementType element = type.element == ElementType::kUndefined ? ElementType::kFloat : type.element;
    return new_tensor(context, memory, element, shape);
  }

  ScanBody body_;
  const SliceOperations* operations_;
  std::vector<int64_t> input_axes_, output_axes_;
  std::vector<bool> output_reversed_;
  std::vector<TypeInfo> types_;
};

/** Opset 8: every input has a batch dimension, and input 0 may give each entry's length; what an entry's scan outputs
    lack to the longest is 0. */
class BatchedScan : public OpKernel {
 public:
  explicit BatchedScan(const KernelInfo& info) : body_(info, info.input_count() - 1, "directions") {
    for (size_t i = 0; i < info.output_count(); ++i) types_.push_back(info.output_type(i));
  }

  void compute(KernelContext& context) const override {
    int64_t batch = 0, longest = 0;
    check_inputs(context, batch, longest);
    std::vector<StackedSlices> results(types_.size());
    for (int64_t b = 0; b < batch; ++b) {
      base::check_terminate();
      run_entry(context, b, length_at(context, b, batch, longest), longest, results);
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (!context.has_output(i)) continue;
      context.set_output(i, results[i].finish(types_[i], context, output_memory(context, i), nullptr));
    }
  }

 private:
  void check_inputs(const KernelContext& context, int64_t& batch, int64_t& longest) const {
    for (size_t i = 1; i < context.input_count(); ++i) {
      const Shape& shape = context.input(i).shape();
      bool scanned = i > body_.states();
      require(shape.rank() >= (scanned ? 2 : 1), ErrorCode::kInvalidArgument, "input ", i, " of shape ", shape,
              " lacks the batch", scanned ? " or sequence" : "", " dimension");
      if (i == 1) batch = shape[0];
      if (i == body_.states() + 1) longest = shape[1];
      require(shape[0] == batch && (!scanned || shape[1] == longest), ErrorCode::kInvalidArgument, "input ", i,
              " has shape ", shape, "; the batch is ", batch, " and the sequence ", longest);
    }
  }

  static int64_t length_at(const KernelContext& context, int64_t b, int64_t batch, int64_t longest) {
    const Tensor* lengths = context.input_if(0);
    if (lengths == nullptr) return longest;
    require(lengths->element_count() == batch, ErrorCode::kInvalidArgument, "sequence_lens has ",
            lengths->element_count(), " entries for a batch of ", batch);
    int64_t length = on_host(context, *lengths).data<int64_t>()[b];
    require(length >= 0 && length <= longest, ErrorCode::kInvalidArgument, "sequence length ", length,
            " is outside [0, ", longest, "]");
    return length;
  }

  void run_entry(KernelContext& context, int64_t b, int64_t length, int64_t longest,
                 std::vector<StackedSlices>& results) const {
    size_t states = body_.states();
    std::vector<Value> values(states + body_.scans());
    std::vector<Tensor> scans;
    for (size_t i = 0; i < states; ++i) values[i] = slice_at(context.input(i + 1), b);
    for (size_t i = 0; i < body_.scans(); ++i) {
      Tensor entry = slice_at(context.input(states + 1 + i), b);
      Shape used = entry.shape();
      used[0] = length;
      scans.push_back(Tensor(entry.type(), used, entry.mutable_raw(), entry.owner(), entry.memory()));
    }
    std::vector<StackedSlices> outputs(types_.size() - states);
    body_.run(context, length, scans, values, outputs);
    int64_t limit = context.services().max_tensor_bytes;
    for (size_t i = 0; i < states; ++i) results[i].append(values[i].tensor(), limit);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const MemoryInfo* memory = output_memory(context, states + i);
      pad(context, outputs[i], types_[states + i], memory, longest);
      results[states + i].append(outputs[i].finish({}, context, memory, nullptr), limit);
    }
  }

  static void pad(KernelContext& context, StackedSlices& slices, const TypeInfo& type, const MemoryInfo* memory,
                  int64_t longest) {
    if (slices.count() == longest) return;
    Shape shape;
    for (size_t i = 2; i < type.shape.rank(); ++i) shape.push_back(type.shape[i].known() ? type.shape[i].value() : 0);
    if (const Shape* first = slices.slice_shape()) shape = *first;
    Tensor zeros(type.element, shape);
    if (type.element != ElementType::kString && zeros.byte_count()) {
      std::memset(zeros.mutable_raw(), 0, zeros.byte_count());
    }
    if (memory != nullptr) {
      Tensor there = new_tensor(context, memory, zeros.type(), shape);
      copy_anywhere(context, zeros, there);
      zeros = there;
    }
    base::TerminatePoll poll;
    while (slices.count() < longest) {
      poll.work(64 + zeros.element_count());
      slices.append(zeros, context.services().max_tensor_bytes);
    }
  }

  ScanBody body_;
  std::vector<TypeInfo> types_;
};

constexpr KernelRow kRows[] = {
    {"", "Scan", 8, 8, make_kernel<BatchedScan>},
    {"", "Scan", 9, kLatest, make_kernel<Scan>},
};

}  // namespace

extern const KernelTable scan_rows;
const KernelTable scan_rows(kRows);

}  // namespace ortolan::cpu::onnx
