// Fuzz target: a string of bytes is a sequence of calls of the API, on handles that are alive: each byte chooses the
// next call or one of its arguments. Nothing but a status may come of it.
#include "calls.h"

using namespace ortolan::fuzz;

namespace ortolan::fuzz {

const char* Handles::text() {
  static const std::string long_text(2000, 'a');
  static const char* const kTexts[] = {"x", "y", "w", "t", "u", "q", "n", "N", "", "\xff\xfe", long_text.c_str(),
                                       "1", "0"};
  return choices.one_of(kTexts);
}

std::vector<int64_t> Handles::dims() {
  static constexpr int64_t kDims[] = {2, 1, 3, 0, 2, 5, 17, -1, int64_t{1} << 40, INT64_MAX, INT64_MIN};
  std::vector<int64_t> dims(choices.below(4));
  for (int64_t& dim : dims) dim = kDims[choices.once_in(8) ? choices.below(std::size(kDims)) : choices.below(6)];
  return dims;
}

ONNXTensorElementDataType Handles::element() {
  static constexpr ONNXTensorElementDataType kUsual[] = {
      ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64};
  if (!choices.once_in(4)) return choices.one_of(kUsual);
  return static_cast<ONNXTensorElementDataType>(choices.below(32));
}

OrtAllocator* Handles::default_allocator() {
  OrtAllocator* allocator = nullptr;
  ok(api().GetAllocatorWithDefaultOptions(&allocator));
  return allocator;
}

void Handles::free(char* text) {
  if (text != nullptr) ok(api().AllocatorFree(default_allocator(), text));
}

}  // namespace ortolan::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto& calls = *[] {
    auto* all = new std::vector<Call>;
    for (auto group : {value_calls(), type_calls(), option_calls(), session_calls(), binding_calls()}) {
      all->insert(all->end(), group.begin(), group.end());
    }
    return all;
  }();
  Handles handles({data, size});
  while (!handles.choices.empty()) handles.choices.one_of(calls)(handles);
  return 0;
}
