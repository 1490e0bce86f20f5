// What the tests of the suite share: the environment, the models, tensors over vectors.
#pragma once

#include <gtest/gtest.h>
#include <onnxruntime_cxx_api.h>

#include <cstdlib>
#include <string>
#include <vector>

/** The path of a model that tests/bindings/make_models.py writes. */
inline std::string model_path(const std::string& name) {
  const char* folder = std::getenv("ORTOLAN_TEST_MODELS");
  return std::string(folder == nullptr ? "." : folder) + "/" + name + ".onnx";
}

inline std::string digits_path() {
  const char* folder = std::getenv("ORTOLAN_TEST_DIGITS");
  return std::string(folder == nullptr ? "." : folder) + "/digits.onnx";
}

inline std::string plugin_path(const std::string& library) {
  const char* folder = std::getenv("ORTOLAN_TEST_PLUGINS");
  return std::string(folder == nullptr ? "." : folder) + "/" + library;
}

/** The environment of all tests. */
inline Ort::Env& test_env() {
  static Ort::Env env(ORT_LOGGING_LEVEL_ERROR, "suite");
  return env;
}

inline Ort::Session open(const std::string& model, const Ort::SessionOptions& options = Ort::SessionOptions()) {
  return Ort::Session(test_env(), model_path(model).c_str(), options);
}

inline Ort::MemoryInfo cpu_memory() { return Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault); }

/** A tensor over the vector, of rank 1 unless a shape is given. */
template <typename T>
Ort::Value tensor_over(std::vector<T>& data, std::vector<int64_t> shape = {}) {
  if (shape.empty()) shape = {static_cast<int64_t>(data.size())};
  return Ort::Value::CreateTensor<T>(cpu_memory(), data.data(), data.size(), shape.data(), shape.size());
}

template <typename T>
std::vector<T> elements(const Ort::Value& value) {
  const T* data = value.GetTensorData<T>();
  return std::vector<T>(data, data + value.GetTensorTypeAndShapeInfo().GetElementCount());
}

/** A status of that code whose text contains `part`, which tells this error from others. */
inline testing::AssertionResult refused(const Ort::Status& status, OrtErrorCode code, const std::string& part) {
  const std::string text = status.GetErrorMessage();
  if (status.GetErrorCode() == code && !part.empty() && text.find(part) != std::string::npos) {
    return testing::AssertionSuccess();
  }
  return testing::AssertionFailure() << "code " << status.GetErrorCode() << ", text '" << text << "'";
}

/** Expects an Ort::Exception with the code and a text that contains `part`, which tells this error from others. */
template <typename Action>
void expect_error(OrtErrorCode code, const std::string& part, Action action) {
  try {
    action();
    ADD_FAILURE() << "no exception";
  } catch (const Ort::Exception& error) {
    EXPECT_TRUE(refused(Ort::Status(error), code, part));
  }
}
