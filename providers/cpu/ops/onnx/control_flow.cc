// Kernels of If, Loop and SequenceMap.
#include "base/threads/run_scope.h"
#include "cpu/moves/stacked_slices.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

bool condition(const KernelContext& context, const Tensor& given) {
  Tensor tensor = on_host(context, given);
  require(tensor.element_count() == 1, ErrorCode::kInvalidArgument, "the condition has shape ", tensor.shape(),
          "; it must hold one element");
  return *tensor.data<bool>();
}

class If : public OpKernel {
 public:
  explicit If(const KernelInfo& info) : then_(info.subgraph("then_branch")), else_(info.subgraph("else_branch")) {
    size_t wanted = info.output_count();
    require(then_.output_count() == wanted && else_.output_count() == wanted, ErrorCode::kInvalidGraph,
            "the branches have ", then_.output_count(), " and ", else_.output_count(), " outputs, but the node has ",
            wanted);
  }
  void compute(KernelContext& context) const override {
    std::vector<Value> results = (condition(context, context.input(0)) ? then_ : else_).run(context, {});
    for (size_t i = 0; i < results.size(); ++i) {
      if (context.has_output(i)) context.set_output(i, std::move(results[i]));
    }
  }

 private:
  const SubgraphRunner& then_;
  const SubgraphRunner& else_;
};

class Loop : public OpKernel {
 public:
  explicit Loop(const KernelInfo& info)
      : body_(info.subgraph("body")),
        operations_(slice_operations_of(info)),
        states_(info.input_count() - 2),
        number_shape_(stated_shape(info, 0)),
        condition_shape_(stated_shape(info, 1)) {
    require(body_.input_count() == states_ + 2, ErrorCode::kInvalidGraph, "the body takes ", body_.input_count(),
            " inputs, but the node has ", states_ + 2);
    require(body_.output_count() >= states_ + 1 && info.output_count() <= body_.output_count() - 1,
            ErrorCode::kInvalidGraph, "the body gives ", body_.output_count(), " outputs for ", states_,
            " states and a node with ", info.output_count(), " outputs");
    for (size_t i = states_; i < body_.output_count() - 1; ++i) {
      scan_types_.push_back(info.has_output(i) ? info.output_type(i) : TypeInfo{});
    }
  }

  void compute(KernelContext& context) const override {
    std::vector<Value> values(states_ + 2);
    for (size_t i = 0; i < states_; ++i) values[i + 2] = context.input_value(i + 2);
    std::vector<StackedSlices> scans(scan_types_.size());
    int64_t trips = trip_count(context);
    const Tensor* given = context.input_if(1);
    bool go_on = given == nullptr || condition(context, *given);
    const Shape& condition_shape = given != nullptr ? given->shape() : condition_shape_;
    for (int64_t i = 0; i < trips && go_on; ++i) {
      values[0] = scalar(i).reshaped(number_shape_);
      values[1] = scalar(true).reshaped(condition_shape);
      go_on = iterate(context, values, scans);
    }
    for (size_t i = 0; i < states_; ++i) {
      if (context.has_output(i)) context.set_output(i, std::move(values[i + 2]));
    }
    for (size_t i = 0; i < scans.size(); ++i) {
      if (!context.has_output(states_ + i)) continue;
      const MemoryInfo* memory = output_memory(context, states_ + i);
      context.set_output(states_ + i, scans[i].finish(scan_types_[i], context, memory, operations_));
    }
  }

 private:
  static int64_t trip_count(const KernelContext& context) {
    const Tensor* trips = context.input_if(0);
    if (trips == nullptr) return INT64_MAX;
    require(trips->element_count() == 1, ErrorCode::kInvalidArgument, "the trip count has shape ", trips->shape(),
            "; it must hold one element");
    return *on_host(context, *trips).data<int64_t>();
  }

  /** A shape of one element, with as many dimensions as the body's input `i` has. */
  static Shape stated_shape(const KernelInfo& info, size_t i) {
    const Graph& body = info.node().graph_of("body");
    Shape shape;
    if (i < body.inputs.size()) shape.resize(body.inputs[i]->type.shape.rank(), 1);
    return shape;
  }

  /** One run of the body; `values` are its inputs, and those of the next one afterwards. */
  bool iterate(KernelContext& context, std::vector<Value>& values, std::vector<StackedSlices>& scans) const {
    base::check_terminate();
    std::vector<Value> results = body_.run(context, values);
    for (size_t s = 0; s < states_; ++s) values[s + 2] = std::move(results[s + 1]);
    for (size_t s = 0; s < scans.size(); ++s) {
      if (!context.has_output(states_ + s)) continue;
      scans[s].append(results[1 + states_ + s].tensor(), context.services().max_tensor_bytes);
    }
    return condition(context, results[0].tensor());
  }

  const SubgraphRunner& body_;
  const SliceOperations* operations_;
  size_t states_;
  Shape number_shape_;     // of the iteration's number and,
  Shape condition_shape_;  // where the node has none, the condition
  std::vector<TypeInfo> scan_types_;
};

/** Runs the body on the elements at each position of the input sequences; other inputs are the same each time. */
class SequenceMap : public OpKernel {
 public:
  explicit SequenceMap(const KernelInfo& info) : body_(info.subgraph("body")) {
    require(body_.input_count() == info.input_count() && body_.output_count() == info.output_count(),
            ErrorCode::kInvalidGraph, "the body has ", body_.input_count(), " inputs and ", body_.output_count(),
            " outputs, but the node has ", info.input_count(), " and ", info.output_count());
    for (size_t i = 0; i < info.output_count(); ++i) {
      const TypeInfo* type = info.has_output(i) ? info.output_type(i).contained.get() : nullptr;
      elements_.push_back(type ? type->element : ElementType::kUndefined);
    }
  }

  void compute(KernelContext& context) const override {
    size_t length = context.input_value(0).sequence().size();
    std::vector<std::shared_ptr<Sequence>> results;
    for (ElementType element : elements_) results.push_back(std::make_shared<Sequence>(element));
    for (size_t i = 0; i < length; ++i) {
      base::check_terminate();
      std::vector<Value> values = body_.run(context, inputs_at(context, i, length));
      for (size_t j = 0; j < results.size(); ++j) results[j]->items().push_back(std::move(values[j]));
    }
    for (size_t j = 0; j < results.size(); ++j) {
      if (context.has_output(j)) context.set_output(j, std::move(results[j]));
    }
  }

 private:
  static std::vector<Value> inputs_at(const KernelContext& context, size_t position, size_t length) {
    std::vector<Value> inputs;
    for (size_t i = 0; i < context.input_count(); ++i) {
      const Value& value = context.input_value(i);
      if (value.kind() != ValueKind::kSequence) {
        inputs.push_back(value);
        continue;
      }
      const auto& items = value.sequence().items();
      require(items.size() == length, ErrorCode::kInvalidArgument, "input ", i, " is a sequence of ", items.size(),
              " elements, but input 0 has ", length, "; all sequences must have the same length");
      inputs.push_back(items[position]);
    }
    return inputs;
  }

  const SubgraphRunner& body_;
  std::vector<ElementType> elements_;
};

constexpr KernelRow kRows[] = {
    {"", "If", 1, kLatest, make_kernel<If>},
    {"", "Loop", 1, kLatest, make_kernel<Loop>},
    {"", "SequenceMap", 17, kLatest, make_kernel<SequenceMap>},
};

}  // namespace

extern const KernelTable control_flow_rows;
const KernelTable control_flow_rows(kRows);

}  // namespace ortolan::cpu::onnx
