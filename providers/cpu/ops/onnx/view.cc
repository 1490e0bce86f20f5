// Kernels of the operators that give memory another shape: Reshape, Flatten, Squeeze, Unsqueeze, Identity.
#include "ops/view_shapes.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** Integers that an attribute or an input gives: read once when they never change, else at each run. */
class Integers {
 public:
  Integers(const KernelInfo& info, const char* attribute, size_t input) : input_(input) {
    given_ = info.has_input(input) || info.node().has_attribute(attribute);
    const Tensor* constant = info.has_input(input) ? info.constant_input(input) : nullptr;
    fixed_ = !info.has_input(input) || constant != nullptr;
    if (fixed_) values_ = constant ? to_int64s(*constant) : info.node().ints(attribute);
  }
  bool given() const { return given_; }
  /** Calls body with the values of this run. */
  template <class Body>
  auto with(const KernelContext& context, Body&& body) const {
    if (fixed_) return body(std::span<const int64_t>(values_));
    return body(context.input(input_).span<int64_t>());
  }

 private:
  size_t input_;
  bool given_;
  bool fixed_;
  std::vector<int64_t> values_;
};

class Reshape : public OpKernel {
 public:
  explicit Reshape(const KernelInfo& info)
      : target_(info, "shape", 1), allow_zero_(info.node().int_or("allowzero", 0) != 0) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    context.set_output(0, target_.with(context, [&](std::span<const int64_t> target) {
      return input.reshaped(ops::reshaped(input.shape(), target, allow_zero_));
    }));
  }

 private:
  Integers target_;
  bool allow_zero_;
};

class Flatten : public OpKernel {
 public:
  explicit Flatten(const KernelInfo& info) : axis_(info.node().int_or("axis", 1)) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    auto rank = static_cast<int64_t>(input.rank());
    require(axis_ >= -rank && axis_ <= rank, ErrorCode::kInvalidArgument, "axis ", axis_,
            " is outside the rank of the input of shape ", input.shape());
    auto axis = static_cast<size_t>(axis_ < 0 ? axis_ + rank : axis_);
    context.set_output(0, input.reshaped(Shape{input.shape().count_to(axis), input.shape().count_from(axis)}));
  }

 private:
  int64_t axis_;
};

class Squeeze : public OpKernel {
 public:
  explicit Squeeze(const KernelInfo& info) : axes_(info, "axes", 1) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    if (!axes_.given()) return context.set_output(0, input.reshaped(ops::squeezed(input.shape(), std::nullopt)));
    context.set_output(0, axes_.with(context, [&](std::span<const int64_t> axes) {
      return input.reshaped(ops::squeezed(input.shape(), axes));
    }));
  }

 private:
  Integers axes_;
};

class Unsqueeze : public OpKernel {
 public:
  explicit Unsqueeze(const KernelInfo& info) : axes_(info, "axes", 1) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    context.set_output(0, axes_.with(context, [&](std::span<const int64_t> axes) {
      return input.reshaped(ops::unsqueezed(input.shape(), axes));
    }));
  }

 private:
  Integers axes_;
};

class Identity : public OpKernel {
 public:
  explicit Identity(const KernelInfo&) {}
  void compute(KernelContext& context) const override { context.set_output(0, context.input_value(0)); }
};

constexpr KernelRow kRows[] = {
    {"", "Reshape", 1, kLatest, make_kernel<Reshape>, {}, Reuse::kView},
    {"", "Flatten", 1, kLatest, make_kernel<Flatten>, {}, Reuse::kView},
    {"", "Squeeze", 1, kLatest, make_kernel<Squeeze>, {}, Reuse::kView},
    {"", "Unsqueeze", 1, kLatest, make_kernel<Unsqueeze>, {}, Reuse::kView},
    {"", "Identity", 1, kLatest, make_kernel<Identity>, {}, Reuse::kView},
};

}  // namespace

extern const KernelTable view_rows;
const KernelTable view_rows(kRows);

}  // namespace ortolan::cpu::onnx
