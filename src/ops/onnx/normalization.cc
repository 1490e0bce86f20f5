// Normalisations: the result has the input's shape; what varies is where moments are taken and which of them come out.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** Channels of input 0 for parameters that hold one value a channel: a scalar or vector input has one. */
Dim channels_of(const InferContext& context) {
  if (!context.has_shape(0)) return {};
  return context.shape(0).rank() < 2 ? Dim(1) : context.shape(0)[1];
}

void require_size(const InferContext& context, size_t input, Dim wanted, const char* what) {
  if (!context.has_shape(input)) return;
  Dim size = context.shape(input).element_count();
  require(!size.known() || !wanted.known() || size.value() == wanted.value(), ErrorCode::kInvalidArgument, what,
          " has shape ", context.shape(input), "; it needs ", wanted.known() ? wanted.value() : 0,
          " elements for input ", context.shape(0));
}

constexpr const char* kBatchInputs[] = {"X", "scale", "B", "mean", "var"};

/** Opsets up to 13: outputs 1 and 2 are running statistics, 3 and 4 those of this batch. */
void batch_normalization(InferContext& context) {
  context.set_output_like(0, 0);
  Dim size = channels_of(context);
  if (context.opset() < 9 && context.node().int_or("spatial", 1) == 0 && context.has_shape(0)) {
    size = Dim(1);
    for (size_t i = 1; i < context.shape(0).rank(); ++i) size = multiply(size, context.shape(0)[i]);
  }
  for (size_t i = 1; i < 5; ++i) require_size(context, i, size, kBatchInputs[i]);
  for (size_t i = 1; i < 5; ++i) {
    size_t like = context.opset() >= 14 ? i + 2 : 3 + (i + 1) % 2;
    context.set_output(i, context.element(like), context.shape(like));
  }
}

void instance_normalization(InferContext& context) {
  context.require_rank(0, 3, SIZE_MAX);
  require_size(context, 1, channels_of(context), "scale");
  require_size(context, 2, channels_of(context), "B");
  context.set_output_like(0, 0);
}

/** Type of the moments: attribute stash_type, float unless it says bfloat16 (16), or double (11). */
ElementType stash_type(const Node& node) {
  int64_t type = node.int_or("stash_type", 1);
  constexpr TypeSet kStashTypes = kFloatTypes;
  bool known = type > 0 && type < kElementTypeCount && kStashTypes.contains(static_cast<ElementType>(type));
  require(known, ErrorCode::kInvalidGraph, "stash_type ", type, " is no floating-point type; use 1 (float)");
  return static_cast<ElementType>(type);
}

/** Before opset 17 scale and bias may be of another type than X, and Y has theirs. */
void layer_normalization(InferContext& context) {
  bool of_scale = context.opset() < 17 && context.element(1) != ElementType::kUndefined;
  context.set_output(0, context.element(of_scale ? 1 : 0), context.shape(0));
  ElementType moments = stash_type(context.node());
  if (!context.has_shape(0)) {
    context.set_output(1, moments, {});
    context.set_output(2, moments, {});
    return;
  }
  SymbolicShape shape = context.shape(0);
  size_t axis = checked_axis(context.node().int_or("axis", -1), shape.rank());
  for (size_t i = axis; i < shape.rank(); ++i) shape[i] = 1;
  context.set_output(1, moments, shape);
  context.set_output(2, moments, shape);
}

void rms_normalization(InferContext& context) {
  ElementType type = context.element(1) == ElementType::kUndefined ? context.element(0) : context.element(1);
  if (context.has_shape(0)) checked_axis(context.node().int_or("axis", -1), context.shape(0).rank());
  context.set_output(0, type, context.shape(0));
}

void group_normalization(InferContext& context) {
  context.require_rank(0, 3, SIZE_MAX);
  int64_t groups = context.node().int_of("num_groups");
  require(groups > 0, ErrorCode::kInvalidGraph, "num_groups is ", groups, "; it must be positive");
  Dim channels = channels_of(context);
  require(!channels.known() || channels.value() % groups == 0, ErrorCode::kInvalidArgument, "input ", context.shape(0),
          " has ", channels.known() ? channels.value() : 0, " channels, not a multiple of num_groups ", groups);
  Dim size = context.opset() < 21 ? Dim(groups) : channels;
  require_size(context, 1, size, "scale");
  require_size(context, 2, size, "bias");
  context.set_output_like(0, 0);
}

void lrn(InferContext& context) {
  context.require_rank(0, 3, SIZE_MAX);
  int64_t size = context.node().int_of("size");
  require(size > 0, ErrorCode::kInvalidGraph, "size is ", size, "; it must be positive");
  context.set_output_like(0, 0);
}

constexpr SchemaRow kRows[] = {
    {"", "BatchNormalization", 1, 13, 5, {1, 5}, batch_normalization, {{kTheRest, kFloatTypes}}},
    {"", "BatchNormalization", 14, kLatest, 5, {1, 3}, batch_normalization, {{kTheRest, kFloatTypes}}},
    {"", "InstanceNormalization", 1, kLatest, 3, 1, instance_normalization, {{kTheRest, kFloatTypes, 'T'}}},
    {"",
     "LayerNormalization",
     1,
     16,
     {2, 3},
     {1, 3},
     layer_normalization,
     {{0, kFloatTypes, 'T'}, {kTheRest, kFloatTypes, 'V'}}},
    {"", "LayerNormalization", 17, kLatest, {2, 3}, {1, 3}, layer_normalization, {{kTheRest, kFloatTypes, 'T'}}},
    {"", "RMSNormalization", 23, kLatest, 2, 1, rms_normalization, {{0, kFloatTypes}, {1, kFloatTypes}}},
    {"", "GroupNormalization", 18, kLatest, 3, 1, group_normalization, {{kTheRest, kFloatTypes, 'T'}}},
    {"", "LRN", 1, kLatest, 1, 1, lrn, {{0, kFloatTypes}}},
    {"", "MeanVarianceNormalization", 9, kLatest, 1, 1, same_as_first_input, {{0, kFloatTypes}}},
};

}  // namespace

extern const SchemaTable normalization_rows;
const SchemaTable normalization_rows(kRows);
}  // namespace ortolan::ops::onnx
