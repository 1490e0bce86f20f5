// Nodes of every operator that packs its constant inputs, or reads them in another way than as elements.
#include "operator_cases.h"

#include <cmath>
#include <functional>

namespace ortolan::across {
namespace {

constexpr auto kFloat = ElementType::kFloat, kHalf = ElementType::kFloat16, kInt8 = ElementType::kInt8,
               kUInt8 = ElementType::kUInt8, kInt32 = ElementType::kInt32, kInt64 = ElementType::kInt64;
const char* const kMicrosoft = "com.microsoft";
const char* const kOwn = "ortolan";

CaseInput none() { return {}; }
CaseInput given(Shape shape, ElementType type = kFloat, double low = -1, double high = 1) {
  return {CaseInput::Kind::kGiven, type, std::move(shape), low, high};
}
CaseInput constant(Shape shape, ElementType type = kFloat, double low = -1, double high = 1) {
  return {CaseInput::Kind::kConstant, type, std::move(shape), low, high};
}
CaseInput bytes(Shape shape, ElementType type = kUInt8) {
  return constant(std::move(shape), type, type == kInt8 ? -128 : 0, type == kInt8 ? 128 : 256);
}
CaseInput given_bytes(Shape shape) { return given(std::move(shape), kUInt8, 0, 256); }
CaseInput scale(Shape shape = {}) { return constant(std::move(shape), kFloat, 0.01, 0.1); }
CaseInput zero(ElementType type = kUInt8) { return constant({}, type, 0, 8); }

using Ints = std::vector<int64_t>;
Attribute ints(std::string name, Ints values) { return {std::move(name), std::move(values)}; }
Attribute number(std::string name, int64_t value) { return {std::move(name), value}; }
Attribute text(std::string name, std::string value) { return {std::move(name), std::move(value)}; }

using Cases = std::vector<OperatorCase>;

void add_products(Cases& cases) {
  const CaseInput b = constant({128, 192}), rows = given({4, 128}), columns = given({4, 192});
  cases.push_back({"MatMul", "", {rows, b}});
  cases.push_back({"MatMul", "", {given({4, 128}, kHalf), constant({128, 384}, kHalf)}});
  cases.push_back({"MatMul", "", {given({2, 16384}), constant({16384})}});
  cases.push_back({"Gemm", "", {rows, b}});
  cases.push_back({"Gemm", "", {columns, b, constant({128})}, {number("transB", 1)}});
  cases.push_back({"FusedMatMul", kMicrosoft, {columns, b}, {number("transB", 1)}});
  cases.push_back({"TransposeMatMul", kMicrosoft, {rows, b}});
  cases.push_back({"FusedMatMulActivation", kMicrosoft, {rows, b}, {text("activation", "Relu")}});
  cases.push_back({"FusedGemm", kMicrosoft, {rows, b, constant({192})}, {text("activation", "Relu")}});
  cases.push_back({"MatMul", kOwn, {rows, b, constant({192})}});
  cases.push_back({"Gemm", kOwn, {columns, b}, {number("transB", 1)}});
  cases.push_back({"Attention", kMicrosoft, {given({1, 4, 128}), b, constant({192})}, {number("num_heads", 4)}});
}

void add_byte_products(Cases& cases) {
  const CaseInput b = bytes({128, 576}), a = given_bytes({4, 128}), wide = given_bytes({4, 576});
  cases.push_back({"MatMulInteger", "", {a, b, zero(), zero()}});
  cases.push_back({"MatMulInteger", "", {a, bytes({128, 576}, kInt8)}});
  cases.push_back({"QLinearMatMul", "", {a, scale(), zero(), b, scale(), zero(), scale(), zero()}});
  cases.push_back({"MatMulIntegerToFloat", kMicrosoft, {a, b, scale(), scale(), zero(), zero(), constant({576})}});
  cases.push_back({"MatMulIntegerToFloat", kOwn, {a, b, scale(), scale(), zero(), zero()}});
  cases.push_back({"DynamicQuantizeMatMul", kMicrosoft, {given({4, 128}), b, scale(), zero()}});
  cases.push_back({"QGemm", kMicrosoft, {a, scale(), zero(), b, scale(), zero()}});
  cases.push_back({"QGemm", kMicrosoft, {wide, scale(), zero(), b, scale(), zero()}, {number("transB", 1)}});
  cases.push_back({"QAttention",
                   kMicrosoft,
                   {given_bytes({1, 4, 128}), b, constant({576}), scale(), scale(), none(), zero(), zero()},
                   {number("num_heads", 4)}});
}

void add_convolutions(Cases& cases) {
  const CaseInput w = constant({64, 32, 3, 3}), x = given({1, 32, 8, 8}), large = given({1, 32, 24, 24});
  const Attribute strides = ints("strides", {2, 2}), groups = number("group", 2), pads = ints("pads", {1, 1, 1, 1});
  cases.push_back({"Conv", "", {x, w, constant({64})}});
  cases.push_back({"Conv", "", {x, w}, {strides}});
  cases.push_back({"Conv", "", {large, w}, {strides, pads}});
  cases.push_back({"Conv", "", {x, w}, {ints("dilations", {2, 2})}});
  cases.push_back({"Conv", "", {given({1, 64, 8, 8}), w}, {groups}});
  cases.push_back({"Conv", "", {given({1, 32, 8, 8}, kHalf), constant({64, 64, 3, 3}, kHalf)}, {groups}});
  cases.back().inputs[0].shape = {1, 128, 8, 8};
  cases.push_back({"Conv", "", {given({1, 1024, 6, 6}), constant({1024, 1, 4, 4})}, {number("group", 1024)}});
  cases.push_back({"Conv", "", {given({1, 64, 20}), constant({64, 64, 5})}});
  cases.push_back({"Conv", "", {given({1, 16, 4, 5, 6}), constant({48, 16, 3, 3, 3})}});
  cases.push_back({"FusedConv", kMicrosoft, {x, w}, {text("activation", "Relu")}});
  cases.push_back({"Conv", kOwn, {x, w}, {pads}});
  const Attribute each = number("group", 1024), few = number("group", 48);
  cases.push_back({"PointwiseDepthwiseConv", kOwn, {x, constant({1024, 1, 3, 3}), constant({1024, 32, 1, 1})}, {each}});
  cases.push_back({"PointwiseDepthwiseConv",
                   kOwn,
                   {given({2, 32, 90, 90}), constant({48, 1, 5, 5}), constant({48, 32, 1, 1}), none(), constant({48})},
                   {few, strides, pads}});
  cases.push_back({"ConvTranspose", "", {given({1, 64, 8, 8}), w}, {strides}});
  cases.push_back({"ConvTranspose", "", {given({1, 64, 8, 8}), w}});
  cases.push_back({"ConvTranspose", "", {given({1, 64, 8, 8}), w}, {strides, groups}});
  cases.push_back(
      {"ConvTransposeWithDynamicPads", kMicrosoft, {given({1, 64, 8, 8}), w, constant({4}, kInt64, 1, 2)}, {strides}});
  cases.push_back({"WordConvEmbedding",
                   kMicrosoft,
                   {given({2, 12}, kInt32, 0, 50), constant({64, 1, 4, 64}), constant({64}), constant({50, 64})}});
}

void add_byte_convolutions(Cases& cases) {
  const CaseInput w = bytes({256, 32, 3, 3}), x = given_bytes({1, 32, 8, 8});
  const std::vector<CaseInput> quantized{x, scale(), zero(), w, scale(), zero(), scale(), zero()};
  const Attribute strides = ints("strides", {2, 2}), groups = number("group", 2);
  cases.push_back({"ConvInteger", "", {x, w, zero(), zero()}});
  cases.push_back({"ConvInteger", "", {x, w}, {strides}});
  cases.push_back({"ConvInteger", "", {given_bytes({1, 64, 8, 8}), w}, {groups}});
  cases.push_back({"ConvInteger", "", {x, bytes({256, 32, 3, 3}, kInt8)}, {ints("dilations", {2, 2})}});
  cases.push_back({"QLinearConv", "", quantized});
  cases.push_back({"QLinearConv", kMicrosoft, quantized, {strides}});
  cases.push_back({"QLinearConv", "", quantized, {number("group", 2048)}});
  cases.back().inputs[0] = given_bytes({1, 2048, 8, 8});
  cases.back().inputs[3] = bytes({2048, 1, 6, 6});
}

void add_recurrent(Cases& cases) {
  const CaseInput x = given({5, 2, 96}), w = constant({1, 192, 96});
  const Attribute before_reset = number("linear_before_reset", 1);
  const auto hidden = [](int64_t size) { return number("hidden_size", size); };
  cases.push_back({"LSTM", "", {x, w, constant({1, 192, 48})}, {hidden(48)}});
  cases.push_back({"GRU", "", {x, w, constant({1, 192, 64})}, {hidden(64), before_reset}});
  cases.push_back({"GRU", "", {x, w, constant({1, 192, 64})}, {hidden(64)}});
  cases.push_back({"RNN", "", {x, w, constant({1, 192, 192})}, {hidden(192)}});
  cases.push_back({"LSTM", "", {x, w, constant({1, 192, 48})}, {hidden(48), {"clip", 0.5f}}});
  cases.push_back({"GRU",
                   "",
                   {x, constant({2, 192, 96}), constant({2, 192, 64})},
                   {hidden(64), before_reset, text("direction", "bidirectional")}});
  cases.push_back({"LSTM",
                   "",
                   {x, constant({2, 192, 96}), constant({2, 192, 48})},
                   {hidden(48), text("direction", "bidirectional")}});
  cases.push_back(
      {"LSTM", "", {given({5, 2, 96}, kHalf), constant({1, 384, 96}, kHalf), constant({1, 384, 96}, kHalf)}});
  cases.back().attributes = {hidden(96)};
  const CaseInput lone = given({300, 1, 96});
  cases.push_back({"LSTM", "", {lone, constant({1, 384, 96}), constant({1, 384, 96})}, {hidden(96)}});
  cases.push_back({"GRU", "", {lone, constant({2, 192, 96}), constant({2, 192, 64})}, {hidden(64), before_reset}});
  cases.back().attributes.push_back(text("direction", "bidirectional"));
  cases.push_back({"DynamicQuantizeLSTM",
                   kMicrosoft,
                   {x, bytes({1, 96, 768}), bytes({1, 192, 768}), none(), none(), none(), none(), none(), scale({1}),
                    constant({1}, kUInt8, 0, 8), scale({1}), constant({1}, kUInt8, 0, 8)},
                   {hidden(192)}});
}

void add_experts(Cases& cases) {
  const CaseInput x = given({4, 64}), router = given({4, 4});
  cases.push_back(
      {"MoE", kMicrosoft, {x, router, constant({4, 128, 64}), none(), constant({4, 64, 128})}, {number("k", 2)}});
  cases.push_back({"MoE",
                   kMicrosoft,
                   {given({4, 128}), router, constant({4, 128, 64}), none(), constant({4, 64, 128})},
                   {number("k", 1)}});
  cases.push_back(
      {"QMoE",
       kMicrosoft,
       {given({4, 128}), router, bytes({4, 512, 64}), scale({4, 512}), none(), bytes({4, 128, 256}), scale({4, 128})},
       {number("k", 2)}});
}

void add_narrow(Cases& cases) {
  const CaseInput b = bytes({512, 8, 16});
  const auto sizes = [](int64_t n, int64_t k, int64_t block) {
    return std::vector<Attribute>{number("N", n), number("K", k), number("block_size", block)};
  };
  const auto with = [](std::vector<Attribute> attributes, Attribute more) {
    attributes.push_back(std::move(more));
    return attributes;
  };
  const CaseInput scales = scale({512, 8}), x = given({4, 256});
  cases.push_back({"MatMulNBits", kMicrosoft, {x, b, scales}, with(sizes(512, 256, 32), number("bits", 4))});
  cases.push_back(
      {"MatMulNBits", kMicrosoft, {given({4, 128}), b, scales}, with(sizes(512, 128, 16), number("bits", 8))});
  cases.push_back({"MatMulNBits", kMicrosoft, {x, b, scales, bytes({512, 4})}, sizes(512, 256, 32)});
  cases.push_back({"MatMulNBits", kMicrosoft, {x, b, scales, none(), constant({256}, kInt32, 0, 8)}});
  cases.back().attributes = sizes(512, 256, 32);
  cases.push_back({"MatMulNBits", kMicrosoft, {x, b, scales}, with(sizes(512, 256, 32), number("accuracy_level", 4))});
  cases.push_back({"MatMulBnb4", kMicrosoft, {x, bytes({65536}), scale({4096})}});
  cases.back().attributes = with(sizes(512, 256, 32), number("quant_type", 1));
  cases.push_back({"MatMulBnb4", kMicrosoft, {x, bytes({65536}), scale({1366})}});
  cases.back().attributes = with(sizes(512, 256, 96), number("quant_type", 0));
  cases.push_back(
      {"MatMulFpQ4", kMicrosoft, {x, constant({384 * 12 * 21}, kUInt8, 0, 64), constant({2}, kInt64, 384, 385)}});
  cases.back().inputs[0] = given({4, 384});
  cases.push_back({"Gather", "", {constant({512, 64}), given({6}, kInt64, 0, 512)}});
  cases.push_back({"GatherBlockQuantized", kMicrosoft, {bytes({512, 128}), given({6}, kInt64, 0, 512)}});
  cases.back().inputs.push_back(scale({512, 8}));
  cases.back().attributes = {number("block_size", 32), number("bits", 4)};
}

template <class T>
T rounded(double value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(std::floor(value));
  } else {
    return T(static_cast<float>(value));
  }
}

}  // namespace

std::string OperatorCase::label() const {
  std::string result = domain + ":" + op;
  for (const CaseInput& input : inputs) {
    if (input.kind == CaseInput::Kind::kConstant) base::append(result, join(" ", name_of(input.type), input.shape));
  }
  for (const Attribute& attribute : attributes) result += " " + attribute.name;
  return result;
}

const std::vector<OperatorCase>& operator_cases() {
  static const auto& cases = *new Cases([] {
    Cases made;
    for (auto add : {add_products, add_byte_products, add_convolutions, add_byte_convolutions, add_recurrent,
                     add_experts, add_narrow}) {
      add(made);
    }
    return made;
  }());
  return cases;
}

Tensor values_for(const CaseInput& input, uint32_t variant) {
  const std::string name = join(name_of(input.type), input.shape, input.low, input.high);
  uint64_t state =
      std::hash<std::string>()(name) + variant;  // a plain generator: most of the tests' time is spent here
  const double step = (input.high - input.low) * 0x1p-32;
  Tensor tensor(input.type, input.shape);
  dispatch<kNumericTypes>(input.type, [&]<class T>(TypeTag<T>) {
    for (T& value : tensor.mutable_span<T>()) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      value = rounded<T>(input.low + step * static_cast<double>(state >> 32));
    }
  });
  return tensor;
}

}  // namespace ortolan::across
