// Custom operators of plain functions and of a small class.
#include <onnxruntime_cxx_api.h>
#include <onnxruntime_lite_custom_op.h>
#include <optional>

#include <cmath>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "../small_model.h"

using Ort::Custom::Span;
using Ort::Custom::Tensor;
using Ort::Custom::TensorArray;

void Add(const Tensor<float>& X, const Tensor<float>& Y, Tensor<float>& Z) {
  auto input_shape = X.Shape();
  auto x_raw = X.Data();
  auto y_raw = Y.Data();
  auto z_raw = Z.Allocate(input_shape);
  for (int64_t i = 0; i < Z.NumberOfElement(); ++i) z_raw[i] = x_raw[i] + y_raw[i];
}

Ort::Status Round(const Span<float>& X, Tensor<int32_t>* Z) {
  if (X.size() == 0) return Ort::Status("there is nothing to round", ORT_INVALID_ARGUMENT);
  int32_t* out = Z->Allocate({static_cast<int64_t>(X.size())});
  for (float x : X) *out++ = static_cast<int32_t>(std::lround(x));
  return Ort::Status{nullptr};
}

void Clamp(OrtKernelContext* context, const Tensor<double>* values, std::optional<double> low,
           std::optional<const Tensor<double>*> high, Tensor<double>& result) {
  if (Ort::KernelContext{context}.GetInputCount() == 0) throw std::logic_error("no inputs");
  double* out = result.Allocate(values->Shape());
  for (double value : values->AsSpan()) {
    if (low.has_value()) value = std::max(value, *low);
    if (high.has_value()) value = std::min(value, (*high)->AsScalar());
    *out++ = value;
  }
}

void Join(const TensorArray& parts, Tensor<std::string>& joined) {
  std::string text;
  for (size_t i = 0; i < parts.Size(); ++i) {
    const auto& part = static_cast<const Tensor<std::string>&>(*parts[i]);
    for (const std::string& word : part.Data()) text += word + "|";
  }
  joined.SetStringOutput(std::vector<std::string>{text}, {1});
}

struct Scale {
  Scale(const OrtApi*, const OrtKernelInfo* info) : factor(Ort::ConstKernelInfo{info}.GetAttribute<float>("factor")) {
    if (factor == 0) ORT_CXX_API_THROW("a factor of 0 is useless", ORT_INVALID_ARGUMENT);
  }
  void Compute(const Tensor<float>& x, Tensor<float>& y) const {
    float* out = y.Allocate(x.Shape());
    for (float value : x.AsSpan()) *out++ = value * factor;
  }
  static Ort::Status InferOutputShape(Ort::ShapeInferContext& context) {
    return context.SetOutputShape(0, context.GetInputShape(0));
  }
  float factor;
};

using LiteOp = std::unique_ptr<Ort::Custom::OrtLiteCustomOp>;

static bool check(bool right, const char* what) {
  std::cout << what << (right ? ": right" : ": WRONG") << std::endl;
  return right;
}

struct Bench {
  Ort::Env env;
  Ort::CustomOpDomain domain{"lite"};
  Ort::SessionOptions options;
  Ort::MemoryInfo memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);

  explicit Bench(const std::vector<LiteOp>& ops) {
    for (const auto& op : ops) domain.Add(op.get());
    options.Add(domain);
  }

  template <typename T>
  Ort::Value tensor(std::vector<T>& data) {
    const auto size = static_cast<int64_t>(data.size());
    return Ort::Value::CreateTensor<T>(memory, data.data(), data.size(), &size, 1);
  }

  Ort::Value strings(const std::vector<const char*>& words) {
    Ort::AllocatorWithDefaultOptions allocator;
    const auto size = static_cast<int64_t>(words.size());
    auto value = Ort::Value::CreateTensor(allocator, &size, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
    value.FillStringTensor(words.data(), words.size());
    return value;
  }

  Ort::Value run(const Ort::Model& model, const std::vector<const char*>& names, std::vector<Ort::Value> values) {
    Ort::Session session(env, model, options);
    const char* output = "out";
    return std::move(session.Run(Ort::RunOptions{}, names.data(), values.data(), values.size(), &output, 1)[0]);
  }
};

template <typename... Values>
std::vector<Ort::Value> list(Values&&... values) {
  std::vector<Ort::Value> out;
  (out.push_back(std::forward<Values>(values)), ...);
  return out;
}

int main() {
  std::vector<LiteOp> ops;
  ops.emplace_back(Ort::Custom::CreateLiteCustomOp("Add", "CPUExecutionProvider", Add));
  ops.emplace_back(Ort::Custom::CreateLiteCustomOp("Round", "CPUExecutionProvider", Round));
  ops.emplace_back(Ort::Custom::CreateLiteCustomOp("Clamp", "CPUExecutionProvider", Clamp));
  ops.emplace_back(Ort::Custom::CreateLiteCustomOp("Join", nullptr, Join));
  ops.emplace_back(Ort::Custom::CreateLiteCustomOp<Scale>("Scale", "CPUExecutionProvider"));
  Bench bench(ops);
  constexpr auto F64 = ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE;
  constexpr auto TEXT = ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING;
  constexpr auto I32 = ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32;

  std::vector<float> x{1, 2.6f, -3}, y{10, 20, 30}, none;
  auto sum = bench.run(single_node_model("Add", "lite", {{"x"}, {"y"}}, {{"out"}}), {"x", "y"},
                       list(bench.tensor(x), bench.tensor(y)));
  bool right = check(sum.At<float>({1}) == 22.6f && sum.At<float>({2}) == 27, "add");

  const auto round = single_node_model("Round", "lite", {{"x"}}, {{"out", I32}});
  right &= check(bench.run(round, {"x"}, list(bench.tensor(x))).At<int32_t>({1}) == 3, "round");
  bool caught = false;
  try {
    bench.run(round, {"x"}, list(bench.tensor(none)));
  } catch (const Ort::Exception& e) {
    caught = std::string(e.what()).find("nothing to round") != std::string::npos;
  }
  right &= check(caught, "status of a function");

  std::vector<double> values{-5, 0.5, 5}, low{-1}, high{2};
  auto both = bench.run(single_node_model("Clamp", "lite", {{"v", F64}, {"l", F64}, {"h", F64}}, {{"out", F64}}),
                        {"v", "l", "h"}, list(bench.tensor(values), bench.tensor(low), bench.tensor(high)));
  right &= check(both.At<double>({0}) == -1 && both.At<double>({2}) == 2, "both limits");
  auto upper = bench.run(single_node_model("Clamp", "lite", {{"v", F64}, {"", F64}, {"h", F64}}, {{"out", F64}}),
                         {"v", "h"}, list(bench.tensor(values), bench.tensor(high)));
  right &= check(upper.At<double>({0}) == -5 && upper.At<double>({2}) == 2, "upper limit");

  auto joined = bench.run(single_node_model("Join", "lite", {{"a", TEXT}, {"b", TEXT}}, {{"out", TEXT}}), {"a", "b"},
                          list(bench.strings({"ein", "zwei"}), bench.strings({"", "drei"})));
  right &= check(joined.GetStringTensorElement(0) == "ein|zwei||drei|", "strings");

  auto scale_model = [](float factor) {
    std::vector<Ort::OpAttr> attributes;
    attributes.emplace_back("factor", &factor, 1, ORT_OP_ATTR_FLOAT);
    return single_node_model("Scale", "lite", {{"x"}}, {{"out"}}, std::move(attributes));
  };
  right &= check(bench.run(scale_model(2), {"x"}, list(bench.tensor(x))).At<float>({2}) == -6, "class");
  caught = false;
  try {
    bench.run(scale_model(0), {"x"}, list(bench.tensor(x)));
  } catch (const Ort::Exception& e) {
    caught = std::string(e.what()).find("useless") != std::string::npos;
  }
  right &= check(caught, "exception of a constructor");
  return right ? 0 : 1;
}
