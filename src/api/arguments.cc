// Element type numbers at the border of the API.
#include "api/arguments.h"

namespace ortolan::api {
namespace {

// The header's number of each of our types that does not have ONNX's number there.
struct Exception {
  ElementType core;
  ONNXTensorElementDataType api;
};
constexpr Exception kExceptions[] = {{ElementType::kUInt2, ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT2},
                                     {ElementType::kInt2, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT2},
                                     {ElementType::kFloat8E8M0, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT8E8M0}};

}  // namespace

ElementType element_type_from_api(ONNXTensorElementDataType type) {
  for (const Exception& exception : kExceptions) {
    if (exception.api == type) return exception.core;
  }
  int number = static_cast<int>(type);
  require(number > 0 && number < kElementTypeCount, ErrorCode::kInvalidArgument, "element type ", number,
          " is none of ONNXTensorElementDataType's types (1 to ", kElementTypeCount - 1, ")");
  return static_cast<ElementType>(number);
}

ONNXTensorElementDataType element_type_to_api(ElementType type) {
  for (const Exception& exception : kExceptions) {
    if (exception.core == type) return exception.api;
  }
  return static_cast<ONNXTensorElementDataType>(type);
}

}  // namespace ortolan::api
