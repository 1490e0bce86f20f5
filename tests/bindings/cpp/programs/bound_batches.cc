// A loop over batches of growing size with bound inputs and outputs, and members that are empty before load().
#include <onnxruntime_cxx_api.h>

#include <cstdio>
#include <string>
#include <vector>

namespace {

struct Engine {
  Ort::Env env{nullptr};
  Ort::Session session{nullptr};
  Ort::IoBinding binding{nullptr};
  Ort::MemoryInfo memory{nullptr};
  Ort::RunOptions run_options{nullptr};
  std::vector<std::string> input_names, output_names;

  void load(const char* path) {
    env = Ort::Env(ORT_LOGGING_LEVEL_ERROR, "engine");
    Ort::SessionOptions options;
    options.DisableMemPattern();
    options.EnableCpuMemArena();
    session = Ort::Session(env, path, options);
    binding = Ort::IoBinding(session);
    memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeCPU);
    run_options = Ort::RunOptions();
    run_options.SetRunTag("batches").SetRunLogSeverityLevel(2);
    input_names = session.GetInputNames();
    output_names = session.GetOutputNames();
  }

  std::vector<float> run(std::vector<float>& pictures) {
    const std::vector<int64_t> shape{static_cast<int64_t>(pictures.size() / 64), 1, 8, 8};
    auto input = Ort::Value::CreateTensor(memory, pictures.data(), pictures.size() * sizeof(float), shape.data(),
                                          shape.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
    binding.BindInput(input_names[0].c_str(), input);
    binding.BindOutput(output_names[0].c_str(), memory);
    binding.SynchronizeInputs();
    session.Run(run_options, binding);
    binding.SynchronizeOutputs();
    const std::vector<Ort::Value> values = binding.GetOutputValues();
    const auto info = values.at(0).GetTensorTypeAndShapeInfo();
    const float* data = values[0].GetTensorData<float>();
    std::vector<float> results(data, data + info.GetElementCount());
    binding.ClearBoundInputs();
    binding.ClearBoundOutputs();
    return results;
  }
};

}  // namespace

int main(int argc, char* argv[]) {
  if (argc != 2) return 2;
  Engine engine;
  engine.load(argv[1]);
  size_t pictures = 0;
  for (size_t batch = 1; batch <= 16; batch *= 2) {
    std::vector<float> data(batch * 64, 0.25f);
    const std::vector<float> results = engine.run(data);
    if (results.size() != batch * 10) return 3;
    for (size_t i = 10; i < results.size(); ++i) {
      if (std::abs(results[i] - results[i - 10]) > 1e-6f) return 4;
    }
    pictures += batch;
  }
  std::printf("%zu pictures\n", pictures);
  return 0;
}
