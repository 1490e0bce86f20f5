// Kernels of the operators on sequences and optionals.
#include "ops/split_lengths.h"

#include "base/threads/polled_loop.h"
#include "cpu/moves/stacked_slices.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** The int32 or int64 scalar in input i, or `fallback` when it is missing; made non-negative, within [0, limit]. */
size_t position(const KernelContext& context, size_t i, size_t size, size_t limit, int64_t fallback) {
  const Tensor* tensor = context.input_if(i);
  int64_t given = fallback;
  if (tensor != nullptr) {
    require(tensor->element_count() == 1, ErrorCode::kInvalidArgument, "the position has shape ", tensor->shape(),
            "; it must be a scalar");
    given = to_int64s(*tensor)[0];
  }
  int64_t at = given < 0 ? given + static_cast<int64_t>(size) : given;
  require(at >= 0 && at <= static_cast<int64_t>(limit), ErrorCode::kInvalidArgument, "position ", given,
          " is outside a sequence of ", size, " elements");
  return static_cast<size_t>(at);
}

/** Puts copies of the values behind those in `to`. */
void append(const std::vector<Value>& values, std::vector<Value>& to) {
  to.reserve(to.size() + values.size());
  base::TerminatePoll poll;
  for (const Value& value : values) {
    poll.work(8);
    to.push_back(value);
  }
}

class SequenceEmpty : public OpKernel {
 public:
  explicit SequenceEmpty(const KernelInfo& info)
      : type_(static_cast<ElementType>(info.node().int_or("dtype", static_cast<int64_t>(ElementType::kFloat)))) {}
  void compute(KernelContext& context) const override { context.set_output(0, std::make_shared<Sequence>(type_)); }

 private:
  ElementType type_;
};

class SequenceConstruct : public OpKernel {
 public:
  explicit SequenceConstruct(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    auto sequence = std::make_shared<Sequence>();
    sequence->element_type = context.input(0).type();
    for (size_t i = 0; i < context.input_count(); ++i) {
      require(context.input(i).type() == sequence->element_type, ErrorCode::kInvalidArgument, "input ", i, " is ",
              name_of(context.input(i).type()), ", but input 0 is ", name_of(sequence->element_type));
      sequence->items().push_back(context.input_value(i));
    }
    context.set_output(0, std::move(sequence));
  }
};

class SequenceAt : public OpKernel {
 public:
  explicit SequenceAt(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const auto& items = context.input_value(0).sequence().items();
    require(!items.empty(), ErrorCode::kInvalidArgument, "the sequence is empty, so it has no element to take");
    context.set_output(0, items[position(context, 1, items.size(), items.size() - 1, 0)]);
  }
};

class SequenceErase : public OpKernel {
 public:
  explicit SequenceErase(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Sequence& sequence = context.input_value(0).sequence();
    auto copy = std::make_shared<Sequence>(sequence.element_type);
    append(sequence.items(), copy->items());
    auto& items = copy->items();
    require(!items.empty(), ErrorCode::kInvalidArgument, "the sequence is empty, so it has no element to erase");
    items.erase(items.begin() + static_cast<int64_t>(position(context, 1, items.size(), items.size() - 1, -1)));
    context.set_output(0, std::move(copy));
  }
};

class SequenceInsert : public OpKernel {
 public:
  explicit SequenceInsert(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Sequence& sequence = context.input_value(0).sequence();
    const Tensor& item = context.input(1);
    size_t size = sequence.size();
    require(size == 0 || sequence.element_type == ElementType::kUndefined || sequence.element_type == item.type(),
            ErrorCode::kInvalidArgument, "the element to insert is ", name_of(item.type()), ", but the sequence holds ",
            name_of(sequence.element_type));
    size_t at = position(context, 2, size, size, static_cast<int64_t>(size));
    auto copy = std::make_shared<Sequence>();
    copy->element_type = item.type();
    copy->items().reserve(size + 1);
    append(sequence.items(), copy->items());
    copy->items().insert(copy->items().begin() + static_cast<int64_t>(at), context.input_value(1));
    context.set_output(0, std::move(copy));
  }
};

class SequenceLength : public OpKernel {
 public:
  explicit SequenceLength(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    auto length = static_cast<int64_t>(context.input_value(0).sequence().size());
    *context.output(0, ElementType::kInt64, Shape{}).mutable_data<int64_t>() = length;
  }
};

class SplitToSequence : public OpKernel {
 public:
  explicit SplitToSequence(const KernelInfo& info)
      : axis_(info.node().int_or("axis", 0)), keep_dims_(info.node().int_or("keepdims", 1) != 0) {}

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    size_t axis = checked_axis(axis_, input.rank());
    int64_t length = input.shape()[axis], outer = input.shape().count_to(axis);
    int64_t inner = input.shape().count_from(axis + 1);
    const Tensor* split = context.input_if(1);
    auto sequence = std::make_shared<Sequence>();
    sequence->element_type = input.type();
    int64_t offset = 0;
    base::TerminatePoll poll;
    for (int64_t part : lengths(split, length)) {
      poll.work(256);
      Shape shape = input.shape();
      shape[axis] = part;
      Tensor piece(input.type(), shape, context.services().allocator);
      StridedWalk walk;
      walk.add(outer, length * inner, part * inner);
      walk.add(part * inner, 1, 1);
      strided_copy(context.threads(), input.type(), walk, element_at(input.type(), input.raw(), offset * inner),
                   piece.mutable_raw());
      offset += part;
      if (split == nullptr && !keep_dims_) {
        shape.erase(shape.begin() + axis);
        piece = piece.reshaped(shape);
      }
      sequence->items().push_back(std::move(piece));
    }
    context.set_output(0, std::move(sequence));
  }

 private:
  static std::vector<int64_t> lengths(const Tensor* split, int64_t length) {
    if (length == 0 && (split == nullptr || split->rank() == 0)) return {};
    constexpr int64_t kMostParts = int64_t{1} << 24;
    require(length <= kMostParts || split != nullptr, ErrorCode::kInvalidArgument, "a dimension of ", length,
            " would give too long a sequence; at most ", kMostParts, " elements are made");
    if (split == nullptr) return std::vector<int64_t>(static_cast<size_t>(length), 1);
    std::vector<int64_t> given = to_int64s(*split);
    if (split->rank() > 0) return ops::split_lengths(length, static_cast<int64_t>(given.size()), given, false);
    require(given[0] > 0, ErrorCode::kInvalidArgument, "the length to split into is ", given[0],
            "; it must be positive");
    int64_t parts = length / given[0] + (length % given[0] != 0);
    require(parts <= kMostParts, ErrorCode::kInvalidArgument, "a dimension of ", length, " split into pieces of ",
            given[0], " would give too long a sequence; at most ", kMostParts, " elements are made");
    std::vector<int64_t> result(static_cast<size_t>(parts), std::min(given[0], length));
    result.back() = length - (parts - 1) * result[0];
    return result;
  }

  int64_t axis_;
  bool keep_dims_;
};

class ConcatFromSequence : public OpKernel {
 public:
  explicit ConcatFromSequence(const KernelInfo& info)
      : axis_(info.node().int_of("axis")), new_axis_(info.node().int_or("new_axis", 0) != 0) {}

  void compute(KernelContext& context) const override {
    const auto& items = context.input_value(0).sequence().items();
    require(!items.empty(), ErrorCode::kInvalidArgument, "the sequence is empty, so there is nothing to join");
    Shape shape = seen(items[0].tensor());
    size_t axis = checked_axis(axis_, shape.rank());
    ElementType type = items[0].tensor().type();
    int64_t total = 0;
    base::TerminatePoll poll;
    for (const Value& item : items) {
      poll.work(32);
      total = checked_add(total, checked_length(item.tensor(), type, shape, axis));
    }
    shape[axis] = total;
    Tensor& output = context.output(0, type, shape);
    int64_t outer = shape.count_to(axis), row = shape.count_from(axis), offset = 0;
    for (const Value& item : items) {
      poll.work(64);
      const Tensor& part = item.tensor();
      if (outer == 0 || part.element_count() == 0) continue;
      int64_t width = part.element_count() / outer;
      StridedWalk walk;
      walk.add(outer, width, row);
      walk.add(width, 1, 1);
      strided_copy(context.threads(), type, walk, part.raw(), element_at(type, output.mutable_raw(), offset));
      offset += width;
    }
  }

 private:
  /** The item's shape with the new axis, of 1. */
  Shape seen(const Tensor& item) const {
    Shape shape = item.shape();
    if (new_axis_) shape.insert(shape.begin() + checked_axis(axis_, shape.rank() + 1), 1);
    return shape;
  }
  int64_t checked_length(const Tensor& item, ElementType type, const Shape& first, size_t axis) const {
    Shape shape = seen(item);
    bool fits = item.type() == type && shape.rank() == first.rank();
    for (size_t i = 0; fits && i < shape.rank(); ++i) fits = i == axis || shape[i] == first[i];
    require(fits, ErrorCode::kInvalidArgument, "the sequence holds ", name_of(type), first, " and ",
            name_of(item.type()), shape, ", which do not join along axis ", axis);
    return shape[axis];
  }

  int64_t axis_;
  bool new_axis_;
};

/** An optional with content is stored as the content itself, an empty one as a value without content. */
class Optional : public OpKernel {
 public:
  explicit Optional(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    context.set_output(0, context.input_count() > 0 ? context.input_value(0) : Value());
  }
};

class OptionalGetElement : public OpKernel {
 public:
  explicit OptionalGetElement(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    require(context.has_input(0), ErrorCode::kInvalidArgument,
            "the optional is empty; test it with OptionalHasElement before taking its element");
    context.set_output(0, context.input_value(0));
  }
};

class OptionalHasElement : public OpKernel {
 public:
  explicit OptionalHasElement(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    *context.output(0, ElementType::kBool, Shape{}).mutable_data<bool>() = context.has_input(0);
  }
};

constexpr KernelRow kRows[] = {
    {"", "SequenceEmpty", 11, kLatest, make_kernel<SequenceEmpty>},
    {"", "SequenceConstruct", 11, kLatest, make_kernel<SequenceConstruct>},
    {"", "SequenceAt", 11, kLatest, make_kernel<SequenceAt>},
    {"", "SequenceErase", 11, kLatest, make_kernel<SequenceErase>},
    {"", "SequenceInsert", 11, kLatest, make_kernel<SequenceInsert>},
    {"", "SequenceLength", 11, kLatest, make_kernel<SequenceLength>},
    {"", "SplitToSequence", 11, kLatest, make_kernel<SplitToSequence>},
    {"", "ConcatFromSequence", 11, kLatest, make_kernel<ConcatFromSequence>},
    {"", "Optional", 15, kLatest, make_kernel<Optional>},
    {"", "OptionalGetElement", 15, kLatest, make_kernel<OptionalGetElement>},
    {"", "OptionalHasElement", 15, kLatest, make_kernel<OptionalHasElement>},
};

}  // namespace

extern const KernelTable sequence_rows;
const KernelTable sequence_rows(kRows);

}  // namespace ortolan::cpu::onnx
