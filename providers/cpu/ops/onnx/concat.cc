// Kernels of Concat and Split.
#include "ops/split_lengths.h"

#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** A tensor seen around one axis: `outer` blocks of `inner` elements for each position on the axis. */
struct AxisView {
  AxisView(const Shape& shape, size_t axis)
      : outer(shape.count_to(axis)), inner(shape.count_from(axis + 1)), length(shape[axis]) {}
  int64_t outer, inner, length;
};

/** Copies `outer` rows of `row` elements between buffers with these row strides. */
void copy_rows(KernelContext& context, ElementType type, int64_t outer, int64_t row, const void* from,
               int64_t from_stride, void* to, int64_t to_stride) {
  StridedWalk walk;
  walk.add(outer, from_stride, to_stride);
  walk.add(row, 1, 1);
  strided_copy(context.threads(), type, walk, from, to);
}

class Concat : public OpKernel {
 public:
  explicit Concat(const KernelInfo& info)
      : axis_(info.opset() < 4 ? info.node().int_or("axis", 1) : info.node().int_of("axis")) {}
  void compute(KernelContext& context) const override {
    Tensor& output = context.output(0);
    AxisView whole(output.shape(), checked_axis(axis_, output.rank()));
    require(!is_packed(output.type()), ErrorCode::kNotImplemented, "elements of type ", name_of(output.type()),
            " cannot be joined");
    int64_t row = whole.length * whole.inner, offset = 0;
    for (size_t i = 0; i < context.input_count(); ++i) {
      const Tensor& input = context.input(i);
      if (whole.outer == 0 || input.element_count() == 0) continue;
      int64_t part = input.element_count() / whole.outer;
      copy_rows(context, output.type(), whole.outer, part, input.raw(), part,
                element_at(output.type(), output.mutable_raw(), offset), row);
      offset += part;
    }
  }

 private:
  int64_t axis_;
};

class Split : public OpKernel {
 public:
  explicit Split(const KernelInfo& info)
      : axis_(info.node().int_or("axis", 0)),
        lengths_(info.node().ints("split")),
        uneven_(info.node().has_attribute("num_outputs")) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    size_t axis = checked_axis(axis_, input.rank());
    require(!is_packed(input.type()), ErrorCode::kNotImplemented, "elements of type ", name_of(input.type()),
            " cannot be split");
    AxisView whole(input.shape(), axis);
    std::vector<int64_t> given = context.input_if(1) ? to_int64s(context.input(1)) : lengths_;
    auto lengths =
        ops::split_lengths(whole.length, static_cast<int64_t>(context.output_count()),
                           given.empty() ? std::nullopt : std::optional<std::span<const int64_t>>(given), uneven_);
    int64_t offset = 0;
    for (size_t i = 0; i < lengths.size(); offset += lengths[i++] * whole.inner) {
      if (!context.has_output(i)) continue;
      Tensor& output = context.output(i);
      int64_t part = lengths[i] * whole.inner;
      copy_rows(context, input.type(), whole.outer, part, element_at(input.type(), input.raw(), offset),
                whole.length * whole.inner, output.mutable_raw(), part);
    }
  }

 private:
  int64_t axis_;
  std::vector<int64_t> lengths_;
  bool uneven_;
};

constexpr KernelRow kRows[] = {
    {"", "Concat", 1, kLatest, make_kernel<Concat>},
    {"", "Split", 1, kLatest, make_kernel<Split>},
};

}  // namespace

extern const KernelTable concat_rows;
const KernelTable concat_rows(kRows);

}  // namespace ortolan::cpu::onnx
