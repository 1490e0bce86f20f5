// Kernels of Pad and CenterCropPad.
#include <cstring>

#include "base/threads/polled_loop.h"
#include "base/threads/polled_vector.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/saturate.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/moves/checked_indices.h"
#include "cpu/moves/counted_copy.h"
#include "cpu/moves/strided_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

enum class PadMode { kConstant, kReflect, kEdge, kWrap };

PadMode mode_of(const KernelInfo& info) {
  std::string_view name = info.node().string_or("mode", "constant");
  constexpr std::string_view kNames[] = {"constant", "reflect", "edge", "wrap"};
  auto found = std::ranges::find(kNames, name);
  require(found != std::end(kNames), ErrorCode::kInvalidGraph, "mode '", name,
          "' is unknown; it must be constant, reflect, edge or wrap");
  return static_cast<PadMode>(found - std::begin(kNames));
}

/** The input position that stands at `at` (which may lie outside [0, size)); -1 for the constant. */
int64_t source_position(int64_t at, int64_t size, PadMode mode) {
  if (at >= 0 && at < size) return at;
  switch (mode) {
    case PadMode::kEdge:
      return at < 0 ? 0 : size - 1;
    case PadMode::kWrap:
      return (at % size + size) % size;
    case PadMode::kReflect: {
      if (size == 1) return 0;
      int64_t period = 2 * (size - 1);
      int64_t phase = (at % period + period) % period;
      return phase < size ? phase : period - phase;
    }
    default:
      return -1;
  }
}

/** A tensor with its neighbouring dimensions that are not padded joined into one; the last ones are the elements of
    each position, `inner` of them. */
struct PaddedDims {
  Shape input, output;
  Dims begins;
  int64_t inner = 1;

  PaddedDims(const Shape& in, const Shape& out, std::span<const int64_t> pads) {
    bool joinable = false;
    for (size_t i = 0; i < in.rank(); ++i) {
      bool plain = pads[i] == 0 && in[i] == out[i];
      if (plain && joinable) {
        input.back() *= in[i];
        output.back() *= out[i];
      } else {
        input.push_back(in[i]);
        output.push_back(out[i]);
        begins.push_back(pads[i]);
      }
      joinable = plain;
    }
    if (joinable && input.rank() > 1) {
      inner = input.back();
      for (Shape* shape : {&input, &output}) *shape = Shape(std::span(*shape).first(shape->rank() - 1));
      begins.resize(begins.size() - 1);
    }
    if (input.empty()) {
      input = output = Shape{1};
      begins = Dims{0};
    }
  }
};

/** Where each position of each output dimension comes from, and the copy by lines. */
class PadCopy {
 public:
  PadCopy(const PaddedDims& dims, PadMode mode) : dims_(dims) {
    for (size_t i = 0; i < dims.input.rank(); ++i) {
      int64_t size = dims.input[i];
      bool outside = dims.begins[i] > 0 || dims.output[i] > size - std::max<int64_t>(-dims.begins[i], 0);
      require(size > 0 || mode == PadMode::kConstant || !outside, ErrorCode::kInvalidArgument, "dimension ", i,
              " of the input is 0, so there is nothing to pad with; use mode constant");
      auto map = base::polled_vector<int64_t>(dims.output[i]);
      base::polled_loop(std::ssize(map), [&](int64_t begin, int64_t end) {
        for (int64_t o = begin; o < end; ++o) map[o] = source_position(o - dims.begins[i], size, mode);
      });
      maps_.push_back(std::move(map));
    }
    strides_ = row_strides(dims.input);
    for (int64_t& stride : strides_) stride *= dims.inner;
    size_t last = dims.input.rank() - 1;
    inside_from_ = std::clamp<int64_t>(dims.begins[last], 0, dims.output[last]);
    inside_to_ = std::clamp(dims.begins[last] + dims.input[last], inside_from_, dims.output[last]);
  }

  template <class E>
  void copy(ThreadPool& threads, const E* from, E* to, const E& fill) const {
    int64_t length = dims_.output.back() * dims_.inner, lines = dims_.output.count_to(dims_.output.rank() - 1);
    if (length == 0) return;
    threads.parallel_for(lines, kernels::least_rows(length * static_cast<int64_t>(sizeof(E)), kernels::kMovedByteNs),
                         [&](int64_t begin, int64_t end) {
                           for (int64_t i = begin; i < end; ++i) line(i, from, to + i * length, fill);
                         });
  }

 private:
  template <class E>
  void line(int64_t number, const E* from, E* to, const E& fill) const {
    int64_t offset = 0, inner = dims_.inner;
    size_t last = dims_.input.rank() - 1;
    for (size_t i = last; i-- > 0; number /= dims_.output[i]) {
      int64_t source = maps_[i][static_cast<size_t>(number % dims_.output[i])];
      if (source < 0) {
        put_copies(to, dims_.output[last] * inner, fill);
        return;
      }
      offset += source * strides_[i];
    }
    outside(0, inside_from_, from + offset, to, fill);
    if (inside_to_ > inside_from_) {
      put_n(from + offset + (inside_from_ - dims_.begins[last]) * inner, (inside_to_ - inside_from_) * inner,
            to + inside_from_ * inner);
    }
    outside(inside_to_, dims_.output[last], from + offset, to, fill);
  }

  /** The positions [first, end) of a line, which lie outside the input. */
  template <class E>
  void outside(int64_t first, int64_t end, const E* from, E* to, const E& fill) const {
    const std::vector<int64_t>& map = maps_.back();
    int64_t inner = dims_.inner;
    if (first < end && map[static_cast<size_t>(first)] < 0) {  // no position outside has a source then
      put_copies(to + first * inner, (end - first) * inner, fill);
    } else if (inner == 1) {
      base::polled_loop(end - first, [=, places = map.data() + first, out = to + first](int64_t begin, int64_t last) {
        for (int64_t i = begin; i < last; ++i) put(out[i], from[places[i]]);
      });
    } else {
      auto put_all = [&](int64_t begin, int64_t last) {
        for (int64_t i = first + begin; i < first + last; ++i) put_n(from + map[i] * inner, inner, to + i * inner);
      };
      base::polled_loop(end - first, put_all, inner);
    }
  }

  const PaddedDims& dims_;
  std::vector<std::vector<int64_t>> maps_;
  Dims strides_;
  int64_t inside_from_, inside_to_;
};

/** Pads so that input position 0 lands at pads[i]; `value` is one element of the same type, or NULL for zero. */
void pad_into(ThreadPool& threads, const Tensor& input, std::span<const int64_t> pads, PadMode mode,
              const Tensor* value, Tensor& output) {
  if (output.element_count() == 0) return;
  PaddedDims dims(input.shape(), output.shape(), pads);
  PadCopy copy(dims, mode);
  dispatch_moved(input.type(), [&]<class E>(TypeTag<E>) {
    E fill{};
    if (value != nullptr) fill = *static_cast<const E*>(value->raw());
    copy.copy(threads, static_cast<const E*>(input.raw()), static_cast<E*>(output.mutable_raw()), fill);
  });
}

/** pad_into, for packed types as well. */
void pad_any(KernelContext& context, const Tensor& input, std::span<const int64_t> pads, PadMode mode,
             const Tensor* value, Tensor& output) {
  if (!is_packed(input.type())) return pad_into(context.threads(), input, pads, mode, value, output);
  Tensor wide(ElementType::kInt8, output.shape());
  Tensor wide_value = value ? widened(*value) : Tensor();
  pad_into(context.threads(), widened(input), pads, mode, value ? &wide_value : nullptr, wide);
  pack_into(wide, output);
}

class Pad : public OpKernel {
 public:
  explicit Pad(const KernelInfo& info)
      : mode_(mode_of(info)), pads_(info.node().ints(info.opset() < 2 ? "paddings" : "pads")) {
    if (info.opset() < 11 && info.node().domain.empty()) {
      value_ = dispatch<kFloatTypes | kIntegerTypes>(info.input_type(0).element, [&]<class T>(TypeTag<T>) {
        float value = info.node().float_or("value", 0.0f);
        if constexpr (std::is_integral_v<T>) return scalar(saturate_cast<T>(value));
        return scalar(static_cast<T>(value));
      });
    }
  }

  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    Dims begins(input.rank());
    std::vector<int64_t> pads = context.has_input(1) ? to_int64s(context.input(1)) : pads_;
    const Tensor* axes = context.input_if(3);
    std::vector<int64_t> places = axes ? to_int64s(*axes) : std::vector<int64_t>{};
    for (size_t i = 0; i < pads.size() / 2; ++i) {
      begins[checked_axis(places.empty() ? static_cast<int64_t>(i) : places[i], input.rank())] = pads[i];
    }
    const Tensor* value = context.has_input(2) ? &context.input(2) : value_.defined() ? &value_ : nullptr;
    require(value == nullptr || (value->element_count() == 1 && value->type() == input.type()),
            ErrorCode::kInvalidArgument, "constant_value must be one element of the input's type");
    pad_any(context, input, begins, mode_, value, output);
  }

 private:
  PadMode mode_;
  std::vector<int64_t> pads_;
  Tensor value_;
};

class CenterCropPad : public OpKernel {
 public:
  explicit CenterCropPad(const KernelInfo&) {}
  void compute(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    Tensor& output = context.output(0);
    Dims begins;
    for (size_t i = 0; i < input.rank(); ++i) {
      int64_t more = output.shape()[i] - input.shape()[i];
      begins.push_back(more >= 0 ? more / 2 : -(-more / 2));
    }
    pad_any(context, input, begins, PadMode::kConstant, nullptr, output);
  }
};

constexpr KernelRow kRows[] = {
    {"", "Pad", 1, kLatest, make_kernel<Pad>},
    {"com.microsoft", "Pad", 1, kLatest, make_kernel<Pad>},
    {"", "CenterCropPad", 18, kLatest, make_kernel<CenterCropPad>},
};

}  // namespace

extern const KernelTable pad_rows;
const KernelTable pad_rows(kRows);

}  // namespace ortolan::cpu::onnx
