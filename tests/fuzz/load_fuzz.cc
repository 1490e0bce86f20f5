// Fuzz target: any bytes are read as a model, written again when they are one, and read once more.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "onnx/reader.h"
#include "onnx/writer.h"

using namespace ortolan;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  onnx::ReadOptions options;
  options.max_nodes = 20000;
  options.max_inlined_bytes = 1 << 20;
  options.max_expanded_bytes = 1 << 24;
  auto read = [&](std::span<const std::byte> bytes) { return onnx::read_model_bytes({bytes, nullptr}, options); };
  std::unique_ptr<graph::Model> model;
  try {
    model = read(std::as_bytes(std::span(data, size)));
  } catch (const base::Error&) {
    return 0;
  }
  std::string written;
  try {
    written = onnx::write_model_bytes(*model);
  } catch (const base::Error&) {
    return 0;  // a node of another version than the model's imports
  }
  auto again = read(std::as_bytes(std::span(written)));  // what is written must be readable
  if (again->graph->outputs.size() != model->graph->outputs.size()) std::abort();
  model->graph->remove_unreachable();
  return 0;
}
