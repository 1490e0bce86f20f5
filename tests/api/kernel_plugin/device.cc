// The runtime's functions, the counters, the memory, and views of values.
#include "device.h"

namespace kernel_plugin {

const OrtApi* api;
const OrtEpApi* ep_api;
KernelCounters counters;

Device& device() {
  static Device device;
  return device;
}

OrtStatus* view_of(const OrtValue* value, View* view) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  TRY(api->GetTensorTypeAndShape(value, &info));
  size_t rank = 0;
  OrtStatus* status = api->GetDimensionsCount(info, &rank);
  view->shape.resize(rank);
  if (status == nullptr) status = api->GetDimensions(info, view->shape.data(), rank);
  api->ReleaseTensorTypeAndShapeInfo(info);
  if (status == nullptr) status = api->GetTensorSizeInBytes(value, &view->bytes);
  const void* data = nullptr;
  if (status == nullptr) status = api->GetTensorData(value, &data);
  view->data = const_cast<void*>(data);
  return status;
}

}  // namespace kernel_plugin
