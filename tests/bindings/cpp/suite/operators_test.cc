// Custom operators by CustomOpBase: what kernels see, standard operators called from them, errors, many inputs.
#include <algorithm>
#include <numeric>

#include "../small_model.h"
#include "support.h"

namespace {

void require(bool right, const char* what) {
  if (!right) ORT_CXX_API_THROW(std::string("not as expected: ") + what, ORT_EP_FAIL);
}

// Doubles its input by the standard Add, and looks at whatever a kernel can see on its way.
struct DoublingKernel {
  explicit DoublingKernel(const OrtKernelInfo* raw) {
    const Ort::ConstKernelInfo info(raw);
    require(info.GetInputCount() == 1 && info.GetOutputCount() == 1, "counts");
    require(info.GetInputName(0) == "x" && info.GetOutputName(0) == "y", "names");
    require(info.GetInputTypeInfo(0).GetONNXType() == ONNX_TYPE_TENSOR, "input type");
    require(info.GetOutputTypeInfo(0).GetONNXType() == ONNX_TYPE_TENSOR, "output type");
    require(info.GetNodeName() == "node" && info.GetOperatorType() == "Doubling", "node");
    require(info.GetOperatorDomain() == "suite" && info.GetOperatorSinceVersion() == 1, "operator");
    require(info.GetConfigEntries().GetKeyValuePairs().count("suite.entry") == 1, "entries");
    int is_constant = 1;
    require(info.GetTensorConstantInput(0, &is_constant) == nullptr && is_constant == 0, "constant input");
    require(info.GetAttributes<std::string>("words") == std::vector<std::string>{"one", "two"}, "words");
    Ort::Allocator allocator = info.GetAllocator(OrtMemTypeDefault);
    allocator.GetAllocation(64);

    const char* constraint = "T";
    const ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
    add_ = Ort::Op::Create(raw, "Add", "", 14, &constraint, &type, 1, nullptr, 0, 2, 1);
    const int64_t axis = 0;
    const Ort::OpAttr axis_attribute("axis", &axis, 1, ORT_OP_ATTR_INT);
    concat_ = Ort::Op::Create(raw, "Concat", "", 13, &constraint, &type, 1, &axis_attribute, 1, 2, 1);
  }

  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    require(context.GetInputCount() == 1 && context.GetOutputCount() == 1, "counts of a computation");
    require(context.GetOrtKernelContext() == raw, "context");
    require(context.GetGPUComputeStream() == nullptr && context.GetSyncStream() == nullptr, "streams");
    require(context.GetPreallocatedOutput(0) == nullptr, "output that is there");
    const Ort::ConstValue x = context.GetInput(0);
    const std::vector<int64_t> shape = x.GetTensorTypeAndShapeInfo().GetShape();
    if (x.At<float>({0}) < 0) ORT_CXX_API_THROW("a kernel does not like it", ORT_INVALID_ARGUMENT);
    const auto memory = cpu_memory();
    auto* scratch = static_cast<float*>(context.GetScratchBuffer(*memory, sizeof(float)));
    *scratch = 1;
    const Ort::Allocator allocator(context.GetAllocator(*memory));

    const Ort::UnownedValue y = context.GetOutput(0, shape.data(), shape.size());
    const OrtValue* inputs[] = {x, x};
    OrtValue* outputs[] = {y};
    add_.Invoke(raw, inputs, 2, outputs, 1);

    // The same with values of the kernel's own.
    std::vector<Ort::Value> pairs;
    pairs.push_back(Ort::Value::CreateTensor<float>(allocator, shape.data(), shape.size()));
    pairs.push_back(Ort::Value::CreateTensor<float>(allocator, shape.data(), shape.size()));
    for (Ort::Value& pair : pairs) std::fill_n(pair.GetTensorMutableData<float>(), shape[0], 3.0f);
    const int64_t twice = 2 * shape[0];
    Ort::Value joined = Ort::Value::CreateTensor<float>(allocator, &twice, 1);
    concat_.Invoke(raw, pairs.data(), 2, &joined, 1);
    require(joined.At<float>({twice - 1}) == 3, "joined");
  }

 private:
  Ort::Op add_{nullptr}, concat_{nullptr};
};

struct DoublingOp : Ort::CustomOpBase<DoublingOp, DoublingKernel> {
  void* CreateKernel(const OrtApi&, const OrtKernelInfo* info) const { return new DoublingKernel(info); }
  const char* GetName() const { return "Doubling"; }
  size_t GetInputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
};

// Sums of any number of inputs: one output for each.
struct SumsKernel {
  void Compute(OrtKernelContext* raw) {
    const Ort::KernelContext context(raw);
    for (size_t i = 0; i < context.GetInputCount(); ++i) {
      const Ort::ConstValue x = context.GetInput(i);
      const float* data = x.GetTensorData<float>();
      auto y = context.GetOutput(i, std::vector<int64_t>{1});
      *y.GetTensorMutableData<float>() =
          std::accumulate(data, data + x.GetTensorTypeAndShapeInfo().GetElementCount(), 0.0f);
    }
  }
};

struct SumsOp : Ort::CustomOpBase<SumsOp, SumsKernel> {
  void* CreateKernel(const OrtApi&, const OrtKernelInfo*) const { return new SumsKernel; }
  const char* GetName() const { return "Sums"; }
  size_t GetInputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(size_t) const { return INPUT_OUTPUT_VARIADIC; }
  int GetVariadicInputMinArity() const { return 2; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  OrtCustomOpInputOutputCharacteristic GetOutputCharacteristic(size_t) const { return INPUT_OUTPUT_VARIADIC; }
  bool GetVariadicOutputHomogeneity() const { return false; }
};

struct Operators : testing::Test {
  DoublingOp doubling;
  SumsOp sums;
  Ort::CustomOpDomain domain{"suite"};
  Ort::SessionOptions options;

  Operators() {
    domain.Add(&doubling);
    domain.Add(&sums);
    options.Add(domain).AddConfigEntry("suite.entry", "1");
  }
};

TEST_F(Operators, SeeTheirNodeAndCallOthers) {
  const char* words[] = {"one", "two"};
  std::vector<Ort::OpAttr> attributes;
  attributes.emplace_back("words", words, 2, ORT_OP_ATTR_STRINGS);
  Ort::Session session(test_env(), single_node_model("Doubling", "suite", {{"x"}}, {{"y"}}, std::move(attributes)),
                       options);
  std::vector<float> data{1, 2, 3};
  const auto x = tensor_over(data);
  const char *inputs[] = {"x"}, *outputs[] = {"y"};
  EXPECT_EQ(elements<float>(session.Run(Ort::RunOptions{}, inputs, &x, 1, outputs, 1)[0]),
            (std::vector<float>{2, 4, 6}));
  data[0] = -1;
  expect_error(ORT_RUNTIME_EXCEPTION, "does not like it",
               [&] { session.Run(Ort::RunOptions{}, inputs, &x, 1, outputs, 1); });
}

TEST_F(Operators, FailInTheirConstructors) {
  expect_error(ORT_RUNTIME_EXCEPTION, "not as expected: names", [&] {
    Ort::Session(test_env(), single_node_model("Doubling", "suite", {{"other"}}, {{"y"}}), options);
  });
}

TEST_F(Operators, TakeAndGiveAnyNumber) {
  Ort::Session session(test_env(), single_node_model("Sums", "suite", {{"a"}, {"b"}, {"c"}}, {{"p"}, {"q"}, {"r"}}),
                       options);
  std::vector<float> a{1, 2}, b{3}, c{4, 5, 6};
  std::vector<Ort::Value> values;
  for (auto* data : {&a, &b, &c}) values.push_back(tensor_over(*data));
  const char *inputs[] = {"a", "b", "c"}, *outputs[] = {"r", "p", "q"};
  const auto results = session.Run(Ort::RunOptions{}, inputs, values.data(), 3, outputs, 3);
  EXPECT_EQ(results[0].At<float>({0}), 15);
  EXPECT_EQ(results[1].At<float>({0}), 3);
  EXPECT_EQ(results[2].At<float>({0}), 3);
  expect_error(ORT_INVALID_GRAPH, "has 1 inputs, but 'Sums' of opset 1 takes 2 or more",
               [&] { Ort::Session(test_env(), single_node_model("Sums", "suite", {{"a"}}, {{"p"}}), options); });
}

TEST(SymbolicIntegers, AreNumbersOrNames) {
  using Dim = Ort::ShapeInferContext::SymbolicInteger;
  const Dim three(3), n("n"), also_n("n");
  EXPECT_TRUE(three.IsInt() && three.AsInt() == 3 && three == Dim(3) && !(three == n));
  EXPECT_TRUE(!n.IsInt() && n == also_n && std::string(n.AsSym()) == "n");
}

}  // namespace
