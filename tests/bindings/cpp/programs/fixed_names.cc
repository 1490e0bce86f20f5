// Classification as most programs do it: names of inputs and outputs are known, the tensor stands over a vector.
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <cstdio>
#include <vector>

int main(int argc, char* argv[]) {
  if (argc < 2) return 2;
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "test");
  Ort::SessionOptions session_options;
  session_options.SetIntraOpNumThreads(1);
  session_options.SetGraphOptimizationLevel(GraphOptimizationLevel::ORT_ENABLE_EXTENDED);
  Ort::Session session{env, argv[1], session_options};

  std::vector<int64_t> input_dims = {1, 1, 8, 8};
  size_t input_tensor_size = 8 * 8;
  std::vector<float> input_tensor_values(input_tensor_size);
  for (unsigned int i = 0; i < input_tensor_size; i++) input_tensor_values[i] = (float)i / (input_tensor_size + 1);

  auto memory_info = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  Ort::Value input_tensor = Ort::Value::CreateTensor<float>(memory_info, input_tensor_values.data(), input_tensor_size,
                                                            input_dims.data(), input_dims.size());
  if (!input_tensor.IsTensor()) return 3;

  std::vector<const char*> input_node_names = {"image"};
  std::vector<const char*> output_node_names = {"probabilities"};
  auto output_tensors = session.Run(Ort::RunOptions{nullptr}, input_node_names.data(), &input_tensor, 1,
                                    output_node_names.data(), output_node_names.size());
  if (output_tensors.size() != 1 || !output_tensors.front().IsTensor()) return 4;

  float* floatarr = output_tensors.front().GetTensorMutableData<float>();
  float total = 0;
  for (int i = 0; i < 10; i++) total += floatarr[i];
  if (std::abs(total - 1.0f) > 1e-5f) return 5;
  std::printf("best class %d\n", (int)(std::max_element(floatarr, floatarr + 10) - floatarr));
  return 0;
}
