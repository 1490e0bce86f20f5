// Sparse tensors: made empty and filled, or made around the caller's memory, and their parts.
#include "tensor/sparse.h"

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "api/plugins/ep_registry.h"
#include "api/values/type_descriptions.h"

namespace ortolan::api {
namespace {

Shape shape_from(const int64_t* dims, size_t rank, const char* name) {
  auto span = array(dims, rank, name);
  Shape shape(span.begin(), span.end());
  shape.element_count();
  return shape;
}

SparseTensor& sparse_of(OrtValue* value) { return *unwrap(value, "ort_value").sparse(); }
const SparseTensor& sparse_of(const OrtValue* value) { return *unwrap(value, "ort_value").sparse(); }

/** The caller's indices as a tensor that borrows them. */
template <class T>
Tensor borrowed_indices(const T* data, Shape shape) {
  array(data, static_cast<size_t>(shape.element_count()), "indices_data");
  return Tensor(kTypeOf<T>, std::move(shape), const_cast<T*>(data));
}

/** COO indices as numbers: one for each value, or coordinates of two. */
Tensor coo_indices(const SparseTensor& sparse, const Tensor& values, const int64_t* data, size_t count) {
  int64_t nnz = values.element_count();
  bool pairs = sparse.dense_shape.rank() == 2 && nnz > 0 && static_cast<int64_t>(count) == 2 * nnz;
  return borrowed_indices(data, pairs ? Shape{nnz, 2} : Shape{static_cast<int64_t>(count)});
}

/** A copy of the caller's values; strings come as an array of C strings. */
Tensor copy_values(const SparseTensor& sparse, const OrtMemoryInfo* memory, Shape shape, const void* values) {
  require(unwrap(memory, "data_mem_info").on_cpu(), ErrorCode::kInvalidArgument,
          "values are copied from memory that the CPU can read, not from '", unwrap_optional(memory)->name, "'");
  auto count = static_cast<size_t>(shape.element_count());
  if (count != 0) require_argument(values, "values");
  Tensor copy(sparse.type, shape, sparse.allocator);
  if (sparse.type == ElementType::kString) {
    auto texts = std::span(static_cast<const char* const*>(values), count);
    for (size_t i = 0; i < count; ++i) copy.mutable_data<std::string>()[i] = text(texts[i], "values[i]");
  } else if (count != 0) {
    copy_elements(Tensor(sparse.type, shape, const_cast<void*>(values)), copy);
  }
  return copy;
}

/** The tensor of indices that a format's part means. */
const Tensor& indices_of(const SparseTensor& sparse, OrtSparseIndicesFormat part) {
  struct Place {
    SparseFormat format;
    size_t index;
  };
  constexpr Place kPlaces[] = {
      {SparseFormat::kCoo, 0}, {SparseFormat::kCsrc, 0}, {SparseFormat::kCsrc, 1}, {SparseFormat::kBlockSparse, 0}};
  require(part >= 0 && part <= ORT_SPARSE_BLOCK_SPARSE_INDICES, ErrorCode::kInvalidArgument, "indices format ",
          static_cast<int>(part), " is none of OrtSparseIndicesFormat's");
  const Place& place = kPlaces[part];
  require(sparse.format == place.format, ErrorCode::kInvalidArgument, "the sparse tensor has format ", sparse.format,
          ", which has no indices of format ", static_cast<int>(part));
  return sparse.indices[place.index];
}

}  // namespace

OrtStatus* ORT_API_CALL IsSparseTensor(const OrtValue* value, int* out) noexcept {
  return guard([&] { put(out, unwrap(value, "value").kind() == ValueKind::kSparse); });
}

OrtStatus* ORT_API_CALL CreateSparseTensorAsOrtValue(OrtAllocator* allocator, const int64_t* dense_shape,
                                                     size_t dense_shape_len, ONNXTensorElementDataType type,
                                                     OrtValue** out) noexcept {
  return guard([&] {
    auto sparse = make_sparse(element_type_from_api(type), shape_from(dense_shape, dense_shape_len, "dense_shape"),
                              core_allocator(allocator));
    give(out, std::move(sparse));
  });
}

OrtStatus* ORT_API_CALL CreateSparseTensorWithValuesAsOrtValue(const OrtMemoryInfo* info, void* p_data,
                                                               const int64_t* dense_shape, size_t dense_shape_len,
                                                               const int64_t* values_shape, size_t values_shape_len,
                                                               ONNXTensorElementDataType type,
                                                               OrtValue** out) noexcept {
  return guard([&] {
    ElementType element = element_type_from_api(type);
    require(element != ElementType::kString, ErrorCode::kInvalidArgument,
            "strings cannot be borrowed; create the sparse tensor with an allocator and fill it");
    auto sparse = make_sparse(element, shape_from(dense_shape, dense_shape_len, "dense_shape"), cpu_allocator());
    Shape shape = shape_from(values_shape, values_shape_len, "values_shape");
    if (shape.element_count() != 0) require_argument(p_data, "p_data");
    sparse->values = Tensor(element, std::move(shape), p_data, nullptr, place_of(unwrap(info, "info")));
    give(out, std::move(sparse));
  });
}

OrtStatus* ORT_API_CALL FillSparseTensorCoo(OrtValue* value, const OrtMemoryInfo* data_mem_info,
                                            const int64_t* values_shape, size_t values_shape_len, const void* values,
                                            const int64_t* indices_data, size_t indices_num) noexcept {
  return guard([&] {
    SparseTensor& sparse = sparse_of(value);
    Tensor copy =
        copy_values(sparse, data_mem_info, shape_from(values_shape, values_shape_len, "values_shape"), values);
    Tensor indices = clone(coo_indices(sparse, copy, indices_data, indices_num));
    set_coo(sparse, std::move(copy), std::move(indices));
  });
}

OrtStatus* ORT_API_CALL FillSparseTensorCsr(OrtValue* value, const OrtMemoryInfo* data_mem_info,
                                            const int64_t* values_shape, size_t values_shape_len, const void* values,
                                            const int64_t* inner_indices_data, size_t inner_indices_num,
                                            const int64_t* outer_indices_data, size_t outer_indices_num) noexcept {
  return guard([&] {
    SparseTensor& sparse = sparse_of(value);
    Tensor copy =
        copy_values(sparse, data_mem_info, shape_from(values_shape, values_shape_len, "values_shape"), values);
    Tensor inner = clone(borrowed_indices(inner_indices_data, Shape{static_cast<int64_t>(inner_indices_num)}));
    Tensor outer = clone(borrowed_indices(outer_indices_data, Shape{static_cast<int64_t>(outer_indices_num)}));
    set_csr(sparse, std::move(copy), std::move(inner), std::move(outer));
  });
}

OrtStatus* ORT_API_CALL FillSparseTensorBlockSparse(OrtValue* value, const OrtMemoryInfo* data_mem_info,
                                                    const int64_t* values_shape, size_t values_shape_len,
                                                    const void* values, const int64_t* indices_shape_data,
                                                    size_t indices_shape_len, const int32_t* indices_data) noexcept {
  return guard([&] {
    SparseTensor& sparse = sparse_of(value);
    Tensor copy =
        copy_values(sparse, data_mem_info, shape_from(values_shape, values_shape_len, "values_shape"), values);
    Shape shape = shape_from(indices_shape_data, indices_shape_len, "indices_shape");
    set_block_sparse(sparse, std::move(copy), clone(borrowed_indices(indices_data, std::move(shape))));
  });
}

OrtStatus* ORT_API_CALL UseCooIndices(OrtValue* value, int64_t* indices_data, size_t indices_num) noexcept {
  return guard([&] {
    SparseTensor& sparse = sparse_of(value);
    set_coo(sparse, sparse.values, coo_indices(sparse, sparse.values, indices_data, indices_num));
  });
}

OrtStatus* ORT_API_CALL UseCsrIndices(OrtValue* value, int64_t* inner_data, size_t inner_num, int64_t* outer_data,
                                      size_t outer_num) noexcept {
  return guard([&] {
    SparseTensor& sparse = sparse_of(value);
    set_csr(sparse, sparse.values, borrowed_indices(inner_data, Shape{static_cast<int64_t>(inner_num)}),
            borrowed_indices(outer_data, Shape{static_cast<int64_t>(outer_num)}));
  });
}

OrtStatus* ORT_API_CALL UseBlockSparseIndices(OrtValue* value, const int64_t* indices_shape, size_t indices_shape_len,
                                              int32_t* indices_data) noexcept {
  return guard([&] {
    SparseTensor& sparse = sparse_of(value);
    Shape shape = shape_from(indices_shape, indices_shape_len, "indices_shape");
    set_block_sparse(sparse, sparse.values, borrowed_indices(indices_data, std::move(shape)));
  });
}

OrtStatus* ORT_API_CALL GetSparseTensorFormat(const OrtValue* value, OrtSparseFormat* out) noexcept {
  return guard([&] { put(out, sparse_of(value).format); });
}

OrtStatus* ORT_API_CALL GetSparseTensorValuesTypeAndShape(const OrtValue* value,
                                                          OrtTensorTypeAndShapeInfo** out) noexcept {
  return guard([&] {
    const SparseTensor& sparse = sparse_of(value);
    give(out, describe(sparse.type, sparse.values.shape()));
  });
}

OrtStatus* ORT_API_CALL GetSparseTensorValues(const OrtValue* value, const void** out) noexcept {
  return guard([&] {
    const SparseTensor& sparse = sparse_of(value);
    require(sparse.type != ElementType::kString, ErrorCode::kInvalidArgument,
            "values that are strings are read with GetStringTensorElement or GetStringTensorContent");
    put(out, sparse.values.raw());
  });
}

OrtStatus* ORT_API_CALL GetSparseTensorIndicesTypeShape(const OrtValue* value, OrtSparseIndicesFormat indices_format,
                                                        OrtTensorTypeAndShapeInfo** out) noexcept {
  return guard([&] {
    const Tensor& indices = indices_of(sparse_of(value), indices_format);
    give(out, describe(indices.type(), indices.shape()));
  });
}

OrtStatus* ORT_API_CALL GetSparseTensorIndices(const OrtValue* value, OrtSparseIndicesFormat indices_format,
                                               size_t* num_indices, const void** indices) noexcept {
  return guard([&] {
    const Tensor& tensor = indices_of(sparse_of(value), indices_format);
    require_argument(num_indices, "num_indices");
    put(indices, tensor.raw(), "indices");
    *num_indices = static_cast<size_t>(tensor.element_count());
  });
}

}  // namespace ortolan::api
