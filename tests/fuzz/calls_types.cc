// Calls about types, shapes, memory and allocators.
#include <cstring>

#include "calls.h"

namespace ortolan::fuzz {
namespace {

void create_memory_info(Handles& h) {
  OrtMemoryInfo* info = nullptr;
  auto kind = static_cast<OrtAllocatorType>(static_cast<int>(h.choices.below(4)) - 1);
  auto memory = static_cast<OrtMemType>(static_cast<int>(h.choices.below(5)) - 2);
  bool made = h.choices.once_in(4) ? ok(api().CreateMemoryInfo(h.text(), kind, h.choices.byte(), memory, &info))
                                   : ok(api().CreateCpuMemoryInfo(kind, memory, &info));
  if (made) h.memory_infos.add(held(info, api().ReleaseMemoryInfo));
}

void ask_memory_info(Handles& h) {
  Held<OrtMemoryInfo> one = h.memory_infos.pick(h.choices), other = h.memory_infos.pick(h.choices);
  if (!one || !other) return;
  int answer = 0;
  const char* name = nullptr;
  ok(api().CompareMemoryInfo(one.get(), other.get(), &answer));
  ok(api().MemoryInfoGetName(one.get(), &name));
  ok(api().MemoryInfoGetId(one.get(), &answer));
}

void type_of_value(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  OrtTypeInfo* type = nullptr;
  if (value && ok(api().GetTypeInfo(value.get(), &type)) && type) h.types.add(held(type, api().ReleaseTypeInfo));
}

void shape_of_value(Handles& h) {
  Held<OrtValue> value = h.values.pick(h.choices);
  OrtTensorTypeAndShapeInfo* shape = nullptr;
  if (value && ok(api().GetTensorTypeAndShape(value.get(), &shape))) {
    h.shapes.add(held(shape, api().ReleaseTensorTypeAndShapeInfo));
  }
}

void create_shape(Handles& h) {
  OrtTensorTypeAndShapeInfo* shape = nullptr;
  if (!ok(api().CreateTensorTypeAndShapeInfo(&shape))) return;
  h.shapes.add(held(shape, api().ReleaseTensorTypeAndShapeInfo));
  auto dims = h.dims();
  ok(api().SetTensorElementType(shape, h.element()));
  ok(api().SetDimensions(shape, dims.data(), dims.size()));
  if (h.choices.once_in(2)) return;
  std::vector<const char*> names(h.choices.below(5));
  for (const char*& name : names) name = h.text();
  ok(api().SetSymbolicDimensions(shape, names.data(), names.size()));
}

void read_shape(const OrtTensorTypeAndShapeInfo* shape, size_t room) {
  size_t rank = 0, count = 0;
  ONNXTensorElementDataType element = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  std::vector<int64_t> dims(room);
  std::vector<const char*> names(room);
  ok(api().GetDimensionsCount(shape, &rank));
  ok(api().GetDimensions(shape, dims.data(), dims.size()));
  if (ok(api().GetSymbolicDimensions(shape, names.data(), names.size()))) {
    for (const char* name : names) count += name != nullptr ? std::strlen(name) : 0;
  }
  ok(api().GetTensorShapeElementCount(shape, &count));
  ok(api().GetTensorElementType(shape, &element));
}

void ask_shape(Handles& h) {
  if (Held<OrtTensorTypeAndShapeInfo> shape = h.shapes.pick(h.choices)) read_shape(shape.get(), h.choices.below(6));
}

/** Reads all that a type says of itself, `depth` types deep. */
void read_type(const OrtTypeInfo* type, size_t room, int depth) {
  ONNXType kind = ONNX_TYPE_UNKNOWN;
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  const OrtSequenceTypeInfo* sequence = nullptr;
  const OrtMapTypeInfo* map = nullptr;
  const char* denotation = nullptr;
  size_t length = 0;
  ok(api().GetOnnxTypeFromTypeInfo(type, &kind));
  ok(api().GetDenotationFromTypeInfo(type, &denotation, &length));
  if (ok(api().CastTypeInfoToTensorInfo(type, &tensor)) && tensor) read_shape(tensor, room);
  OrtTypeInfo* inner = nullptr;
  if (ok(api().CastTypeInfoToSequenceTypeInfo(type, &sequence)) && sequence) {
    ok(api().GetSequenceElementType(sequence, &inner));
  } else if (ok(api().CastTypeInfoToMapTypeInfo(type, &map)) && map) {
    ONNXTensorElementDataType key = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
    ok(api().GetMapKeyType(map, &key));
    ok(api().GetMapValueType(map, &inner));
  }
  if (inner != nullptr && depth > 0) read_type(inner, room, depth - 1);
  api().ReleaseTypeInfo(inner);
}

void ask_type(Handles& h) {
  if (Held<OrtTypeInfo> type = h.types.pick(h.choices)) read_type(type.get(), h.choices.below(6), 3);
}

void allocate(Handles& h) {
  static constexpr size_t kSizes[] = {0, 1, 16, 100, 4096, 70000, SIZE_MAX, SIZE_MAX / 2};
  Held<OrtAllocator> own = h.allocators.pick(h.choices);
  OrtAllocator* allocator = own ? own.get() : h.default_allocator();
  size_t size = h.choices.one_of(kSizes);
  void* block = nullptr;
  if (!ok(api().AllocatorAlloc(allocator, size, &block)) || block == nullptr) return;
  if (size < (1 << 20)) std::memset(block, 1, size);
  ok(api().AllocatorFree(allocator, block));
}

void ask_allocator(Handles& h) {
  Held<OrtAllocator> own = h.allocators.pick(h.choices);
  OrtAllocator* allocator = own ? own.get() : h.default_allocator();
  const OrtMemoryInfo* info = nullptr;
  const char* name = nullptr;
  if (ok(api().AllocatorGetInfo(allocator, &info))) ok(api().MemoryInfoGetName(info, &name));
  OrtKeyValuePairs* figures = nullptr;
  if (ok(api().AllocatorGetStats(allocator, &figures))) api().ReleaseKeyValuePairs(figures);
}

void drop(Handles& h) {
  switch (h.choices.below(4)) {
    case 0:
      return h.memory_infos.drop(h.choices);
    case 1:
      return h.types.drop(h.choices);
    case 2:
      return h.shapes.drop(h.choices);
    default:
      return h.allocators.drop(h.choices);
  }
}

constexpr Call kCalls[] = {create_memory_info, ask_memory_info, type_of_value, shape_of_value, create_shape,
                           ask_shape,          ask_type,        allocate,      ask_allocator,  drop};

}  // namespace

std::span<const Call> type_calls() { return kCalls; }

}  // namespace ortolan::fuzz
