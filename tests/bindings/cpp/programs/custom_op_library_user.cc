// A program that loads a library of custom operators and runs a model that needs it.
#include <onnxruntime_cxx_api.h>

#include <iostream>
#include <string>
#include <vector>

#include "../small_model.h"

static Ort::Model power_model(int64_t power) {
  Ort::AllocatorWithDefaultOptions allocator;
  const int64_t one = 1;
  auto table = Ort::Value::CreateTensor<float>(allocator, &one, 1);
  table.At<float>({0}) = 0.5f;
  const float factors[] = {2, 3};
  const char complaint[] = "never below zero";
  std::vector<Ort::OpAttr> attributes;
  attributes.emplace_back("power", &power, 1, ORT_OP_ATTR_INT);
  attributes.emplace_back("factors", factors, 2, ORT_OP_ATTR_FLOATS);
  attributes.emplace_back("complaint", complaint, static_cast<int>(sizeof(complaint)) - 1, ORT_OP_ATTR_STRING);
  attributes.emplace_back("table", static_cast<OrtValue*>(table), 1, ORT_OP_ATTR_TENSOR);
  return single_node_model("Power", "test.power", {{"x"}, {""}}, {{"y"}}, std::move(attributes));
}

static std::string error_of(const Ort::Env& env, int64_t power, const Ort::SessionOptions& options) {
  try {
    Ort::Session session(env, power_model(power), options);
  } catch (const Ort::Exception& e) {
    return e.what();
  }
  return "none";
}

int main(int argc, char* argv[]) {
  if (argc != 2) return 2;
  Ort::Env env;
  Ort::SessionOptions options;
  Ort::CustomOpConfigs configs;
  configs.AddConfig("Power", "style", "plain");
  options.RegisterCustomOpsLibrary(argv[1], configs);
  if (options.GetConfigEntry("custom_op.Power.style") != "plain") return 3;

  Ort::Session session(env, power_model(2), options);
  std::vector<float> numbers(1000, 1.5f);
  const int64_t length = 1000;
  const char *inputs[] = {"x"}, *outputs[] = {"y"};
  const auto x = Ort::Value::CreateTensor<float>(Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault),
                                                 numbers.data(), numbers.size(), &length, 1);
  auto results = session.Run(Ort::RunOptions{}, inputs, &x, 1, outputs, 1);
  for (int64_t i : {0, 500, 999}) {
    if (results[0].At<float>({i}) != 54.5f) return 4;
  }

  bool right = error_of(env, -1, options).find("never below zero") != std::string::npos;
  right &= error_of(env, 101, options).find("too high") != std::string::npos;
  std::cout << error_of(env, -1, options) << "\n" << error_of(env, 101, options) << std::endl;
  try {
    Ort::CustomOpConfigs others;
    others.AddConfig("Power", "style", "forbidden");
    Ort::SessionOptions().RegisterCustomOpsLibrary(argv[1], others);
    right = false;
  } catch (const Ort::Exception& e) {
    std::cout << e.what() << std::endl;
    right &= std::string(e.what()).find("forbidden") != std::string::npos && e.GetOrtErrorCode() == ORT_EP_FAIL;
  }
  return right ? 0 : 1;
}
