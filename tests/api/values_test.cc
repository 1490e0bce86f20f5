// Tensors of every type, strings, sequences, maps and sparse tensors.
#include "api_test_support.h"
#include "ortolan.h"

namespace {

TEST(Tensors, EveryTypeCanBeMade) {
  struct Case {
    ONNXTensorElementDataType type;
    size_t bytes_of_five;
  };
  const Case cases[] = {
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, 20},        {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, 5},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, 5},          {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, 10},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, 10},        {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, 20},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, 40},        {ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, 5},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, 10},      {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, 40},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, 20},       {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, 40},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64, 40},    {ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128, 80},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, 10},     {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FN, 5},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2, 5},    {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT4, 3},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT4, 3},          {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT4E2M1, 3},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2, 2},         {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2, 2},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0, 5},    {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E4M3FNUZ, 5},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E5M2FNUZ, 5}};
  const int64_t shape[] = {5};
  for (const Case& c : cases) {
    Value value;
    ASSERT_OK(api().CreateTensorAsOrtValue(default_allocator(), shape, 1, c.type, value.out())) << c.type;
    size_t bytes = 0;
    EXPECT_OK(api().GetTensorSizeInBytes(value, &bytes));
    EXPECT_EQ(bytes, c.bytes_of_five) << c.type;
    TensorInfo info;
    ONNXTensorElementDataType type;
    ASSERT_OK(api().GetTensorTypeAndShape(value, info.out()));
    EXPECT_OK(api().GetTensorElementType(info, &type));
    EXPECT_EQ(type, c.type);
    void* data = nullptr;
    EXPECT_OK(api().GetTensorMutableData(value, &data));
    EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0u);
    std::memset(data, 1, bytes);
  }
}

TEST(Tensors, BadArgumentsAreRefused) {
  OrtValue* value = nullptr;
  const int64_t negative[] = {2, -1}, huge[] = {int64_t{1} << 40, int64_t{1} << 40}, two[] = {2};
  OrtAllocator* allocator = default_allocator();
  auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;
  EXPECT_REFUSED(api().CreateTensorAsOrtValue(allocator, negative, 2, kFloat, &value), ORT_INVALID_ARGUMENT, "-1");
  EXPECT_REFUSED(api().CreateTensorAsOrtValue(allocator, huge, 2, kFloat, &value), ORT_INVALID_ARGUMENT, "overflows");
  EXPECT_REFUSED(api().CreateTensorAsOrtValue(allocator, two, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED, &value),
                 ORT_INVALID_ARGUMENT, "element type 0");
  EXPECT_REFUSED(api().CreateTensorAsOrtValue(allocator, two, 1, static_cast<ONNXTensorElementDataType>(99), &value),
                 ORT_INVALID_ARGUMENT, "element type 99");
  EXPECT_REFUSED(api().CreateTensorAsOrtValue(nullptr, two, 1, kFloat, &value), ORT_INVALID_ARGUMENT, "allocator");
  EXPECT_REFUSED(api().CreateTensorAsOrtValue(allocator, two, 1, kFloat, nullptr), ORT_INVALID_ARGUMENT, "out");
  EXPECT_REFUSED(api().CreateTensorAsOrtValue(allocator, nullptr, 1, kFloat, &value), ORT_INVALID_ARGUMENT, "shape");
  float data[2] = {};
  MemoryInfo memory = cpu_memory();
  EXPECT_REFUSED(api().CreateTensorWithDataAsOrtValue(memory, data, 7, two, 1, kFloat, &value), ORT_INVALID_ARGUMENT,
                 "the buffer has 7 bytes, but a tensor of float[2] needs 8");
  EXPECT_REFUSED(
      api().CreateTensorWithDataAsOrtValue(memory, data, 8, two, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, &value),
      ORT_INVALID_ARGUMENT, "strings");
  EXPECT_REFUSED(api().CreateTensorWithDataAsOrtValue(memory, nullptr, 8, two, 1, kFloat, &value), ORT_INVALID_ARGUMENT,
                 "p_data");
  EXPECT_REFUSED(api().CreateTensorWithDataAsOrtValue(nullptr, data, 8, two, 1, kFloat, &value), ORT_INVALID_ARGUMENT,
                 "info");
  EXPECT_EQ(value, nullptr);
}

TEST(Tensors, BorrowedDataStaysTheCallers) {
  std::vector<float> data = {1, 2, 3, 4, 5, 6};
  Value value = floats(data, {2, 3});
  void* seen = nullptr;
  EXPECT_OK(api().GetTensorMutableData(value, &seen));
  EXPECT_EQ(seen, data.data());
  const int64_t place[] = {1, 2}, outside[] = {2, 0};
  void* element = nullptr;
  EXPECT_OK(api().TensorAt(value, place, 2, &element));
  EXPECT_EQ(*static_cast<float*>(element), 6);
  EXPECT_REFUSED(api().TensorAt(value, outside, 2, &element), ORT_INVALID_ARGUMENT, "index 2 is outside [0, 1]");
  EXPECT_REFUSED(api().TensorAt(value, place, 1, &element), ORT_INVALID_ARGUMENT, "rank 2");
  const OrtMemoryInfo* memory = nullptr;
  const char* name = nullptr;
  EXPECT_OK(api().GetTensorMemoryInfo(value, &memory));
  EXPECT_OK(api().MemoryInfoGetName(memory, &name));
  EXPECT_STREQ(name, "Cpu");
  ONNXTensorElementDataType type;
  const int64_t* dims = nullptr;
  size_t rank = 0;
  EXPECT_OK(api().GetTensorElementTypeAndShapeDataReference(value, &type, &dims, &rank));
  EXPECT_EQ(rank, 2u);
  EXPECT_EQ(dims[1], 3);
}

TEST(Tensors, AreCopied) {
  std::vector<float> from = {1, 2}, to = {0, 0}, three = {0, 0, 0};
  Value source = floats(from, {2}), target = floats(to, {2}), longer = floats(three, {3});
  Env env = make_env();
  const OrtValue* sources[] = {source};
  OrtValue* targets[] = {target};
  EXPECT_OK(api().CopyTensors(env, sources, targets, nullptr, 1));
  EXPECT_EQ(to, from);
  targets[0] = longer;
  EXPECT_REFUSED(api().CopyTensors(env, sources, targets, nullptr, 1), ORT_INVALID_ARGUMENT, "float[2]");
}

TEST(Tensors, ZeroSizedAndScalar) {
  const int64_t none[] = {0, 3};
  Value empty, scalar;
  EXPECT_OK(api().CreateTensorWithDataAsOrtValue(cpu_memory(), nullptr, 0, none, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                                 empty.out()));
  EXPECT_TRUE(content<float>(empty).empty());
  EXPECT_OK(api().CreateTensorAsOrtValue(default_allocator(), nullptr, 0, ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE,
                                         scalar.out()));
  EXPECT_EQ(content<double>(scalar).size(), 1u);
  EXPECT_TRUE(shape_of(scalar).empty());
}

TEST(Tensors, TheCallersAllocatorAndDeleterAreUsed) {
  CountingAllocator mine(17);
  const int64_t shape[] = {4};
  {
    Value value;
    ASSERT_OK(api().CreateTensorAsOrtValue(&mine, shape, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, value.out()));
    EXPECT_EQ(mine.allocations, 1);
  }
  EXPECT_EQ(mine.frees, 1);
  {
    Value value;
    void* data = std::malloc(16);
    ASSERT_OK(api().CreateTensorWithDataAndDeleterAsOrtValue(&mine, data, 16, shape, 1,
                                                             ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, value.out()));
  }
  EXPECT_EQ(mine.frees, 2);
  OrtKeyValuePairs* stats = nullptr;
  EXPECT_REFUSED(api().AllocatorGetStats(&mine, &stats), ORT_NOT_IMPLEMENTED, "no statistics");
}

TEST(Strings, AreFilledAndRead) {
  Value value = string_tensor({"one", "", "three"});
  size_t length = 0;
  EXPECT_OK(api().GetStringTensorDataLength(value, &length));
  EXPECT_EQ(length, 8u);
  char text[8];
  size_t offsets[3];
  EXPECT_OK(api().GetStringTensorContent(value, text, 8, offsets, 3));
  EXPECT_EQ(std::string(text, 8), "onethree");
  EXPECT_EQ(offsets[2], 3u);
  EXPECT_REFUSED(api().GetStringTensorContent(value, text, 7, offsets, 3), ORT_FAIL, "7 bytes");
  EXPECT_REFUSED(api().GetStringTensorContent(value, text, 8, offsets, 2), ORT_FAIL, "2 offsets");
  EXPECT_OK(api().FillStringTensorElement(value, "ab", 1));
  EXPECT_OK(api().GetStringTensorElementLength(value, 1, &length));
  EXPECT_EQ(length, 2u);
  EXPECT_OK(api().GetStringTensorElement(value, 2, 1, text));
  EXPECT_EQ(std::string(text, 2), "ab");
  EXPECT_REFUSED(api().GetStringTensorElement(value, 1, 1, text), ORT_FAIL, "the string has 2");
  EXPECT_REFUSED(api().GetStringTensorElementLength(value, 3, &length), ORT_FAIL, "index 3 is out of range");
  EXPECT_REFUSED(api().FillStringTensorElement(value, "x", 9), ORT_FAIL, "index 9");
  char* buffer = nullptr;
  EXPECT_OK(api().GetResizedStringTensorElementBuffer(value, 0, 5, &buffer));
  std::memcpy(buffer, "a\0b\0c", 5);
  EXPECT_OK(api().GetStringTensorElementLength(value, 0, &length));
  EXPECT_EQ(length, 5u);
  const char* two[] = {"a", "b"};
  EXPECT_REFUSED(api().FillStringTensor(value, two, 2), ORT_INVALID_ARGUMENT, "2 strings for a tensor of 3");
  std::vector<float> data = {1};
  Value numbers = floats(data, {1});
  EXPECT_REFUSED(api().GetStringTensorDataLength(numbers, &length), ORT_INVALID_ARGUMENT, "holds float, not string");
  EXPECT_REFUSED(api().GetTensorSizeInBytes(value, &length), ORT_INVALID_ARGUMENT, "strings");
}

TEST(Strings, AreFilledAndReadInParts) {
  Value value = string_tensor({"one", "", "three"});
  const char* texts[] = {"ab", nullptr};
  const size_t lengths[] = {1, 0};
  EXPECT_OK(OrtFillStringTensorTexts(value, 1, texts, lengths, 2));
  const char* found[3] = {};
  size_t sizes[3] = {};
  EXPECT_OK(OrtGetStringTensorTexts(value, 0, found, sizes, 3));
  EXPECT_EQ(std::string(found[0], sizes[0]), "one");
  EXPECT_EQ(std::string(found[1], sizes[1]), "a");
  EXPECT_EQ(sizes[2], 0u);
  EXPECT_OK(OrtGetStringTensorTexts(value, 3, nullptr, nullptr, 0));
  EXPECT_REFUSED(OrtGetStringTensorTexts(value, 2, found, sizes, 2), ORT_INVALID_ARGUMENT,
                 "no 2 strings from element 2");
  EXPECT_REFUSED(OrtGetStringTensorTexts(value, 4, found, sizes, 0), ORT_INVALID_ARGUMENT, "the tensor has 3 strings");
  EXPECT_REFUSED(OrtGetStringTensorTexts(value, 0, nullptr, sizes, 1), ORT_INVALID_ARGUMENT, "texts");
  EXPECT_REFUSED(OrtFillStringTensorTexts(value, 3, texts, lengths, 1), ORT_INVALID_ARGUMENT, "from element 3");
  EXPECT_REFUSED(OrtFillStringTensorTexts(value, 0, texts + 1, lengths, 1), ORT_INVALID_ARGUMENT, "texts[i]");
  EXPECT_REFUSED(OrtFillStringTensorTexts(value, SIZE_MAX, texts, lengths, 2), ORT_INVALID_ARGUMENT, "from element");
}

TEST(Containers, SequencesHoldCopies) {
  std::vector<float> one = {1}, two = {2, 3};
  Value a = floats(one, {1}), b = floats(two, {2}), sequence, item;
  const OrtValue* parts[] = {a, b};
  ASSERT_OK(api().CreateValue(parts, 2, ONNX_TYPE_SEQUENCE, sequence.out()));
  a = Value();
  size_t count = 0;
  int has_value = 0, is_tensor = 1;
  ONNXType type;
  EXPECT_OK(api().GetValueCount(sequence, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(api().GetValueType(sequence, &type));
  EXPECT_EQ(type, ONNX_TYPE_SEQUENCE);
  EXPECT_OK(api().HasValue(sequence, &has_value));
  EXPECT_EQ(has_value, 1);
  EXPECT_OK(api().IsTensor(sequence, &is_tensor));
  EXPECT_EQ(is_tensor, 0);
  ASSERT_OK(api().GetValue(sequence, 1, default_allocator(), item.out()));
  EXPECT_EQ(content<float>(item), two);
  EXPECT_REFUSED(api().GetValue(sequence, 2, default_allocator(), item.out()), ORT_FAIL, "index 2 is out of range");
  EXPECT_REFUSED(api().GetValue(sequence, -1, default_allocator(), item.out()), ORT_FAIL, "index -1");
  void* data = nullptr;
  EXPECT_REFUSED(api().GetTensorMutableData(sequence, &data), ORT_INVALID_ARGUMENT, "a sequence, not a tensor");
  TypeInfo info;
  const OrtSequenceTypeInfo* sequence_info = nullptr;
  TypeInfo element;
  ASSERT_OK(api().GetTypeInfo(sequence, info.out()));
  EXPECT_OK(api().CastTypeInfoToSequenceTypeInfo(info, &sequence_info));
  EXPECT_OK(api().GetSequenceElementType(sequence_info, element.out()));
  const OrtTensorTypeAndShapeInfo* tensor = nullptr;
  ONNXTensorElementDataType element_type;
  EXPECT_OK(api().CastTypeInfoToTensorInfo(element, &tensor));
  EXPECT_OK(api().GetTensorElementType(tensor, &element_type));
  EXPECT_EQ(element_type, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  const OrtMapTypeInfo* map_info = nullptr;
  EXPECT_OK(api().CastTypeInfoToMapTypeInfo(info, &map_info));
  EXPECT_EQ(map_info, nullptr);
}

TEST(Containers, PartsAreReadWhereTheyLie) {
  std::vector<int64_t> keys = {2, 1};
  std::vector<float> values = {20, 10};
  Value key_tensor = tensor_around(keys, {2}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  Value value_tensor = floats(values, {2}), map, sequence;
  const OrtValue* parts[] = {key_tensor, value_tensor};
  ASSERT_OK(api().CreateValue(parts, 2, ONNX_TYPE_MAP, map.out()));
  const OrtValue* maps[] = {map, map};
  ASSERT_OK(api().CreateValue(maps, 2, ONNX_TYPE_SEQUENCE, sequence.out()));
  map = Value();
  const OrtValue *item = nullptr, *same = nullptr, *key_part = nullptr, *value_part = nullptr;
  ASSERT_OK(OrtGetSequenceItem(sequence, 1, &item));
  EXPECT_OK(OrtGetSequenceItem(sequence, 1, &same));
  EXPECT_EQ(item, same);
  ASSERT_OK(OrtGetMapParts(item, &key_part, &value_part));
  const void *key_data = nullptr, *value_data = nullptr;
  EXPECT_OK(api().GetTensorData(key_part, &key_data));
  EXPECT_OK(api().GetTensorData(value_part, &value_data));
  EXPECT_EQ(static_cast<const int64_t*>(key_data)[0], 1);
  EXPECT_EQ(static_cast<const float*>(value_data)[0], 10);
  EXPECT_REFUSED(OrtGetSequenceItem(sequence, 2, &item), ORT_INVALID_ARGUMENT, "the sequence has 2 items");
  EXPECT_REFUSED(OrtGetSequenceItem(item, 0, &item), ORT_INVALID_ARGUMENT, "a map, not a sequence");
  EXPECT_REFUSED(OrtGetMapParts(sequence, &key_part, &value_part), ORT_INVALID_ARGUMENT, "a sequence, not a map");
  EXPECT_REFUSED(OrtGetMapParts(item, nullptr, &value_part), ORT_INVALID_ARGUMENT, "keys");
  EXPECT_OK(OrtGetMapRows(sequence, &key_part, &value_part));  // each of these has keys of its own
  EXPECT_EQ(key_part, nullptr);
  EXPECT_EQ(value_part, nullptr);
  EXPECT_REFUSED(OrtGetMapRows(item, &key_part, &value_part), ORT_INVALID_ARGUMENT, "a map, not a sequence");
}

TEST(Containers, MixedSequencesAreRefused) {
  std::vector<float> data = {1};
  Value number = floats(data, {1}), string = string_tensor({"a"}), out;
  const OrtValue* parts[] = {number, string};
  EXPECT_REFUSED(api().CreateValue(parts, 2, ONNX_TYPE_SEQUENCE, out.out()), ORT_INVALID_ARGUMENT, "cannot hold one");
  EXPECT_REFUSED(api().CreateValue(parts, 0, ONNX_TYPE_SEQUENCE, out.out()), ORT_INVALID_ARGUMENT, "num_values is 0");
  EXPECT_REFUSED(api().CreateValue(parts, 2, ONNX_TYPE_OPTIONAL, out.out()), ORT_INVALID_ARGUMENT, "type 6");
}

TEST(Containers, MapsAreOrdered) {
  std::vector<int64_t> keys = {30, 10, 20};
  std::vector<float> values = {3, 1, 2};
  Value key_tensor = tensor_around(keys, {3}, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  Value value_tensor = floats(values, {3}), map, out;
  const OrtValue* parts[] = {key_tensor, value_tensor};
  ASSERT_OK(api().CreateValue(parts, 2, ONNX_TYPE_MAP, map.out()));
  size_t count = 0;
  EXPECT_OK(api().GetValueCount(map, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(api().GetValue(map, 0, default_allocator(), out.out()));
  EXPECT_EQ(content<int64_t>(out), (std::vector<int64_t>{10, 20, 30}));
  EXPECT_OK(api().GetValue(map, 1, default_allocator(), out.out()));
  EXPECT_EQ(content<float>(out), (std::vector<float>{1, 2, 3}));
  TypeInfo info, value_type;
  const OrtMapTypeInfo* map_info = nullptr;
  ONNXTensorElementDataType key_type;
  ASSERT_OK(api().GetTypeInfo(map, info.out()));
  EXPECT_OK(api().CastTypeInfoToMapTypeInfo(info, &map_info));
  EXPECT_OK(api().GetMapKeyType(map_info, &key_type));
  EXPECT_EQ(key_type, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  EXPECT_OK(api().GetMapValueType(map_info, value_type.out()));
  keys[0] = 10;
  EXPECT_REFUSED(api().CreateValue(parts, 2, ONNX_TYPE_MAP, out.out()), ORT_INVALID_ARGUMENT, "'10' stands twice");
  EXPECT_REFUSED(api().CreateValue(parts, 1, ONNX_TYPE_MAP, out.out()), ORT_INVALID_ARGUMENT, "two tensors");
  const OrtValue* wrong[] = {value_tensor, value_tensor};
  EXPECT_REFUSED(api().CreateValue(wrong, 2, ONNX_TYPE_MAP, out.out()), ORT_INVALID_ARGUMENT, "keys are of");
}

TEST(Containers, OpaqueTypesAreUnknown) {
  OrtValue* out = nullptr;
  EXPECT_REFUSED(api().CreateOpaqueValue("d", "t", nullptr, 0, &out), ORT_INVALID_ARGUMENT, "no opaque type 'd.t'");
}

TEST(Sparse, CooIsFilledAndRead) {
  const int64_t dense[] = {3, 3}, nnz[] = {2}, positions[] = {1, 8};
  const float numbers[] = {5, 6};
  Value sparse;
  ASSERT_OK(api().CreateSparseTensorAsOrtValue(default_allocator(), dense, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                               sparse.out()));
  ASSERT_OK(api().FillSparseTensorCoo(sparse, cpu_memory(), nnz, 1, numbers, positions, 2));
  int is_sparse = 0;
  OrtSparseFormat format;
  size_t count = 0;
  const void *values = nullptr, *indices = nullptr;
  EXPECT_OK(api().IsSparseTensor(sparse, &is_sparse));
  EXPECT_EQ(is_sparse, 1);
  EXPECT_OK(api().GetSparseTensorFormat(sparse, &format));
  EXPECT_EQ(format, ORT_SPARSE_COO);
  EXPECT_OK(api().GetSparseTensorValues(sparse, &values));
  EXPECT_EQ(static_cast<const float*>(values)[1], 6);
  EXPECT_OK(api().GetSparseTensorIndices(sparse, ORT_SPARSE_COO_INDICES, &count, &indices));
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(static_cast<const int64_t*>(indices)[1], 8);
  EXPECT_REFUSED(api().GetSparseTensorIndices(sparse, ORT_SPARSE_CSR_INNER_INDICES, &count, &indices),
                 ORT_INVALID_ARGUMENT, "format 1");
  TensorInfo info;
  EXPECT_OK(api().GetSparseTensorValuesTypeAndShape(sparse, info.out()));
  EXPECT_OK(api().GetSparseTensorIndicesTypeShape(sparse, ORT_SPARSE_COO_INDICES, info.out()));
  EXPECT_EQ(shape_of(sparse), (std::vector<int64_t>{3, 3}));
  const int64_t outside[] = {1, 9};
  EXPECT_REFUSED(api().FillSparseTensorCoo(sparse, cpu_memory(), nnz, 1, numbers, outside, 2), ORT_INVALID_ARGUMENT,
                 "COO position 9 is outside [0, 8]");
  void* data = nullptr;
  EXPECT_REFUSED(api().GetTensorMutableData(sparse, &data), ORT_INVALID_ARGUMENT, "a sparse tensor, not a tensor");
}

TEST(Sparse, CsrAndBlocksBorrow) {
  const int64_t dense[] = {2, 3}, nnz[] = {2};
  float numbers[] = {5, 6};
  int64_t inner[] = {0, 2}, outer[] = {0, 1, 2}, falling[] = {0, 2, 1};
  Value sparse;
  ASSERT_OK(api().CreateSparseTensorWithValuesAsOrtValue(cpu_memory(), numbers, dense, 2, nnz, 1,
                                                         ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, sparse.out()));
  ASSERT_OK(api().UseCsrIndices(sparse, inner, 2, outer, 3));
  size_t count = 0;
  const void* indices = nullptr;
  EXPECT_OK(api().GetSparseTensorIndices(sparse, ORT_SPARSE_CSR_OUTER_INDICES, &count, &indices));
  EXPECT_EQ(indices, outer);
  EXPECT_REFUSED(api().UseCsrIndices(sparse, inner, 2, falling, 3), ORT_INVALID_ARGUMENT, "CSR outer index 1");
  EXPECT_REFUSED(api().UseCsrIndices(sparse, inner, 1, outer, 3), ORT_INVALID_ARGUMENT, "not 1 and 3");
  const int64_t blocks[] = {1, 1, 2}, block_indices_shape[] = {2, 1};
  int32_t block_indices[] = {0, 1};
  Value block;
  ASSERT_OK(api().CreateSparseTensorWithValuesAsOrtValue(cpu_memory(), numbers, dense, 2, blocks, 3,
                                                         ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, block.out()));
  ASSERT_OK(api().UseBlockSparseIndices(block, block_indices_shape, 2, block_indices));
  EXPECT_OK(api().GetSparseTensorIndices(block, ORT_SPARSE_BLOCK_SPARSE_INDICES, &count, &indices));
  EXPECT_EQ(indices, block_indices);
}

TEST(Sparse, StringsAreReadLikeATensors) {
  const int64_t dense[] = {4}, nnz[] = {1}, position[] = {2};
  const char* strings[] = {"text"};
  Value sparse;
  ASSERT_OK(api().CreateSparseTensorAsOrtValue(default_allocator(), dense, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING,
                                               sparse.out()));
  ASSERT_OK(api().FillSparseTensorCoo(sparse, cpu_memory(), nnz, 1, strings, position, 1));
  size_t length = 0;
  EXPECT_OK(api().GetStringTensorElementLength(sparse, 0, &length));
  EXPECT_EQ(length, 4u);
  const void* values = nullptr;
  EXPECT_REFUSED(api().GetSparseTensorValues(sparse, &values), ORT_INVALID_ARGUMENT, "strings");
}

}  // namespace
