// Calls about values: tensors of numbers and strings, around memory of the caller's, sequences and maps.
#include <algorithm>
#include <cstring>

#include "calls.h"

namespace ortolan::fuzz {
namespace {

void create_tensor(Handles& h) {
  OrtValue* value = nullptr;
  auto dims = h.dims();
  if (ok(api().CreateTensorAsOrtValue(h.default_allocator(), dims.data(), dims.size(), h.element(), &value))) {
    h.add_value(value);
  }
}

void create_around_memory(Handles& h) {
  auto buffer = std::make_shared<std::vector<uint64_t>>(h.choices.below(65));
  Held<OrtMemoryInfo> info = h.memory_infos.pick(h.choices);
  auto dims = h.dims();
  OrtValue* value = nullptr;
  if (info && ok(api().CreateTensorWithDataAsOrtValue(info.get(), buffer->data(), buffer->size() * sizeof(uint64_t),
                                                      dims.data(), dims.size(), h.element(), &value))) {
    h.buffers.push_back(std::move(buffer));
    h.add_value(value);
  }
}

void create_container(Handles& h) {
  std::vector<Held<OrtValue>> kept;
  std::vector<const OrtValue*> items;
  for (size_t n = h.choices.below(4); n > 0; --n) {
    kept.push_back(h.values.pick(h.choices));
    items.push_back(kept.back().get());
  }
  OrtValue* value = nullptr;
  ONNXType kind = h.choices.once_in(8) ? static_cast<ONNXType>(h.choices.byte())
                                       : (h.choices.once_in(2) ? ONNX_TYPE_MAP : ONNX_TYPE_SEQUENCE);
  if (ok(api().CreateValue(items.data(), items.size(), kind, &value))) h.add_value(value);
}

void look_inside(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  size_t count = 0;
  OrtValue* item = nullptr;
  if (!value) return;
  ok(api().GetValueCount(value.get(), &count));
  int index = static_cast<int>(h.choices.below(5)) - 1;
  if (ok(api().GetValue(value.get(), index, h.default_allocator(), &item))) h.add_value(item);
}

void fill_with_numbers(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  OrtTensorTypeAndShapeInfo* info = nullptr;
  if (!value || !ok(api().GetTensorTypeAndShape(value.get(), &info))) return;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  ok(api().GetTensorElementType(info, &element));
  api().ReleaseTensorTypeAndShapeInfo(info);
  void* data = nullptr;
  size_t bytes = 0;
  if (element == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING || !ok(api().GetTensorMutableData(value.get(), &data))) return;
  if (!ok(api().GetTensorSizeInBytes(value.get(), &bytes)) || data == nullptr) return;
  uint8_t number = h.choices.byte();
  std::memset(data, element == ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL ? number & 1 : number, bytes);
}

void fill_with_strings(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  std::vector<const char*> strings(h.choices.below(7));
  for (const char*& string : strings) string = h.text();
  if (value) ok(api().FillStringTensor(value.get(), strings.data(), strings.size()));
}

void set_string(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  if (!value) return;
  size_t index = h.choices.below(8), length = h.choices.byte();
  if (h.choices.once_in(2)) {
    ok(api().FillStringTensorElement(value.get(), h.text(), index));
    return;
  }
  char* place = nullptr;
  if (ok(api().GetResizedStringTensorElementBuffer(value.get(), index, length, &place)))
    std::memset(place, 'r', length);
}

void read_strings(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  size_t length = 0;
  if (!value) return;
  if (ok(api().GetStringTensorDataLength(value.get(), &length))) {
    std::vector<char> text(length + h.choices.below(3));
    std::vector<size_t> offsets(h.choices.below(9));
    ok(api().GetStringTensorContent(value.get(), text.data(), text.size(), offsets.data(), offsets.size()));
  }
  size_t index = h.choices.below(8);
  if (ok(api().GetStringTensorElementLength(value.get(), index, &length))) {
    std::vector<char> text(length + h.choices.below(2));
    ok(api().GetStringTensorElement(value.get(), text.size(), index, text.data()));
  }
}

void read_element(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  auto place = h.dims();
  void* at = nullptr;
  if (value && ok(api().TensorAt(value.get(), place.data(), place.size(), &at)) && at != nullptr) {
    volatile char seen = *static_cast<char*>(at);
    (void)seen;
  }
}

void ask_value(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  if (!value) return;
  int answer = 0;
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  const OrtMemoryInfo* memory = nullptr;
  ok(api().IsTensor(value.get(), &answer));
  ok(api().HasValue(value.get(), &answer));
  ok(api().IsSparseTensor(value.get(), &answer));
  ok(api().GetValueType(value.get(), &kind));
  ok(api().GetTensorMemoryInfo(value.get(), &memory));
}

void create_sparse(Handles& h) {
  auto dense = h.dims();
  OrtValue* value = nullptr;
  if (!ok(api().CreateSparseTensorAsOrtValue(h.default_allocator(), dense.data(), dense.size(), h.element(), &value))) {
    return;
  }
  h.add_value(value);
  Held<OrtMemoryInfo> info = h.memory_infos.pick(h.choices);
  std::vector<double> numbers(16);  // eight of the widest elements, complex128
  auto count = static_cast<int64_t>(h.choices.below(9));
  std::vector<int64_t> indices(h.choices.below(17));
  for (int64_t& index : indices) index = static_cast<int64_t>(h.choices.below(12)) - 1;
  if (info && count <= 8) {
    ok(api().FillSparseTensorCoo(value, info.get(), &count, 1, numbers.data(), indices.data(), indices.size()));
  }
}

void read_sparse(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  OrtSparseFormat format = ORT_SPARSE_UNDEFINED;
  const void* numbers = nullptr;
  size_t count = 0;
  if (!value) return;
  ok(api().GetSparseTensorFormat(value.get(), &format));
  ok(api().GetSparseTensorValues(value.get(), &numbers));
  auto kind = static_cast<OrtSparseIndicesFormat>(h.choices.below(5));
  ok(api().GetSparseTensorIndices(value.get(), kind, &count, &numbers));
}

void drop_value(Handles& h) { h.values.drop(h.choices); }

constexpr Call kCalls[] = {create_tensor,     create_around_memory, create_container, look_inside,  fill_with_numbers,
                           fill_with_strings, set_string,           read_strings,     read_element, ask_value,
                           create_sparse,     read_sparse,          drop_value};

}  // namespace

std::span<const Call> value_calls() { return kCalls; }

}  // namespace ortolan::fuzz
