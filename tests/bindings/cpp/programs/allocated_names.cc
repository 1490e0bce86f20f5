// A class around a session that asks the model for names and shapes, in the style of programs since 1.13.
#include <onnxruntime_cxx_api.h>

#include <iostream>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

class Classifier {
 public:
  explicit Classifier(const std::string& modelFilepath) {
    mEnv = std::make_shared<Ort::Env>(OrtLoggingLevel::ORT_LOGGING_LEVEL_WARNING, "Classifier");
    Ort::SessionOptions sessionOptions;
    sessionOptions.SetIntraOpNumThreads(1).SetInterOpNumThreads(1);
    sessionOptions.SetExecutionMode(ExecutionMode::ORT_SEQUENTIAL);
    sessionOptions.AddConfigEntry("session.intra_op.allow_spinning", "0");
    mSession = std::make_unique<Ort::Session>(*mEnv, modelFilepath.c_str(), sessionOptions);

    Ort::AllocatorWithDefaultOptions allocator;
    for (size_t i = 0; i < mSession->GetInputCount(); i++) {
      auto name = mSession->GetInputNameAllocated(i, allocator);
      mInputNodeNameAllocatedStrings.push_back(std::move(name));
      mInputNames.push_back(mInputNodeNameAllocatedStrings.back().get());
      Ort::TypeInfo inputTypeInfo = mSession->GetInputTypeInfo(i);
      auto inputTensorInfo = inputTypeInfo.GetTensorTypeAndShapeInfo();
      mInputType = inputTensorInfo.GetElementType();
      mInputDims = inputTensorInfo.GetShape();
    }
    for (size_t i = 0; i < mSession->GetOutputCount(); i++) {
      mOutputNodeNameAllocatedStrings.push_back(mSession->GetOutputNameAllocated(i, allocator));
      mOutputNames.push_back(mOutputNodeNameAllocatedStrings.back().get());
      mOutputDims = mSession->GetOutputTypeInfo(i).GetTensorTypeAndShapeInfo().GetShape();
    }
  }

  std::string describe() const {
    std::ostringstream text;
    text << mInputNames.at(0) << mInputDims.size() << " type " << mInputType << " to " << mOutputNames.at(0);
    for (auto dim : mOutputDims) text << ' ' << dim;
    return text.str();
  }

  std::vector<float> predict() {
    for (auto& dim : mInputDims) dim = dim < 0 ? 1 : dim;
    for (auto& dim : mOutputDims) dim = dim < 0 ? 1 : dim;
    std::vector<float> input(product(mInputDims), 0.5f), output(product(mOutputDims));
    Ort::MemoryInfo memoryInfo("Cpu", OrtArenaAllocator, 0, OrtMemTypeDefault);
    std::vector<Ort::Value> inputTensors;
    std::vector<Ort::Value> outputTensors;
    inputTensors.push_back(
        Ort::Value::CreateTensor<float>(memoryInfo, input.data(), input.size(), mInputDims.data(), mInputDims.size()));
    outputTensors.push_back(Ort::Value::CreateTensor<float>(memoryInfo, output.data(), output.size(),
                                                            mOutputDims.data(), mOutputDims.size()));
    mSession->Run(Ort::RunOptions{nullptr}, mInputNames.data(), inputTensors.data(), 1, mOutputNames.data(),
                  outputTensors.data(), 1);
    return output;
  }

 private:
  static size_t product(const std::vector<int64_t>& dims) {
    return static_cast<size_t>(std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<int64_t>()));
  }

  std::shared_ptr<Ort::Env> mEnv;
  std::unique_ptr<Ort::Session> mSession;
  std::vector<Ort::AllocatedStringPtr> mInputNodeNameAllocatedStrings, mOutputNodeNameAllocatedStrings;
  std::vector<const char*> mInputNames, mOutputNames;
  std::vector<int64_t> mInputDims, mOutputDims;
  ONNXTensorElementDataType mInputType;
};

int main(int argc, char* argv[]) {
  if (argc != 2) return 2;
  Classifier classifier(argv[1]);
  std::cout << classifier.describe() << std::endl;
  const auto probabilities = classifier.predict();
  const float total = std::accumulate(probabilities.begin(), probabilities.end(), 0.0f);
  std::cout << "sum of " << probabilities.size() << " is one: " << std::boolalpha << (std::abs(total - 1) < 1e-5f)
            << std::endl;
  return 0;
}
