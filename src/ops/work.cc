// Counts of arithmetic by operator, and of bytes.
#include "ops/work.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "ops/einsum_equation.h"
#include "ops/schema.h"
#include "ops/work_operands.h"

namespace ortolan::ops {
namespace {

using Rule = double (*)(const Operands&);

double nothing(const Operands&) { return 0; }
double written(const Operands& o) { return o.out_count(0); }
double read(const Operands& o) { return o.in_count(0); }
double variadic(const Operands& o) {
  return o.out_count(0) * static_cast<double>(std::max<size_t>(o.inputs.size(), 2) - 1);
}

double chain(const Operands& o) { return o.out_count(0) * static_cast<double>(o.node.strings("ops").size()); }

double matrix_product(const Operands& o) { return 2 * o.out_count(0) * o.in_dim(0, -1); }

/** FusedMatMul: A may be transposed, and its first dimension may belong behind those of its stack. */
double fused_matrix_product(const Operands& o) {
  bool transposed = o.node.int_or("transA", 0) != 0 && o.in(0).rank() > 1;
  bool aside = o.node.int_or("transBatchA", 0) != 0 && o.in(0).rank() > 2;
  return 2 * o.out_count(0) * o.in_dim(0, !transposed ? -1 : aside ? 0 : -2);
}

double gemm(const Operands& o) { return 2 * o.out_count(0) * o.in_dim(0, o.node.int_or("transA", 0) != 0 ? 0 : 1); }

double narrow_product(const Operands& o) { return 2 * o.out_count(0) * static_cast<double>(o.node.int_of("K")); }

/** Weights [out, in/group, window…] as input `weights`. */
template <size_t weights>
double convolution(const Operands& o) {
  return o.in_count(weights) == 0 ? 0 : 2 * o.out_count(0) * o.in_count(weights) / o.in_dim(weights, 0);
}

/** Weights [out, 1, window…] after [out, in, 1, 1]. */
double pointwise_depthwise(const Operands& o) {
  return convolution<1>(o) + 2 * o.in_dim(0, 0) * o.in_dim(0, 2) * o.in_dim(0, 3) * o.in_count(2);
}

/** Weights [in, out/group, window…]. */
double transposed_convolution(const Operands& o) {
  return o.in_count(1) == 0 ? 0 : 2 * o.in_count(0) * o.in_count(1) / o.in_dim(1, 0);
}

double pooling(const Operands& o) {
  double window = 1;
  for (int64_t size : o.node.ints("kernel_shape")) window *= static_cast<double>(size);
  return o.out_count(0) * window;
}

/** RNN, GRU and LSTM: each step of each sequence is multiplied with all of W and R. */
double recurrent(const Operands& o) { return 2 * o.in_dim(0, 0) * o.in_dim(0, 1) * (o.in_count(1) + o.in_count(2)); }

double scores_and_values(double batch, double queries, double keys, double query_row, double value_row) {
  return 2 * batch * queries * keys * (query_row + value_row);
}

/** ai.onnx.Attention: [batch, heads, rows, size] or [batch, rows, heads * size]; inputs 4 and 5 are the past. */
double onnx_attention(const Operands& o) {
  double past = o.in_if(4) != nullptr ? o.in_dim(4, 2) : 0;
  double queries = o.in_dim(0, -2), rows = o.in_dim(0, 0) * queries;
  if (rows == 0) return 0;
  return scores_and_values(1, rows, past + o.in_dim(1, -2), o.in_count(0) / rows, o.out_count(0) / rows);
}

/** com.microsoft.Attention and QAttention: one product makes Q, K and V; the past is [2, batch, heads, rows, size]. */
template <size_t past>
double projected_attention(const Operands& o) {
  double batch = o.in_dim(0, 0), queries = o.in_dim(0, 1), all = o.in_dim(1, 1), value_row = o.out_dim(0, -1);
  double keys = queries + (o.in_if(past) != nullptr ? o.in_dim(past, 3) : 0);
  double projection = 2 * batch * queries * o.in_dim(0, 2) * all;
  return projection + scores_and_values(batch, queries, keys, (all - value_row) / 2, value_row);
}

/** com.microsoft.MultiHeadAttention: Q [batch, rows, size] or QKV packed [batch, rows, heads, 3, size]; K the same,
    packed with V, or [batch, heads, rows, size]; input 6 is the past [batch, heads, rows, size]. */
double multi_head_attention(const Operands& o) {
  double batch = o.in_dim(0, 0), queries = o.in_dim(0, 1), value_row = o.out_dim(0, -1);
  double query_row = o.in(0).rank() == 5 ? o.in_dim(0, 2) * o.in_dim(0, 4) : o.in_dim(0, 2);
  double keys = o.in_if(1) != nullptr ? o.in_dim(1, o.in(1).rank() == 4 ? 2 : 1) : queries;
  if (o.in_if(6) != nullptr) keys += o.in_dim(6, 2);
  return scores_and_values(batch, queries, keys, query_row, value_row);
}

/** Input 6 holds how many keys the longest sequence has. */
double group_query_attention(const Operands& o) {
  const Tensor& total = o.in(6);
  bool readable = total.memory().on_cpu() && total.raw() != nullptr && total.type() == ElementType::kInt32 &&
                  total.element_count() == 1;
  if (!readable) throw Operands::Missing{};
  double rows = o.in_dim(0, 1), size = o.out_count(0) / std::max(1.0, o.in_dim(0, 0) * rows);
  return scores_and_values(o.in_dim(0, 0), rows, *total.data<int32_t>(), size, size);
}

/** Each token goes to k of the experts, whose weights are inputs 2, 4 and 6, [experts, ...]. */
double experts(const Operands& o) {
  double count = o.in_dim(2, 0), tokens = o.in_count(0) / std::max(1.0, o.in_dim(0, -1));
  double weights = o.in_count(2) + o.in_count(4) + o.in_count(6);
  return count == 0 ? 0 : 2 * tokens * static_cast<double>(o.node.int_or("k", 1)) * weights / count;
}

/** One product for each combination of labels; the order in which operands are joined may save some. */
double einsum(const Operands& o) {
  std::vector<size_t> ranks;
  for (size_t i = 0; i < o.inputs.size(); ++i) ranks.push_back(o.in(i).rank());
  EinsumTerms terms = einsum_terms(o.node.string_of("equation"), ranks);
  std::map<EinsumLabel, double> sizes;
  for (size_t i = 0; i < ranks.size(); ++i) {
    for (size_t d = 0; d < ranks[i]; ++d) {
      double& size = sizes.try_emplace(terms.inputs[i][d], 1).first->second;
      if (double own = o.in_dim(i, static_cast<int>(d)); own != 1) size = own;
    }
  }
  double combinations = 1;
  for (const auto& [label, size] : sizes) combinations *= size;
  return ranks.size() > 1 ? 2 * combinations * static_cast<double>(ranks.size() - 1) : combinations;
}

struct Row {
  Rule rule;
  std::initializer_list<std::string_view> names;
};

// Of ai.onnx, and of com.microsoft and ortolan where they have the same operator with more to it.
const Row kRows[] = {
    {nothing,  // movers of data, and what makes it
     {"ArrayFeatureExtractor",
      "BitCast",
      "Cast",
      "CastLike",
      "CenterCropPad",
      "Col2Im",
      "Compress",
      "Concat",
      "Constant",
      "ConstantOfShape",
      "DepthToSpace",
      "Dropout",
      "Expand",
      "ExpandDims",
      "EyeLike",
      "Flatten",
      "Gather",
      "GatherElements",
      "GatherND",
      "Identity",
      "OneHot",
      "Pad",
      "QLinearConcat",
      "QLinearWhere",
      "Range",
      "Reshape",
      "ReverseSequence",
      "ScatterElements",
      "ScatterND",
      "Scatter",
      "Shape",
      "Size",
      "Slice",
      "SpaceToDepth",
      "Split",
      "Squeeze",
      "Tile",
      "TensorScatter",
      "Transpose",
      "Trilu",
      "UnfoldTensor",
      "Unsqueeze",
      "Where",
      "GatherBlockQuantized"}},
    {written,
     {"Abs",
      "Acos",
      "Acosh",
      "Activation",
      "Add",
      "And",
      "Asin",
      "Asinh",
      "Atan",
      "Atanh",
      "BiasGelu",
      "BitShift",
      "BitwiseAnd",
      "BitwiseNot",
      "BitwiseOr",
      "BitwiseXor",
      "Ceil",
      "Celu",
      "Clip",
      "Cos",
      "Cosh",
      "DequantizeLinear",
      "Div",
      "DynamicQuantizeLinear",
      "Elu",
      "Equal",
      "Erf",
      "Exp",
      "FastGelu",
      "Floor",
      "GatedAdd",
      "Gelu",
      "Greater",
      "GreaterOrEqual",
      "HardSigmoid",
      "HardSwish",
      "IsInf",
      "IsNaN",
      "LeakyRelu",
      "Less",
      "LessOrEqual",
      "Log",
      "Mish",
      "Mod",
      "Mul",
      "MulInteger",
      "Neg",
      "Not",
      "Or",
      "PRelu",
      "Pow",
      "QLinearAdd",
      "QLinearLeakyRelu",
      "QLinearMul",
      "QLinearSigmoid",
      "QuantizeLinear",
      "QuickGelu",
      "Reciprocal",
      "Relu",
      "RotaryEmbedding",
      "Round",
      "Selu",
      "Shrink",
      "Sigmoid",
      "Sign",
      "Sin",
      "Sinh",
      "Softplus",
      "Softsign",
      "Sqrt",
      "Sub",
      "SwiGLU",
      "Swish",
      "Tan",
      "Tanh",
      "ThresholdedRelu",
      "Xor"}},
    {chain, {"ElementwiseChain"}},
    {variadic, {"Max", "Mean", "Min", "Sum"}},
    {read,
     {"ArgMax",
      "ArgMin",
      "BatchNormalization",
      "CumProd",
      "CumSum",
      "GatedRMSNorm",
      "GlobalAveragePool",
      "GlobalLpPool",
      "GlobalMaxPool",
      "GroupNormalization",
      "Hardmax",
      "InstanceNormalization",
      "LRN",
      "LayerNormalization",
      "LogSoftmax",
      "LpNormalization",
      "MeanVarianceNormalization",
      "QLinearGlobalAveragePool",
      "QLinearReduceMean",
      "QLinearSoftmax",
      "RMSNormalization",
      "ReduceL1",
      "ReduceL2",
      "ReduceLike",
      "ReduceLogSum",
      "ReduceLogSumExp",
      "ReduceMax",
      "ReduceMean",
      "ReduceMin",
      "ReduceProd",
      "ReduceSum",
      "ReduceSumInteger",
      "ReduceSumSquare",
      "SimplifiedLayerNormalization",
      "SkipLayerNormalization",
      "SkipSimplifiedLayerNormalization",
      "Softmax"}},
    {pooling, {"AveragePool", "LpPool", "MaxPool", "MaxpoolWithMask", "NhwcMaxPool", "QLinearAveragePool"}},
    {matrix_product,
     {"DynamicQuantizeMatMul", "MatMul", "MatMulFpQ4", "MatMulInteger", "MatMulInteger16", "MatMulIntegerToFloat",
      "QLinearMatMul"}},
    {fused_matrix_product, {"FusedMatMul", "FusedMatMulActivation", "TransposeMatMul"}},
    {gemm, {"FusedGemm", "Gemm", "QGemm"}},
    {narrow_product, {"MatMulBnb4", "MatMulNBits"}},
    {convolution<1>, {"CausalConvWithState", "Conv", "ConvInteger", "DeformConv", "FusedConv"}},
    {pointwise_depthwise, {"PointwiseDepthwiseConv"}},
    {convolution<3>, {"QLinearConv"}},
    {transposed_convolution, {"ConvTranspose", "ConvTransposeWithDynamicPads"}},
    {recurrent, {"DynamicQuantizeLSTM", "GRU", "LSTM", "RNN"}},
    {multi_head_attention, {"MultiHeadAttention"}},
    {group_query_attention, {"GroupQueryAttention"}},
    {projected_attention<8>, {"QAttention"}},
    {experts, {"MoE"}},
    {einsum, {"Einsum"}},
};

/** NULL for operators without a count. */
Rule rule_of(const Node& node) {
  static const auto* const kRules = [] {
    auto* rules = new std::map<std::string_view, Rule>;
    for (const Row& row : kRows) {
      for (std::string_view name : row.names) rules->emplace(name, row.rule);
    }
    return rules;
  }();
  bool known = node.domain.empty() || node.domain == "com.microsoft" || node.domain == "ortolan";
  if (!known || (node.schema != nullptr && (node.schema->flags & kCustom) != 0)) return nullptr;
  if (node.op_type == "Attention") return node.domain == "com.microsoft" ? projected_attention<4> : onnx_attention;
  auto found = kRules->find(node.op_type);
  return found == kRules->end() ? nullptr : found->second;
}

std::optional<int64_t> flops_of(const Operands& operands) {
  Rule rule = rule_of(operands.node);
  if (rule == nullptr) return std::nullopt;
  try {
    double flops = rule(operands);
    bool fits = flops >= 0 && flops < 9e18;
    return fits ? std::optional(static_cast<int64_t>(flops)) : std::nullopt;
  } catch (const Operands::Missing&) {
    return std::nullopt;
  } catch (const Error&) {  // an attribute of another kind than the rule expects
    return std::nullopt;
  }
}

/** True where the first input is looked up, not read through. */
bool looks_up(const Node& node) {
  constexpr std::string_view kNames[] = {"Gather", "GatherElements", "GatherND", "Slice", "GatherBlockQuantized"};
  return std::ranges::find(kNames, node.op_type) != std::end(kNames);
}

int64_t bytes_of(const Operands& o) {
  bool asks_shape = o.node.op_type == "Shape" || o.node.op_type == "Size";
  double read = 0, written = 0;
  for (const Tensor* tensor : o.outputs) written += tensor != nullptr ? static_cast<double>(tensor->byte_count()) : 0;
  for (size_t i = asks_shape ? 1 : 0; i < o.inputs.size(); ++i) {
    double bytes = o.inputs[i] != nullptr ? static_cast<double>(o.inputs[i]->byte_count()) : 0;
    read += i == 0 && looks_up(o.node) ? std::min(bytes, written) : bytes;
  }
  return static_cast<int64_t>(std::min(read + written, 9e18));
}

}  // namespace

Work work_of(const Node& node, std::span<const Tensor* const> inputs, std::span<const Tensor* const> outputs) {
  Operands operands{node, inputs, outputs};
  return {flops_of(operands), bytes_of(operands)};
}

}  // namespace ortolan::ops
