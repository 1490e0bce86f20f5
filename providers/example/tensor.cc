// Reads tensors and kernel contexts through the ABI; multiplies and adds with broadcasting.
#include "tensor.h"

#include <algorithm>
#include <cstring>

namespace ortolan::example {
namespace {

/** For each dimension of `out`, how far apart its elements are in `shape`: 0 where it broadcasts. */
std::vector<size_t> strides(const Shape& shape, const Shape& out) {
  std::vector<size_t> result(out.size(), 0);
  size_t step = 1;
  for (size_t back = 1; back <= shape.size(); back++) {
    int64_t dim = shape[shape.size() - back];
    if (dim != 1) result[out.size() - back] = step;
    step *= static_cast<size_t>(dim);
  }
  return result;
}

/** The position in a tensor of an element of the output. */
size_t position(size_t index, const Shape& out, const std::vector<size_t>& strides) {
  size_t result = 0;
  for (size_t axis = out.size(); axis-- > 0;) {
    auto dim = static_cast<size_t>(out[axis]);
    result += index % dim * strides[axis];
    index /= dim;
  }
  return result;
}

/** What runs on the device. */
void compute_now(Device& device, Operation operation, const Tensor& left, const Tensor& right, const Tensor& out) {
  auto* a = reinterpret_cast<const float*>(device.memory(left.address, left.bytes));
  auto* b = reinterpret_cast<const float*>(device.memory(right.address, right.bytes));
  auto* c = reinterpret_cast<float*>(device.memory(out.address, out.bytes));
  std::vector<size_t> a_strides = strides(left.shape, out.shape), b_strides = strides(right.shape, out.shape);
  size_t count = element_count(out.shape);
  for (size_t i = 0; i < count; i++) {
    float x = a[position(i, out.shape, a_strides)], y = b[position(i, out.shape, b_strides)];
    c[i] = operation == Operation::kMul ? x * y : x + y;
  }
}

std::string text_of(const Shape& shape) {
  std::string text;
  for (int64_t dim : shape) text += (text.empty() ? "" : ",") + std::to_string(dim);
  return "[" + text + "]";
}

}  // namespace

size_t element_count(const Shape& shape) {
  size_t count = 1;
  for (int64_t dim : shape) count *= static_cast<size_t>(dim);
  return count;
}

Shape broadcast(const Shape& left, const Shape& right) {
  Shape result(std::max(left.size(), right.size()), 1);
  for (size_t back = 1; back <= result.size(); back++) {
    int64_t a = back <= left.size() ? left[left.size() - back] : 1;
    int64_t b = back <= right.size() ? right[right.size() - back] : 1;
    if (a != b && a != 1 && b != 1) {
      fail(ORT_INVALID_ARGUMENT, "shapes " + text_of(left) + " and " + text_of(right) + " do not broadcast");
    }
    result[result.size() - back] = a == 1 ? b : a;
  }
  return result;
}

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
  OrtTensorTypeAndShapeInfo* info = nullptr;
  check(host, host.api->GetTensorTypeAndShape(value, &info));
  std::unique_ptr<OrtTensorTypeAndShapeInfo, decltype(host.api->ReleaseTensorTypeAndShapeInfo)> owner(
      info, host.api->ReleaseTensorTypeAndShapeInfo);
  size_t rank = 0;
  check(host, host.api->GetDimensionsCount(info, &rank));
  tensor.shape.resize(rank);
  check(host, host.api->GetDimensions(info, tensor.shape.data(), rank));
  check(host, host.api->GetTensorSizeInBytes(value, &tensor.bytes));
  const void* address = nullptr;
  check(host, host.api->GetTensorData(value, &address));
  // Not every runtime looks whether an allocator had room.
  if (!address && tensor.bytes > 0)
    fail(ORT_FAIL, "a tensor of " + std::to_string(tensor.bytes) + " bytes has no memory");
  tensor.address = const_cast<void*>(address);
  tensor.reached_by_host = host_reaches(host, value);
  return tensor;
}

void submit(Device& device, Queue* queue, Queue::Work work) {
  if (queue) return queue->enqueue(std::move(work));
  device.finish();
  work();
}

void compute(Device& device, Queue* queue, Operation operation, const Tensor& left, const Tensor& right,
             const Tensor& out) {
  if (out.bytes == 0) return;
  submit(device, queue, [=, &device] { compute_now(device, operation, left, right, out); });
}

Queue* queue_of(const Host& host, Device& device, const OrtKernelContext* context) {
  void* handle = nullptr;
  check(host, host.api->KernelContext_GetGPUComputeStream(context, &handle));
  return device.find_queue(handle);
}

Tensor input_of(const Host& host, const OrtKernelContext* context, size_t index) {
  const OrtValue* value = nullptr;
  check(host, host.api->KernelContext_GetInput(context, index, &value));
  if (!value) fail(ORT_INVALID_ARGUMENT, "input " + std::to_string(index) + " is missing");
  return tensor_of(host, value);
}

Tensor output_of(const Host& host, OrtKernelContext* context, size_t index, const Shape& shape) {
  OrtValue* value = nullptr;
  check(host, host.api->KernelContext_GetOutput(context, index, shape.data(), shape.size(), &value));
  return tensor_of(host, value);
}

Tensor new_tensor(Device& device, const Shape& shape) {
  Tensor tensor{shape, nullptr, element_count(shape) * sizeof(float)};
  tensor.owner = std::make_shared<Buffer>(device, tensor.bytes);
  tensor.address = tensor.owner->address();
  return tensor;
}

Tensor on_device(Device& device, Queue* queue, const Tensor& tensor) {
  if (tensor.bytes == 0 || device.holds(tensor.address)) return tensor;
  if (!tensor.reached_by_host) fail(ORT_INVALID_ARGUMENT, "a tensor is in memory of another device");
  note(Event::kHostTensor);
  Tensor copy = new_tensor(device, tensor.shape);
  auto* bytes = static_cast<const std::byte*>(tensor.address);
  std::vector<std::byte> staged(bytes, bytes + tensor.bytes);
  submit(device, queue, [&device, copy, staged = std::move(staged)] {
    std::memcpy(device.memory(copy.address, copy.bytes), staged.data(), staged.size());
  });
  return copy;
}

}  // namespace ortolan::example
