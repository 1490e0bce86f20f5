// The values of standard operators' attributes that a node leaves out.
#include "ops/default_attributes.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace ortolan::ops {
namespace {

using graph::Attribute;
using graph::AttributeValue;

/** `attributes` is a list of name:kind=value with ';' between; kinds are i (int), f (float), s (string) and, with ','
    between the values, is and fs. A later row of an operator replaces the one before. */
struct DefaultRow {
  const char* domain;
  const char* name;
  int since;
  const char* attributes;
};

constexpr DefaultRow kDefaults[] = {
    {"", "Add", 1, "broadcast:i=0"},
    {"", "Add", 7, ""},
    {"", "AffineGrid", 20, "align_corners:i=0"},
    {"", "And", 1, "broadcast:i=0"},
    {"", "And", 7, ""},
    {"", "ArgMax", 1, "axis:i=0;keepdims:i=1"},
    {"", "ArgMax", 12, "axis:i=0;keepdims:i=1;select_last_index:i=0"},
    {"", "ArgMin", 1, "axis:i=0;keepdims:i=1"},
    {"", "ArgMin", 12, "axis:i=0;keepdims:i=1;select_last_index:i=0"},
    {"", "Attention", 23, "is_causal:i=0;qk_matmul_output_mode:i=0;softcap:f=0.0"},
    {"", "Attention", 25,
     "is_causal:i=0;left_window_size:i=-1;qk_matmul_output_mode:i=0;right_window_size:i=-1;softcap:f=0.0"},
    {"", "AveragePool", 1, "auto_pad:s=NOTSET"},
    {"", "AveragePool", 7, "auto_pad:s=NOTSET;count_include_pad:i=0"},
    {"", "AveragePool", 10, "auto_pad:s=NOTSET;ceil_mode:i=0;count_include_pad:i=0"},
    {"", "BatchNormalization", 1, "epsilon:f=1e-05;is_test:i=0;momentum:f=0.9;spatial:i=1"},
    {"", "BatchNormalization", 7, "epsilon:f=1e-05;momentum:f=0.9;spatial:i=1"},
    {"", "BatchNormalization", 9, "epsilon:f=1e-05;momentum:f=0.9"},
    {"", "BatchNormalization", 14, "epsilon:f=1e-05;momentum:f=0.9;training_mode:i=0"},
    {"", "BlackmanWindow", 17, "output_datatype:i=1;periodic:i=1"},
    {"", "Cast", 19, "saturate:i=1"},
    {"", "CastLike", 19, "saturate:i=1"},
    {"", "CausalConvWithState", 27, "activation:s=none"},
    {"", "Celu", 12, "alpha:f=1.0"},
    {"", "Clip", 6, "max:f=3.4028235e+38;min:f=-3.4028235e+38"},
    {"", "Clip", 11, ""},
    {"", "ConcatFromSequence", 11, "new_axis:i=0"},
    {"", "Conv", 1, "auto_pad:s=NOTSET;group:i=1"},
    {"", "ConvInteger", 10, "auto_pad:s=NOTSET;group:i=1"},
    {"", "ConvTranspose", 1, "auto_pad:s=NOTSET;group:i=1"},
    {"", "CumSum", 11, "exclusive:i=0;reverse:i=0"},
    {"", "DFT", 17, "axis:i=1;inverse:i=0;onesided:i=0"},
    {"", "DeformConv", 19, "group:i=1;offset_group:i=1"},
    {"", "DepthToSpace", 11, "mode:s=DCR"},
    {"", "DequantizeLinear", 13, "axis:i=1"},
    {"", "DequantizeLinear", 21, "axis:i=1;block_size:i=0"},
    {"", "Div", 1, "broadcast:i=0"},
    {"", "Div", 7, ""},
    {"", "Dropout", 1, "is_test:i=0;ratio:f=0.5"},
    {"", "Dropout", 7, "ratio:f=0.5"},
    {"", "Dropout", 12, ""},
    {"", "Elu", 1, "alpha:f=1.0"},
    {"", "Equal", 1, "broadcast:i=0"},
    {"", "Equal", 7, ""},
    {"", "EyeLike", 9, "k:i=0"},
    {"", "Flatten", 1, "axis:i=1"},
    {"", "GRU", 1, "direction:s=foward;output_sequence:i=0"},
    {"", "GRU", 3, "direction:s=forward;linear_before_reset:i=0;output_sequence:i=0"},
    {"", "GRU", 7, "direction:s=forward;linear_before_reset:i=0"},
    {"", "GRU", 14, "direction:s=forward;layout:i=0;linear_before_reset:i=0"},
    {"", "Gather", 1, "axis:i=0"},
    {"", "GatherElements", 11, "axis:i=0"},
    {"", "GatherND", 12, "batch_dims:i=0"},
    {"", "Gelu", 20, "approximate:s=none"},
    {"", "Gemm", 1, "alpha:f=1.0;beta:f=1.0;broadcast:i=0;transA:i=0;transB:i=0"},
    {"", "Gemm", 7, "alpha:f=1.0;beta:f=1.0;transA:i=0;transB:i=0"},
    {"", "GlobalLpPool", 1, "p:f=2.0"},
    {"", "GlobalLpPool", 2, "p:i=2"},
    {"", "Greater", 1, "broadcast:i=0"},
    {"", "Greater", 7, ""},
    {"", "GridSample", 16, "align_corners:i=0;mode:s=bilinear;padding_mode:s=zeros"},
    {"", "GridSample", 20, "align_corners:i=0;mode:s=linear;padding_mode:s=zeros"},
    {"", "GroupNormalization", 18, "epsilon:f=1e-05"},
    {"", "GroupNormalization", 21, "epsilon:f=1e-05;stash_type:i=1"},
    {"", "HammingWindow", 17, "output_datatype:i=1;periodic:i=1"},
    {"", "HannWindow", 17, "output_datatype:i=1;periodic:i=1"},
    {"", "HardSigmoid", 1, "alpha:f=0.2;beta:f=0.5"},
    {"", "Hardmax", 1, "axis:i=1"},
    {"", "Hardmax", 13, "axis:i=-1"},
    {"", "ImageDecoder", 20, "pixel_format:s=RGB"},
    {"", "InstanceNormalization", 1, "epsilon:f=1e-05"},
    {"", "IsInf", 10, "detect_negative:i=1;detect_positive:i=1"},
    {"", "LRN", 1, "alpha:f=1e-04;beta:f=0.75;bias:f=1.0"},
    {"", "LSTM", 1, "direction:s=forward;input_forget:i=0;output_sequence:i=0"},
    {"", "LSTM", 7, "direction:s=forward;input_forget:i=0"},
    {"", "LSTM", 14, "direction:s=forward;input_forget:i=0;layout:i=0"},
    {"", "LayerNormalization", 17, "axis:i=-1;epsilon:f=1e-05;stash_type:i=1"},
    {"", "LeakyRelu", 1, "alpha:f=0.01"},
    {"", "Less", 1, "broadcast:i=0"},
    {"", "Less", 7, ""},
    {"", "LinearAttention", 27, "chunk_size:i=64;scale:f=0.0;update_rule:s=gated_delta"},
    {"", "LogSoftmax", 1, "axis:i=1"},
    {"", "LogSoftmax", 13, "axis:i=-1"},
    {"", "LpNormalization", 1, "axis:i=-1;p:i=2"},
    {"", "LpPool", 1, "auto_pad:s=NOTSET;p:f=2.0"},
    {"", "LpPool", 2, "auto_pad:s=NOTSET;p:i=2"},
    {"", "LpPool", 18, "auto_pad:s=NOTSET;ceil_mode:i=0;p:i=2"},
    {"", "MaxPool", 1, "auto_pad:s=NOTSET"},
    {"", "MaxPool", 8, "auto_pad:s=NOTSET;storage_order:i=0"},
    {"", "MaxPool", 10, "auto_pad:s=NOTSET;ceil_mode:i=0;storage_order:i=0"},
    {"", "MaxRoiPool", 1, "spatial_scale:f=1.0"},
    {"", "MeanVarianceNormalization", 9, "axes:is=0,2,3"},
    {"", "MelWeightMatrix", 17, "output_datatype:i=1"},
    {"", "Mod", 10, "fmod:i=0"},
    {"", "Mul", 1, "broadcast:i=0"},
    {"", "Mul", 7, ""},
    {"", "Multinomial", 7, "dtype:i=6;sample_size:i=1"},
    {"", "NegativeLogLikelihoodLoss", 12, "reduction:s=mean"},
    {"", "NonMaxSuppression", 10, "center_point_box:i=0"},
    {"", "OneHot", 9, "axis:i=-1"},
    {"", "Or", 1, "broadcast:i=0"},
    {"", "Or", 7, ""},
    {"", "Pad", 1, "mode:s=constant;value:f=0.0"},
    {"", "Pad", 11, "mode:s=constant"},
    {"", "Pow", 1, "broadcast:i=0"},
    {"", "Pow", 7, ""},
    {"", "QLinearConv", 10, "auto_pad:s=NOTSET;group:i=1"},
    {"", "QuantizeLinear", 13, "axis:i=1"},
    {"", "QuantizeLinear", 19, "axis:i=1;saturate:i=1"},
    {"", "QuantizeLinear", 21, "axis:i=1;block_size:i=0;output_dtype:i=0;saturate:i=1"},
    {"", "RMSNormalization", 23, "axis:i=-1;epsilon:f=1e-05;stash_type:i=1"},
    {"", "RNN", 1, "activations:ss=Tanh,Tanh;direction:s=forward;output_sequence:i=0"},
    {"", "RNN", 7, "activations:ss=Tanh,Tanh;direction:s=forward"},
    {"", "RNN", 14, "activations:ss=Tanh,Tanh;direction:s=forward;layout:i=0"},
    {"", "RandomNormal", 1, "dtype:i=1;mean:f=0.0;scale:f=1.0"},
    {"", "RandomNormalLike", 1, "mean:f=0.0;scale:f=1.0"},
    {"", "RandomUniform", 1, "dtype:i=1;high:f=1.0;low:f=0.0"},
    {"", "RandomUniformLike", 1, "high:f=1.0;low:f=0.0"},
    {"", "ReduceL1", 1, "keepdims:i=1"},
    {"", "ReduceL1", 18, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "ReduceL2", 1, "keepdims:i=1"},
    {"", "ReduceL2", 18, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "ReduceLogSum", 1, "keepdims:i=1"},
    {"", "ReduceLogSum", 18, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "ReduceLogSumExp", 1, "keepdims:i=1"},
    {"", "ReduceLogSumExp", 18, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "ReduceMax", 1, "keepdims:i=1"},
    {"", "ReduceMax", 18, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "ReduceMean", 1, "keepdims:i=1"},
    {"", "ReduceMean", 18, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "ReduceMin", 1, "keepdims:i=1"},
    {"", "ReduceMin", 18, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "ReduceProd", 1, "keepdims:i=1"},
    {"", "ReduceProd", 18, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "ReduceSum", 1, "keepdims:i=1"},
    {"", "ReduceSum", 13, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "ReduceSumSquare", 1, "keepdims:i=1"},
    {"", "ReduceSumSquare", 18, "keepdims:i=1;noop_with_empty_axes:i=0"},
    {"", "Reshape", 14, "allowzero:i=0"},
    {"", "Resize", 10, "mode:s=nearest"},
    {"", "Resize", 11,
     "coordinate_transformation_mode:s=half_pixel;cubic_coeff_a:f=-0.75;exclude_outside:i=0;extrapolation_value:f=0.0;"
     "mode:s=nearest;nearest_mode:s=round_prefer_floor"},
    {"", "Resize", 18,
     "antialias:i=0;coordinate_transformation_mode:s=half_pixel;cubic_coeff_a:f=-0.75;exclude_outside:i=0;"
     "extrapolation_value:f=0.0;keep_aspect_ratio_policy:s=stretch;mode:s=nearest;nearest_mode:s=round_prefer_floor"},
    {"", "ReverseSequence", 10, "batch_axis:i=1;time_axis:i=0"},
    {"", "RoiAlign", 10, "mode:s=avg;output_height:i=1;output_width:i=1;sampling_ratio:i=0;spatial_scale:f=1.0"},
    {"", "RoiAlign", 16,
     "coordinate_transformation_mode:s=half_pixel;mode:s=avg;output_height:i=1;output_width:i=1;sampling_ratio:i=0;"
     "spatial_scale:f=1.0"},
    {"", "RotaryEmbedding", 23, "interleaved:i=0;num_heads:i=0;rotary_embedding_dim:i=0"},
    {"", "STFT", 17, "onesided:i=1"},
    {"", "Scatter", 9, "axis:i=0"},
    {"", "ScatterElements", 11, "axis:i=0"},
    {"", "ScatterElements", 16, "axis:i=0;reduction:s=none"},
    {"", "ScatterND", 16, "reduction:s=none"},
    {"", "Selu", 1, "alpha:f=1.6732;gamma:f=1.0507"},
    {"", "Selu", 6, "alpha:f=1.6732632;gamma:f=1.050701"},
    {"", "Shape", 15, "start:i=0"},
    {"", "Shrink", 9, "bias:f=0.0;lambd:f=0.5"},
    {"", "Softmax", 1, "axis:i=1"},
    {"", "Softmax", 13, "axis:i=-1"},
    {"", "SoftmaxCrossEntropyLoss", 12, "reduction:s=mean"},
    {"", "Split", 2, "axis:i=0"},
    {"", "SplitToSequence", 11, "axis:i=0;keepdims:i=1"},
    {"", "StringNormalizer", 10, "case_change_action:s=NONE;is_case_sensitive:i=0"},
    {"", "Sub", 1, "broadcast:i=0"},
    {"", "Sub", 7, ""},
    {"", "Swish", 24, "alpha:f=1.0"},
    {"", "TensorScatter", 24, "axis:i=-2;mode:s=linear"},
    {"", "ThresholdedRelu", 10, "alpha:f=1.0"},
    {"", "TopK", 1, "axis:i=-1"},
    {"", "TopK", 11, "axis:i=-1;largest:i=1;sorted:i=1"},
    {"", "Trilu", 14, "upper:i=1"},
    {"", "Unique", 11, "sorted:i=1"},
    {"", "Upsample", 1, "mode:s=nearest"},
    {"", "Xor", 1, "broadcast:i=0"},
    {"", "Xor", 7, ""},
    {"ai.onnx.ml", "Binarizer", 1, "threshold:f=0.0"},
    {"ai.onnx.ml", "CastMap", 1, "cast_to:s=TO_FLOAT;map_form:s=DENSE;max_map:i=1"},
    {"ai.onnx.ml", "CategoryMapper", 1, "default_int64:i=-1;default_string:s=_Unused"},
    {"ai.onnx.ml", "Imputer", 1, "replaced_value_float:f=0.0;replaced_value_int64:i=0"},
    {"ai.onnx.ml", "LabelEncoder", 1, "default_int64:i=-1;default_string:s=_Unused"},
    {"ai.onnx.ml", "LabelEncoder", 2, "default_float:f=-0.0;default_int64:i=-1;default_string:s=_Unused"},
    {"ai.onnx.ml", "LinearClassifier", 1, "multi_class:i=0;post_transform:s=NONE"},
    {"ai.onnx.ml", "LinearRegressor", 1, "post_transform:s=NONE;targets:i=1"},
    {"ai.onnx.ml", "Normalizer", 1, "norm:s=MAX"},
    {"ai.onnx.ml", "OneHotEncoder", 1, "zeros:i=1"},
    {"ai.onnx.ml", "SVMClassifier", 1, "kernel_type:s=LINEAR;post_transform:s=NONE"},
    {"ai.onnx.ml", "SVMRegressor", 1, "kernel_type:s=LINEAR;n_supports:i=0;one_class:i=0;post_transform:s=NONE"},
    {"ai.onnx.ml", "TreeEnsembleClassifier", 1, "post_transform:s=NONE"},
    {"ai.onnx.ml", "TreeEnsembleRegressor", 1, "aggregate_function:s=SUM;post_transform:s=NONE"},
};

std::pair<std::string_view, std::string_view> key_of(const DefaultRow& row) { return {row.domain, row.name}; }

/** Cuts the part up to `mark` off the front of `text`. */
std::string_view cut(std::string_view& text, char mark) {
  size_t end = std::min(text.find(mark), text.size());
  std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

template <class T>
T number(std::string_view text) {
  T value{};
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

template <class T>
std::vector<T> numbers(std::string_view text) {
  std::vector<T> values;
  while (!text.empty()) values.push_back(number<T>(cut(text, ',')));
  return values;
}

std::vector<std::string> strings(std::string_view text) {
  std::vector<std::string> list;
  while (!text.empty()) list.emplace_back(cut(text, ','));
  return list;
}

AttributeValue value_of(std::string_view kind, std::string_view text) {
  if (kind == "i") return number<int64_t>(text);
  if (kind == "f") return number<float>(text);
  if (kind == "is") return numbers<int64_t>(text);
  if (kind == "fs") return numbers<float>(text);
  if (kind == "ss") return strings(text);
  return std::string(text);
}

std::vector<Attribute> parse(std::string_view text) {
  std::vector<Attribute> attributes;
  while (!text.empty()) {
    std::string_view value = cut(text, ';');
    std::string name(cut(value, ':'));
    std::string_view kind = cut(value, '=');
    attributes.push_back({std::move(name), value_of(kind, value)});
  }
  return attributes;
}

}  // namespace

std::span<const Attribute> default_attributes(const graph::Node& node) {
  static const auto& parsed = *[] {
    auto* all = new std::vector<std::vector<Attribute>>;
    for (const DefaultRow& row : kDefaults) all->push_back(parse(row.attributes));
    return all;
  }();
  const std::pair<std::string_view, std::string_view> key(node.domain, node.op_type);
  std::span<const Attribute> found;
  for (auto row = std::ranges::lower_bound(kDefaults, key, {}, key_of);
       row != std::end(kDefaults) && key_of(*row) == key; ++row) {
    if (row->since <= node.opset) found = parsed[static_cast<size_t>(row - kDefaults)];
  }
  return found;
}

}  // namespace ortolan::ops
