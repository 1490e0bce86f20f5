// What goes wrong arrives as exceptions with codes.
#include <onnxruntime_cxx_api.h>

#include <functional>
#include <iostream>
#include <string>

static bool fails_with(OrtErrorCode code, const std::string& words, const std::function<void()>& action) {
  try {
    action();
  } catch (const Ort::Exception& e) {
    std::cout << e.GetOrtErrorCode() << ": " << e.what() << std::endl;
    return e.GetOrtErrorCode() == code && std::string(e.what()).find(words) != std::string::npos;
  } catch (const std::exception& e) {
    std::cerr << "another exception: " << e.what() << std::endl;
    return false;
  }
  std::cerr << "no exception" << std::endl;
  return false;
}

int main(int argc, char* argv[]) {
  if (argc != 2) return 2;
  const std::string models = argv[1];
  Ort::Env env;
  Ort::SessionOptions options;
  bool right =
      fails_with(ORT_NO_SUCHFILE, "none.onnx", [&] { Ort::Session(env, (models + "/none.onnx").c_str(), options); });
  right &= fails_with(ORT_INVALID_PROTOBUF, "broken.onnx",
                      [&] { Ort::Session(env, (models + "/broken.onnx").c_str(), options); });

  Ort::Session session(env, (models + "/failing.onnx").c_str(), options);
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  int64_t index = 7, length = 1;
  float number = 1;
  const char *inputs[] = {"index"}, *outputs[] = {"y"}, *wrong[] = {"z"};
  auto value = Ort::Value::CreateTensor(memory, &index, 1, &length, 1);
  auto another = Ort::Value::CreateTensor(memory, &number, 1, &length, 1);
  right &= fails_with(ORT_INVALID_ARGUMENT, "index 7",
                      [&] { session.Run(Ort::RunOptions(), inputs, &value, 1, outputs, 1); });
  right &= fails_with(ORT_INVALID_ARGUMENT, "no output 'z'",
                      [&] { session.Run(Ort::RunOptions(), inputs, &value, 1, wrong, 1); });
  right &= fails_with(ORT_INVALID_ARGUMENT, "input 'index' is tensor(int64)",
                      [&] { session.Run(Ort::RunOptions(), inputs, &another, 1, outputs, 1); });
  right &= fails_with(ORT_INVALID_ARGUMENT, "tensor holds int64, not string", [&] { value.GetStringTensorElement(0); });
  index = 1;  // the same session works afterwards
  return right && session.Run(Ort::RunOptions(), inputs, &value, 1, outputs, 1)[0].At<float>({0}) == 2 ? 0 : 1;
}
