// Tensors of all types, strings, sequences, maps, optional and sparse values, and their types.
#include <algorithm>
#include <map>

#include "support.h"

namespace {

template <typename T>
class TensorOf : public testing::Test {};
using ElementTypes = testing::Types<float, double, Ort::Float16_t, Ort::BFloat16_t, int8_t, uint8_t, int16_t, uint16_t,
                                    int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(TensorOf, ElementTypes);

std::string identity_of(ONNXTensorElementDataType type) {
  const std::map<ONNXTensorElementDataType, std::string> names{
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, "float"},     {ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE, "double"},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16, "float16"}, {ONNX_TENSOR_ELEMENT_DATA_TYPE_BFLOAT16, "bfloat16"},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT8, "int8"},       {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT8, "uint8"},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT16, "int16"},     {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT16, "uint16"},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32, "int32"},     {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32, "uint32"},
      {ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, "int64"},     {ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64, "uint64"}};
  return "identity_" + names.at(type);
}

TYPED_TEST(TensorOf, GoesThroughAModel) {
  using T = TypeParam;
  constexpr ONNXTensorElementDataType type = Ort::TypeToTensorType<T>::type;
  std::vector<T> data;
  for (int i = 0; i < 6; ++i) data.push_back(T(static_cast<uint8_t>(i)));
  const Ort::Value x = tensor_over(data, {2, 3});
  EXPECT_EQ(x.GetTensorTypeAndShapeInfo().GetElementType(), type);
  EXPECT_EQ(x.GetTensorSizeInBytes(), 6 * sizeof(T));
  EXPECT_EQ(x.GetTensorRawData(), data.data());
  EXPECT_EQ(x.At<T>({1, 2}), data[5]);

  Ort::Session session = open(identity_of(type));
  const char *inputs[] = {"x"}, *outputs[] = {"y"};
  const auto results = session.Run(Ort::RunOptions{}, inputs, &x, 1, outputs, 1);
  EXPECT_EQ(elements<T>(results.at(0)), data);
  EXPECT_EQ(results[0].GetTensorTypeAndShapeInfo().GetShape(), (std::vector<int64_t>{2, 3}));
}

TEST(Tensor, OfBooleans) {
  bool data[] = {true, false};
  const int64_t shape[] = {1, 2};
  const auto x = Ort::Value::CreateTensor<bool>(cpu_memory(), data, 2, shape, 2);
  Ort::Session session = open("identity_bool");
  const char *inputs[] = {"x"}, *outputs[] = {"y"};
  auto results = session.Run(Ort::RunOptions{}, inputs, &x, 1, outputs, 1);
  EXPECT_TRUE(results[0].At<bool>({0, 0}) && !results[0].At<bool>({0, 1}));
}

TEST(Tensor, FromAnAllocator) {
  Ort::AllocatorWithDefaultOptions allocator;
  const int64_t shape[] = {2, 2};
  auto tensor = Ort::Value::CreateTensor<int32_t>(allocator, shape, 2);
  int32_t* data = tensor.GetTensorMutableData<int32_t>();
  std::fill(data, data + 4, 7);
  tensor.At<int32_t>({1, 0}) = 8;
  EXPECT_EQ(data[2], 8);
  EXPECT_EQ(tensor.GetTensorMutableRawData(), data);
  EXPECT_EQ(tensor.GetTensorMemoryInfo().GetAllocatorName(), "Cpu");
  EXPECT_EQ(tensor.GetTensorMemoryInfo().GetDeviceType(), OrtMemoryInfoDeviceType_CPU);
  EXPECT_TRUE(tensor.IsTensor() && tensor.HasValue() && !tensor.IsSparseTensor());
  ONNXTensorElementDataType type{};
  Ort::Value::Shape view{};
  tensor.GetTensorElementTypeAndShapeDataReference(type, view);
  EXPECT_EQ(type, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT32);
  EXPECT_EQ(std::vector<int64_t>(view.shape, view.shape + view.shape_len), (std::vector<int64_t>{2, 2}));
  expect_error(ORT_INVALID_ARGUMENT, "index 2 is outside [0, 1]", [&] {
    static_cast<void>(tensor.At<int32_t>({2, 0}));
  });
}

TEST(Tensor, FreesMemoryThatItWasGiven) {
  struct Counting : OrtAllocator {
    Ort::MemoryInfo info = cpu_memory();
    int freed = 0;
    Counting() : OrtAllocator{} {
      version = ORT_API_VERSION;
      OrtAllocator::Alloc = [](OrtAllocator*, size_t size) { return std::malloc(size); };
      OrtAllocator::Free = [](OrtAllocator* self, void* p) {
        ++static_cast<Counting*>(self)->freed;
        std::free(p);
      };
      OrtAllocator::Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* {
        return static_cast<const Counting*>(self)->info;
      };
    }
  } counting;
  const int64_t three = 3;
  {
    auto tensor =
        Ort::Value::CreateTensor(&counting, std::malloc(12), 12, &three, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
    tensor.At<float>({2}) = 1;
    EXPECT_EQ(counting.freed, 0);
  }
  EXPECT_EQ(counting.freed, 1);
}

Ort::Value string_tensor(const std::vector<const char*>& words) {
  Ort::AllocatorWithDefaultOptions allocator;
  const int64_t shape[] = {1, static_cast<int64_t>(words.size())};
  auto value = Ort::Value::CreateTensor(allocator, shape, 2, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  value.FillStringTensor(words.data(), words.size());
  return value;
}

TEST(Strings, InEveryWay) {
  auto x = string_tensor({"Käse", "", "brot"});
  x.FillStringTensorElement("Brötchen", 2);
  std::memcpy(x.GetResizedStringTensorElementBuffer(1, 4), "a\0bc", 4);
  EXPECT_EQ(x.GetStringTensorElementLength(0), 5u);
  EXPECT_EQ(x.GetStringTensorElement(1), std::string("a\0bc", 4));
  EXPECT_EQ(x.GetStringTensorDataLength(), 5u + 4 + 9);

  Ort::Session session = open("identity_string");
  const char *inputs[] = {"x"}, *outputs[] = {"y"};
  const auto y = session.Run(Ort::RunOptions{}, inputs, &x, 1, outputs, 1);
  std::string all(y[0].GetStringTensorDataLength(), '\0');
  std::vector<size_t> offsets(3);
  y[0].GetStringTensorContent(all.data(), all.size(), offsets.data(), offsets.size());
  EXPECT_EQ(all.substr(offsets[0], offsets[1]), "Käse");
  EXPECT_EQ(all.substr(offsets[2]), "Brötchen");
  char buffer[9];
  y[0].GetStringTensorElement(sizeof(buffer), 2, buffer);
  EXPECT_EQ(std::string(buffer, 9), "Brötchen");
  EXPECT_TRUE(std::is_sorted(offsets.begin(), offsets.end()));
}

TEST(Sequence, GoesInAndOut) {
  std::vector<float> a{1, 2}, b{3};
  std::vector<Ort::Value> parts;
  parts.push_back(tensor_over(a));
  parts.push_back(tensor_over(b));
  Ort::AllocatorWithDefaultOptions allocator;
  const auto sequence = Ort::Value::CreateSequence(parts);
  EXPECT_EQ(sequence.GetCount(), 2u);
  EXPECT_FALSE(sequence.IsTensor());
  EXPECT_EQ(elements<float>(sequence.GetValue(1, allocator)), b);
  EXPECT_EQ(sequence.GetTypeInfo().GetONNXType(), ONNX_TYPE_SEQUENCE);
  const Ort::TypeInfo type = sequence.GetTypeInfo();
  EXPECT_EQ(type.GetSequenceTypeInfo().GetSequenceElementType().GetONNXType(), ONNX_TYPE_TENSOR);

  Ort::Session counter = open("sequence_length");
  const char *s[] = {"s"}, *length[] = {"length"};
  EXPECT_EQ(counter.Run(Ort::RunOptions{}, s, &sequence, 1, length, 1)[0].At<int64_t>({}), 2);

  Ort::Session session = open("sequence");
  const char *inputs[] = {"a", "b"}, *outputs[] = {"pair", "second"};
  const auto results = session.Run(Ort::RunOptions{}, inputs, parts.data(), 2, outputs, 2);
  EXPECT_EQ(results[0].GetCount(), 2u);
  EXPECT_EQ(elements<float>(results[0].GetValue(0, allocator)), a);
  EXPECT_EQ(elements<float>(results[1]), b);
}

TEST(Map, GoesInAndOut) {
  Ort::AllocatorWithDefaultOptions allocator;
  const int64_t two = 2;
  auto keys = Ort::Value::CreateTensor(allocator, &two, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  const char* words[] = {"bird", "cat"};
  keys.FillStringTensor(words, 2);
  std::vector<float> numbers{5, 7};
  const auto map = Ort::Value::CreateMap(keys, tensor_over(numbers));
  EXPECT_EQ(map.GetCount(), 2u);
  Ort::Session session = open("map_to_vector");
  const Ort::TypeInfo wanted = session.GetInputTypeInfo(0);
  EXPECT_EQ(wanted.GetONNXType(), ONNX_TYPE_MAP);
  EXPECT_EQ(wanted.GetMapTypeInfo().GetMapKeyType(), ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING);
  const Ort::TypeInfo number = wanted.GetMapTypeInfo().GetMapValueType();
  EXPECT_EQ(number.GetTensorTypeAndShapeInfo().GetElementType(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  const char *inputs[] = {"words"}, *outputs[] = {"vector"};
  const auto vector = session.Run(Ort::RunOptions{}, inputs, &map, 1, outputs, 1);
  EXPECT_EQ(elements<float>(vector[0]), (std::vector<float>{7, 0, 5}));

  Ort::Session zip = open("zip_map_numbers");
  std::vector<float> rows{1, 2, 3, 4, 5, 6};
  const auto x = tensor_over(rows, {2, 3});
  const char *zip_inputs[] = {"x"}, *zip_outputs[] = {"maps"};
  const auto maps = zip.Run(Ort::RunOptions{}, zip_inputs, &x, 1, zip_outputs, 1);
  ASSERT_EQ(maps[0].GetCount(), 2u);
  const Ort::Value second = maps[0].GetValue(1, allocator);
  EXPECT_EQ(second.GetTypeInfo().GetONNXType(), ONNX_TYPE_MAP);
  EXPECT_EQ(elements<int64_t>(second.GetValue(0, allocator)), (std::vector<int64_t>{10, 20, 30}));
  EXPECT_EQ(elements<float>(second.GetValue(1, allocator)), (std::vector<float>{4, 5, 6}));
}

TEST(Optional, TypeOfInput) {
  Ort::Session session = open("optional");
  const Ort::TypeInfo type = session.GetInputTypeInfo(0);
  EXPECT_EQ(type.GetONNXType(), ONNX_TYPE_OPTIONAL);
  const Ort::TypeInfo inner = type.GetOptionalTypeInfo().GetOptionalElementType();
  EXPECT_EQ(inner.GetTensorTypeAndShapeInfo().GetElementType(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
}

struct Sparse : testing::Test {
  std::vector<int64_t> dense{3, 3}, three{3};
  std::vector<float> values{1, 2, 3};
  Ort::Value::Shape dense_shape{dense.data(), dense.size()}, values_shape{three.data(), three.size()};
  Ort::Value::OrtSparseValuesParam parameter{three.data(), three.size(), {values.data()}};
  Ort::MemoryInfo memory = cpu_memory();

  void expect_values(const Ort::Value& tensor, OrtSparseFormat format) {
    EXPECT_TRUE(tensor.IsSparseTensor());
    EXPECT_EQ(tensor.GetSparseFormat(), format);
    EXPECT_EQ(tensor.GetTensorTypeAndShapeInfo().GetShape(), dense);
    EXPECT_EQ(tensor.GetSparseTensorValuesTypeAndShapeInfo().GetShape(), three);
    const float* stored = tensor.GetSparseTensorValues<float>();
    EXPECT_EQ(std::vector<float>(stored, stored + 3), values);
  }
};

TEST_F(Sparse, CoordinatesOfTheCaller) {
  std::vector<int64_t> indices{0, 4, 8};
  auto tensor = Ort::Value::CreateSparseTensor<float>(memory, values.data(), dense_shape, values_shape);
  tensor.UseCooIndices(indices.data(), indices.size());
  expect_values(tensor, ORT_SPARSE_COO);
  size_t count = 0;
  EXPECT_EQ(tensor.GetSparseTensorIndicesData<int64_t>(ORT_SPARSE_COO_INDICES, count), indices.data());
  EXPECT_EQ(count, 3u);
  EXPECT_EQ(tensor.GetSparseTensorIndicesTypeShapeInfo(ORT_SPARSE_COO_INDICES).GetElementType(),
            ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
}

TEST_F(Sparse, CoordinatesCopied) {
  const std::vector<int64_t> indices{0, 0, 1, 1, 2, 2};
  Ort::AllocatorWithDefaultOptions allocator;
  auto tensor = Ort::Value::CreateSparseTensor<float>(allocator, dense_shape);
  tensor.FillSparseTensorCoo(memory, parameter, indices.data(), indices.size());
  expect_values(tensor, ORT_SPARSE_COO);
  EXPECT_NE(tensor.GetSparseTensorValues<float>(), values.data());
}

TEST_F(Sparse, Rows) {
  std::vector<int64_t> inner{0, 1, 2}, outer{0, 1, 2, 3};
  auto used = Ort::Value::CreateSparseTensor(memory, values.data(), dense_shape, values_shape,
                                             ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  used.UseCsrIndices(inner.data(), inner.size(), outer.data(), outer.size());
  expect_values(used, ORT_SPARSE_CSRC);
  Ort::AllocatorWithDefaultOptions allocator;
  auto filled = Ort::Value::CreateSparseTensor(allocator, dense_shape, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
  filled.FillSparseTensorCsr(memory, parameter, inner.data(), inner.size(), outer.data(), outer.size());
  expect_values(filled, ORT_SPARSE_CSRC);
  size_t count = 0;
  const int64_t* rows = filled.GetSparseTensorIndicesData<int64_t>(ORT_SPARSE_CSR_OUTER_INDICES, count);
  EXPECT_EQ(std::vector<int64_t>(rows, rows + count), outer);
}

TEST_F(Sparse, Blocks) {
  three = {3, 1, 1};
  values_shape = {three.data(), three.size()};
  parameter.values_shape_len = three.size();
  parameter.values_shape = three.data();
  const std::vector<int64_t> indices_shape{2, 3};
  std::vector<int32_t> indices{0, 0, 0, 0, 1, 2};
  const Ort::Value::Shape shape{indices_shape.data(), indices_shape.size()};
  Ort::AllocatorWithDefaultOptions allocator;
  auto filled = Ort::Value::CreateSparseTensor<float>(allocator, dense_shape);
  filled.FillSparseTensorBlockSparse(memory, parameter, shape, indices.data());
  expect_values(filled, ORT_SPARSE_BLOCK_SPARSE);
  auto used = Ort::Value::CreateSparseTensor<float>(memory, values.data(), dense_shape, values_shape);
  used.UseBlockSparseIndices(shape, indices.data());
  expect_values(used, ORT_SPARSE_BLOCK_SPARSE);
}

TEST(Types, AreBuilt) {
  const std::vector<std::string> names{"batch", ""};
  Ort::TensorTypeAndShapeInfo tensor(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, {-1, 4}, &names);
  EXPECT_EQ(tensor.GetShape(), (std::vector<int64_t>{-1, 4}));
  EXPECT_STREQ(tensor.GetSymbolicDimensions().at(0), "batch");
  EXPECT_EQ(tensor.GetDimensionsCount(), 2u);
  EXPECT_TRUE(tensor.HasShape());
  EXPECT_EQ(tensor.GetElementCount(), SIZE_MAX);

  const auto type = Ort::TypeInfo::CreateTensorInfo(tensor.GetConst());
  EXPECT_EQ(type.GetONNXType(), ONNX_TYPE_TENSOR);
  EXPECT_EQ(Ort::TypeInfo::CreateSparseTensorInfo(tensor.GetConst()).GetONNXType(), ONNX_TYPE_SPARSETENSOR);
  const auto sequence = Ort::TypeInfo::CreateSequenceTypeInfo(type.GetConst());
  const auto map = Ort::TypeInfo::CreateMapTypeInfo(ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, sequence.GetConst());
  const auto optional = Ort::TypeInfo::CreateOptionalTypeInfo(map.GetConst());
  const Ort::TypeInfo inner = optional.GetOptionalTypeInfo().GetOptionalElementType();
  EXPECT_EQ(inner.GetMapTypeInfo().GetMapKeyType(), ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64);
  EXPECT_EQ(inner.GetMapTypeInfo().GetMapValueType().GetONNXType(), ONNX_TYPE_SEQUENCE);
  EXPECT_EQ(inner.GetTensorTypeAndShapeInfo(), nullptr);
}

TEST(Opaque, TypesOfNobodyFail) {
  struct Data {
    int number;
  };
  expect_error(ORT_INVALID_ARGUMENT, "domain.Type", [] { Ort::Value::CreateOpaque("domain", "Type", Data{1}); });
}

}  // namespace
