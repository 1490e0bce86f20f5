// DFT (axis is an attribute up to opset 19, an input from 20 on), STFT, the window functions and MelWeightMatrix.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** The one element of an integer input, where known. */
std::optional<int64_t> scalar_at(const InferContext& context, size_t i) {
  auto values = context.int64s(i);
  if (!values || values->size() != 1) return std::nullopt;
  return values->front();
}

int64_t checked_length(int64_t length, const char* what) {
  require(length > 0, ErrorCode::kInvalidArgument, what, " is ", length, "; it must be positive");
  return length;
}

Dim half_spectrum(Dim length) { return length.known() ? Dim(length.value() / 2 + 1) : Dim(); }

/** The transformed axis, where known; the last dimension holds real and imaginary parts and is no axis. */
std::optional<size_t> dft_axis(const InferContext& context, size_t rank) {
  std::optional<int64_t> axis = context.opset() < 20 ? context.node().int_or("axis", 1) : std::optional<int64_t>(-2);
  if (context.opset() >= 20 && context.has_input(2)) axis = scalar_at(context, 2);
  if (!axis) return std::nullopt;
  size_t result = checked_axis(*axis, rank);
  require(result + 1 < rank, ErrorCode::kInvalidArgument, "axis ", *axis,
          " is the last dimension, which holds real and imaginary parts; choose another");
  return result;
}

void dft(InferContext& context) {
  context.require_rank(0, 2, SIZE_MAX);
  if (!context.has_shape(0)) return context.set_output(0, context.element(0), {});
  SymbolicShape shape = context.shape(0);
  bool onesided = context.node().int_or("onesided", 0) != 0, inverse = context.node().int_or("inverse", 0) != 0;
  Dim parts = shape[shape.rank() - 1];
  require(!parts.known() || parts.is(1) || parts.is(2), ErrorCode::kInvalidArgument, "input ", shape,
          " must end in a dimension of 1 (real) or 2 (complex)");
  require(!(onesided && !inverse && parts.is(2)), ErrorCode::kInvalidArgument, "input ", shape,
          " is complex; onesided needs real input");
  shape[shape.rank() - 1] = onesided && inverse ? 1 : 2;
  std::optional<size_t> axis = dft_axis(context, shape.rank());
  if (!axis) return context.set_output(0, context.element(0), SymbolicShape::of_rank(shape.rank()));
  Dim length = shape[*axis];
  if (onesided && inverse) length = length.known() ? Dim(std::max<int64_t>(2 * (length.value() - 1), 0)) : Dim();
  if (context.has_input(1)) {
    auto given = scalar_at(context, 1);
    length = given ? Dim(checked_length(*given, "dft_length")) : Dim();
  }
  shape[*axis] = onesided && !inverse ? half_spectrum(length) : length;
  context.set_output(0, context.element(0), shape);
}

/** Frame length from its input or the window's size. */
Dim frame_length(const InferContext& context) {
  if (context.has_input(3)) {
    auto given = scalar_at(context, 3);
    return given ? Dim(checked_length(*given, "frame_length")) : Dim();
  }
  require(context.has_input(2), ErrorCode::kInvalidArgument, "neither window nor frame_length is given; give one");
  context.require_rank(2, 1, 1);
  return context.has_shape(2) ? context.shape(2)[0] : Dim();
}

void stft(InferContext& context) {
  context.require_rank(0, 2, 3);
  Dim length = frame_length(context), frames, batch;
  if (context.has_shape(0)) {
    batch = context.shape(0)[0];
    Dim signal = context.shape(0)[1];
    auto step = scalar_at(context, 1);
    if (step) checked_length(*step, "frame_step");
    if (signal.known() && step && length.known()) {
      require(length.value() > 0 && length.value() <= signal.value(), ErrorCode::kInvalidArgument, "frame_length ",
              length.value(), " must be positive and not exceed the signal's length ", signal.value());
      frames = (signal.value() - length.value()) / *step + 1;
    }
  }
  bool onesided = context.node().int_or("onesided", 1) != 0;
  context.set_output(0, context.element(0), DimVector{batch, frames, onesided ? half_spectrum(length) : length, 2});
}

ElementType output_type(const Node& node) {
  int64_t type = node.int_or("output_datatype", 1);
  bool known = type > 0 && type < kElementTypeCount && kNumericTypes.contains(static_cast<ElementType>(type));
  require(known, ErrorCode::kInvalidGraph, "output_datatype ", type, " is no numeric type; use 1 for float");
  return static_cast<ElementType>(type);
}

void window(InferContext& context) {
  auto size = scalar_at(context, 0);
  require(!size || *size >= 0, ErrorCode::kInvalidArgument, "size is ", size ? *size : 0, "; it must not be negative");
  context.set_output(0, output_type(context.node()), DimVector{size ? Dim(*size) : Dim()});
}

void mel_weights(InferContext& context) {
  auto bins = scalar_at(context, 0), length = scalar_at(context, 1);
  require((!bins || *bins >= 0) && (!length || *length >= 0), ErrorCode::kInvalidArgument,
          "num_mel_bins and dft_length must not be negative");
  DimVector shape{length ? Dim(*length / 2 + 1) : Dim(), bins ? Dim(*bins) : Dim()};
  context.set_output(0, output_type(context.node()), shape);
}

constexpr SchemaRow kRows[] = {
    {"", "DFT", 17, 19, {1, 2}, 1, dft, {{0, kFloatTypes}, {1, kIndexTypes}}},
    {"", "DFT", 20, kLatest, {1, 3}, 1, dft, {{0, kFloatTypes}, {1, kIndexTypes}, {2, kIndexTypes}}},
    {"",
     "STFT",
     17,
     kLatest,
     {2, 4},
     1,
     stft,
     {{0, kFloatTypes, 'T'}, {1, kIndexTypes}, {2, kFloatTypes, 'T'}, {3, kIndexTypes}}},
    {"", "HannWindow", 17, kLatest, 1, 1, window, {{0, kIndexTypes}}},
    {"", "HammingWindow", 17, kLatest, 1, 1, window, {{0, kIndexTypes}}},
    {"", "BlackmanWindow", 17, kLatest, 1, 1, window, {{0, kIndexTypes}}},
    {"",
     "MelWeightMatrix",
     17,
     kLatest,
     5,
     1,
     mel_weights,
     {{0, kIndexTypes, 'I'}, {1, kIndexTypes, 'I'}, {2, kIndexTypes, 'I'}, {kTheRest, kFloatTypes, 'F'}}},
};

}  // namespace

extern const SchemaTable signal_rows;
const SchemaTable signal_rows(kRows);
}  // namespace ortolan::ops::onnx
