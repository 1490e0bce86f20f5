// Tensors: made with an allocator or around the caller's memory, and their data.
#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "api/plugins/ep_registry.h"
#include "tensor/value.h"

namespace ortolan::api {
namespace {

Shape shape_from(const int64_t* dims, size_t rank) {
  auto span = array(dims, rank, "shape");
  Shape shape(span.begin(), span.end());
  shape.element_count();  // throws for a negative or an overflowing one
  return shape;
}

/** A tensor around `data`, once it is known to be large enough. */
Tensor view_of(ElementType type, Shape shape, void* data, size_t bytes, const MemoryInfo& memory) {
  require(type != ElementType::kString, ErrorCode::kInvalidArgument,
          "a tensor of strings cannot be made around existing memory; create it with an allocator and fill it");
  size_t needed = bytes_for(type, shape.element_count());
  require(bytes >= needed, ErrorCode::kInvalidArgument, "the buffer has ", bytes, " bytes, but a tensor of ",
          name_of(type), shape, " needs ", needed);
  if (needed != 0) require_argument(data, "p_data");
  return Tensor(type, std::move(shape), data, nullptr, place_of(memory));
}

/** The tensor that slots about tensor data mean; never of a sparse value. */
Tensor& dense(OrtValue* value) { return unwrap(value, "value").tensor(); }
const Tensor& dense(const OrtValue* value) { return unwrap(value, "value").tensor(); }

size_t offset_of(const Tensor& tensor, std::span<const int64_t> location) {
  const Shape& shape = tensor.shape();
  require(location.size() == shape.rank(), ErrorCode::kInvalidArgument, "the location has ", location.size(),
          " indices for a tensor of rank ", shape.rank());
  int64_t offset = 0;
  for (size_t i = 0; i < location.size(); ++i) {
    require(location[i] >= 0 && location[i] < shape[i], ErrorCode::kInvalidArgument, "index ", location[i],
            " is outside [0, ", shape[i] - 1, "] in dimension ", i);
    offset = offset * shape[i] + location[i];
  }
  return static_cast<size_t>(offset);
}

}  // namespace

OrtStatus* ORT_API_CALL CreateTensorAsOrtValue(OrtAllocator* allocator, const int64_t* shape, size_t shape_len,
                                               ONNXTensorElementDataType type, OrtValue** out) noexcept {
  return guard([&] {
    Tensor tensor(element_type_from_api(type), shape_from(shape, shape_len), core_allocator(allocator));
    give(out, std::move(tensor));
  });
}

OrtStatus* ORT_API_CALL CreateTensorWithDataAsOrtValue(const OrtMemoryInfo* info, void* p_data, size_t p_data_len,
                                                       const int64_t* shape, size_t shape_len,
                                                       ONNXTensorElementDataType type, OrtValue** out) noexcept {
  return guard([&] {
    Tensor tensor =
        view_of(element_type_from_api(type), shape_from(shape, shape_len), p_data, p_data_len, unwrap(info, "info"));
    give(out, std::move(tensor));
  });
}

OrtStatus* ORT_API_CALL CreateTensorWithDataAndDeleterAsOrtValue(OrtAllocator* deleter, void* p_data, size_t p_data_len,
                                                                 const int64_t* shape, size_t shape_len,
                                                                 ONNXTensorElementDataType type,
                                                                 OrtValue** out) noexcept {
  return guard([&] {
    auto core = core_allocator(deleter);
    require_argument(out, "out");
    Tensor view = view_of(element_type_from_api(type), shape_from(shape, shape_len), p_data, p_data_len, core->info());
    std::shared_ptr<void> owner(p_data, [deleter](void* data) { deleter->Free(deleter, data); });
    Tensor owning(view.type(), view.shape(), p_data, std::move(owner), view.memory());
    give(out, std::move(owning));
  });
}

void ORT_API_CALL ReleaseValue(OrtValue* value) noexcept { release(value); }

OrtStatus* ORT_API_CALL IsTensor(const OrtValue* value, int* out) noexcept {
  return guard([&] { put(out, unwrap(value, "value").is_tensor()); });
}

OrtStatus* ORT_API_CALL GetTensorMutableData(OrtValue* value, void** out) noexcept {
  return guard([&] { put(out, dense(value).mutable_raw()); });
}

OrtStatus* ORT_API_CALL GetTensorData(const OrtValue* value, const void** out) noexcept {
  return guard([&] { put(out, dense(value).raw()); });
}

OrtStatus* ORT_API_CALL GetTensorElementTypeAndShapeDataReference(const OrtValue* value,
                                                                  ONNXTensorElementDataType* elem_type,
                                                                  const int64_t** shape_data,
                                                                  size_t* shape_data_count) noexcept {
  return guard([&] {
    const Tensor& tensor = dense(value);
    require_argument(shape_data, "shape_data");
    require_argument(shape_data_count, "shape_data_count");
    put(elem_type, element_type_to_api(tensor.type()), "elem_type");
    *shape_data = tensor.rank() == 0 ? nullptr : tensor.shape().data();
    *shape_data_count = tensor.rank();
  });
}

OrtStatus* ORT_API_CALL GetTensorSizeInBytes(const OrtValue* value, size_t* size) noexcept {
  return guard([&] {
    const Tensor& tensor = dense(value);
    require(tensor.type() != ElementType::kString, ErrorCode::kInvalidArgument,
            "a tensor of strings has no size in bytes; ask for GetStringTensorDataLength");
    put(size, tensor.byte_count(), "size");
  });
}

OrtStatus* ORT_API_CALL GetTensorMemoryInfo(const OrtValue* value, const OrtMemoryInfo** out) noexcept {
  return guard([&] {
    const Value& core = unwrap(value, "value");
    bool sparse = core.kind() == ValueKind::kSparse;
    put(out, wrap<const OrtMemoryInfo>(sparse ? &core.sparse()->values.memory() : &core.tensor().memory()));
  });
}

OrtStatus* ORT_API_CALL TensorAt(OrtValue* value, const int64_t* location_values, size_t location_values_count,
                                 void** out) noexcept {
  return guard([&] {
    Tensor& tensor = dense(value);
    require(tensor.type() != ElementType::kString && !is_packed(tensor.type()), ErrorCode::kInvalidArgument,
            "elements of type ", name_of(tensor.type()), " have no address of their own");
    require(tensor.memory().on_cpu(), ErrorCode::kInvalidArgument, "the tensor is in memory '", tensor.memory().name,
            "', whose elements have no address on the CPU; copy it with CopyTensors first");
    size_t offset = offset_of(tensor, array(location_values, location_values_count, "location_values"));
    put(out, static_cast<char*>(tensor.mutable_raw()) + offset * (bits_of(tensor.type()) / 8));
  });
}

}  // namespace ortolan::api
