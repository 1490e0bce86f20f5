// Log lines go to a function of the program, and an operator of the program writes some.
#include <onnxruntime_cxx_api.h>

#include <iostream>
#include <mutex>
#include <string>
#include <vector>

struct Journal {
  std::mutex mutex;
  std::vector<std::string> lines;

  static void ORT_API_CALL Write(void* param, OrtLoggingLevel severity, const char* category, const char* logid,
                                 const char* code_location, const char* message) {
    auto& journal = *static_cast<Journal*>(param);
    std::lock_guard<std::mutex> lock(journal.mutex);
    journal.lines.push_back(std::to_string(severity) + " " + category + " " + logid + " " + code_location + " " +
                            message);
  }

  size_t Count(const std::string& text) {
    std::lock_guard<std::mutex> lock(mutex);
    size_t count = 0;
    for (const auto& line : lines) count += line.find(text) != std::string::npos;
    return count;
  }
};

struct ChattyKernel {
  ChattyKernel(const OrtKernelInfo* info) : logger(Ort::ConstKernelInfo{info}.GetLogger()) {
    ORT_CXX_LOG(logger, ORT_LOGGING_LEVEL_WARNING, "a kernel is made");
    ORT_CXX_LOGF(logger, ORT_LOGGING_LEVEL_WARNING, "%s has %d inputs",
                 Ort::ConstKernelInfo{info}.GetNodeName().c_str(), 1);
    ORT_CXX_LOG_NOEXCEPT(logger, ORT_LOGGING_LEVEL_VERBOSE, "nobody hears this");
  }

  void Compute(OrtKernelContext* context) {
    Ort::KernelContext ctx(context);
    auto input = ctx.GetInput(0);
    auto output = ctx.GetOutput(0, input.GetTensorTypeAndShapeInfo().GetShape());
    *output.GetTensorMutableData<float>() = *input.GetTensorData<float>() * 2;
    auto run_logger = ctx.GetLogger();
    ORT_CXX_LOGF_NOEXCEPT(run_logger, ORT_LOGGING_LEVEL_ERROR, "computed %.1f", 2.5);
    ORT_CXX_LOGF(run_logger, ORT_LOGGING_LEVEL_ERROR, "100% plain");
  }

  Ort::Logger logger;
};

struct ChattyOp : Ort::CustomOpBase<ChattyOp, ChattyKernel> {
  void* CreateKernel(const OrtApi&, const OrtKernelInfo* info) const { return new ChattyKernel(info); }
  const char* GetName() const { return "Chatty"; }
  size_t GetInputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
};

static Ort::Model chatty_model() {
  Ort::TensorTypeAndShapeInfo shape(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {1});
  const auto type = Ort::TypeInfo::CreateTensorInfo(shape.GetConst());
  std::vector<Ort::ValueInfo> inputs, outputs;
  inputs.emplace_back("x", type.GetConst());
  outputs.emplace_back("y", type.GetConst());
  Ort::Graph graph;
  graph.SetInputs(inputs);
  graph.SetOutputs(outputs);
  Ort::Node node("Chatty", "test.chatty", "chatterbox", {"x"}, {"y"});
  graph.AddNode(node);
  Ort::Model model(std::vector<Ort::Model::DomainOpsetPair>{{"", 17}, {"test.chatty", 1}});
  model.AddGraph(graph);
  return model;
}

int main() {
  Journal journal;
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "journal", Journal::Write, &journal);
  ChattyOp op;
  Ort::CustomOpDomain domain("test.chatty");
  domain.Add(&op);
  Ort::SessionOptions options;
  options.Add(domain);
  Ort::Session session(env, chatty_model(), options);
  float number = 21;
  const int64_t one = 1;
  const char *inputs[] = {"x"}, *outputs[] = {"y"};
  const auto x = Ort::Value::CreateTensor<float>(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault),
                                                 &number, 1, &one, 1);
  const auto y = session.Run(Ort::RunOptions(), inputs, &x, 1, outputs, 1);
  if (y[0].At<float>({0}) != 42) return 3;
  for (const auto& line : journal.lines) std::cout << line << std::endl;
  const bool right = journal.Count("a kernel is made") > 0 && journal.Count("chatterbox has 1 inputs") > 0 &&
                     journal.Count("computed 2.5") == 1 && journal.Count("100% plain") == 1 &&
                     journal.Count("nobody") == 0 && journal.Count("custom_logger.cc") >= 4;
  return right ? 0 : 1;
}
