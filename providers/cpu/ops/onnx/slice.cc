// Kernel of Slice and DynamicSlice.
#include "ops/slice_range.h"

#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class Slice : public OpKernel {
 public:
  explicit Slice(const KernelInfo& info)
      : starts_(info.node().ints("starts")), ends_(info.node().ints("ends")), axes_(info.node().ints("axes")) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    require(!is_packed(input.type()), ErrorCode::kNotImplemented, "elements of type ", name_of(input.type()),
            " cannot be sliced");
    Dims from = row_strides(input.shape()), to = row_strides(output.shape());
    int64_t offset = apply(context, input.shape(), output.shape(), from);
    StridedWalk walk;
    for (size_t i = 0; i < from.size(); ++i) walk.add(output.shape()[i], from[i], to[i]);
    if (output.element_count() == 0) return;
    strided_copy(context.threads(), input.type(), walk, element_at(input.type(), input.raw(), offset),
                 output.mutable_raw());
  }

 private:
  static std::vector<int64_t> list(const KernelContext& context, size_t input, const std::vector<int64_t>& attribute) {
    const Tensor* values = context.input_if(input);
    return values ? to_int64s(*values) : attribute;
  }

  /** Multiplies the strides by the steps and gives the offset of the first element. */
  int64_t apply(const KernelContext& context, const Shape& shape, const Shape& sliced, Dims& strides) const {
    auto starts = list(context, 1, starts_), ends = list(context, 2, ends_), axes = list(context, 3, axes_);
    auto steps = list(context, 4, {});
    bool fits = ends.size() == starts.size() && (axes.empty() || axes.size() == starts.size()) &&
                (steps.empty() || steps.size() == starts.size()) && starts.size() <= shape.rank();
    require(fits, ErrorCode::kInvalidArgument, "starts, ends, axes and steps have ", starts.size(), ", ", ends.size(),
            ", ", axes.size(), " and ", steps.size(), " entries for an input of shape ", shape);
    int64_t offset = 0;
    Dims left(shape.begin(), shape.end());
    for (size_t i = 0; i < starts.size(); ++i) {
      size_t axis = checked_axis(axes.empty() ? static_cast<int64_t>(i) : axes[i], shape.rank());
      ops::SliceRange range = ops::slice_range(shape[axis], starts[i], ends[i], steps.empty() ? 1 : steps[i]);
      left[axis] = range.count;
      offset += range.start * strides[axis];
      strides[axis] = range.count > 1 ? strides[axis] * range.step : 0;
    }
    require(std::equal(left.begin(), left.end(), sliced.begin(), sliced.end()), ErrorCode::kInvalidArgument,
            "the slice of an input of shape ", shape, " is not of the shape ", sliced, " that its node was given");
    return offset;
  }

  std::vector<int64_t> starts_, ends_, axes_;
};

constexpr KernelRow kRows[] = {
    {"", "Slice", 1, kLatest, make_kernel<Slice>},
    {"", "DynamicSlice", 1, 9, make_kernel<Slice>},
};

}  // namespace

extern const KernelTable slice_rows;
const KernelTable slice_rows(kRows);

}  // namespace ortolan::cpu::onnx
