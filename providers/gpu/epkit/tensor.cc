// Reads tensors through the ABI.
#include "gpu/epkit/tensor.h"

#include <memory>

namespace ortolan::gpu::epkit {
namespace {

bool host_reaches(const Host& host, const OrtValue* value) {
  const OrtMemoryInfo* memory = nullptr;
  check(host, host.api->GetTensorMemoryInfo(value, &memory));
  if (host.api->MemoryInfoGetDeviceMemType(memory) == OrtDeviceMemoryType_HOST_ACCESSIBLE) return true;
  OrtMemoryInfoDeviceType device = OrtMemoryInfoDeviceType_CPU;
  host.api->MemoryInfoGetDeviceType(memory, &device);
  return device == OrtMemoryInfoDeviceType_CPU;
}

}  // namespace

Tensor tensor_of(const Host& host, const OrtValue* value) {
  Tensor tensor;
  OrtTensorTypeAndShapeInfo* made = nullptr;
  check(host, host.api->GetTensorTypeAndShape(value, &made));
  std::unique_ptr<OrtTensorTypeAndShapeInfo, decltype(host.api->ReleaseTensorTypeAndShapeInfo)> info(
      made, host.api->ReleaseTensorTypeAndShapeInfo);
  ONNXTensorElementDataType type = ONNX_TENSOR_ELEMENT_DATA_TYPE_UNDEFINED;
  check(host, host.api->GetTensorElementType(made, &type));
  tensor.type = static_cast<ElementType>(type);
  size_t rank = 0;
  check(host, host.api->GetDimensionsCount(made, &rank));
  tensor.shape.resize(rank);
  check(host, host.api->GetDimensions(made, tensor.shape.data(), rank));
  check(host, host.api->GetTensorSizeInBytes(value, &tensor.bytes));
  const void* address = nullptr;
  check(host, host.api->GetTensorData(value, &address));
  if (address == nullptr && tensor.bytes > 0) {
    fail(ORT_FAIL, "a tensor of " + std::to_string(tensor.bytes) + " bytes has no memory: its allocator had no room");
  }
  tensor.address = const_cast<void*>(address);
  tensor.reached_by_host = host_reaches(host, value);
  return tensor;
}

}  // namespace ortolan::gpu::epkit
