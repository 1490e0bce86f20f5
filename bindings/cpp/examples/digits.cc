// Says which digit each picture shows: digits MODEL.onnx PICTURE.pgm...
#include <onnxruntime_cxx_api.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iostream>
#include <limits>
#include <string>

// Reads a picture of 8x8 pixels in the PGM text format as ink from 0 to 1.
static std::array<float, 64> read_picture(const std::string& path) {
  std::ifstream file(path);
  auto next = [&file] {
    std::string word;
    while (file >> word && word[0] == '#') file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    return word;
  };
  if (next() != "P2" || next() != "8" || next() != "8") throw std::runtime_error(path + ": is no PGM picture of 8x8");
  const float full = std::stof(next());
  std::array<float, 64> ink{};
  for (float& pixel : ink) pixel = std::stof(next()) / full;
  return ink;
}

int main(int argc, char* argv[]) try {
  if (argc < 3) throw std::runtime_error("usage: digits MODEL.onnx PICTURE.pgm...");
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "digits");
  Ort::Session session(env, argv[1], Ort::SessionOptions{});
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtArenaAllocator, OrtMemTypeDefault);
  const char* const inputs[] = {"image"};
  const char* const outputs[] = {"probabilities"};
  const std::array<int64_t, 4> shape{1, 1, 8, 8};

  for (int i = 2; i < argc; ++i) {
    auto ink = read_picture(argv[i]);
    const auto image = Ort::Value::CreateTensor<float>(memory, ink.data(), ink.size(), shape.data(), shape.size());
    const auto results = session.Run(Ort::RunOptions{}, inputs, &image, 1, outputs, 1);
    const float* probabilities = results[0].GetTensorData<float>();
    std::cout << argv[i] << ": " << std::max_element(probabilities, probabilities + 10) - probabilities << '\n';
  }
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
