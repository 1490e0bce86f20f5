// OrtShapeInferContext: what a custom operator's shape function sees and says.
#include "api/operators/shape_inference.h"

#include "api/arguments.h"
#include "api/guard.h"

namespace ortolan::api {

ShapeInference::ShapeInference(ops::InferContext& context, graph::SymbolTable* symbols)
    : context(context), symbols(symbols) {
  for (size_t i = 0; i < context.input_count(); ++i) {
    inputs.push_back(std::make_unique<TensorDescription>(describe(context.input_type(i), symbols).tensor));
  }
}

OrtStatus* ORT_API_CALL ShapeInferContext_GetInputCount(const OrtShapeInferContext* context, size_t* out) noexcept {
  return guard([&] { put(out, unwrap(context, "context").inputs.size()); });
}

OrtStatus* ORT_API_CALL ShapeInferContext_GetInputTypeShape(const OrtShapeInferContext* context, size_t index,
                                                            OrtTensorTypeAndShapeInfo** info) noexcept {
  return guard([&] {
    const auto& inputs = unwrap(context, "context").inputs;
    require(index < inputs.size(), ErrorCode::kFail, "index ", index, " is out of range; the node has ", inputs.size(),
            " inputs");
    put(info, wrap<OrtTensorTypeAndShapeInfo>(inputs[index].get()), "info");
  });
}

OrtStatus* ORT_API_CALL ShapeInferContext_GetAttribute(const OrtShapeInferContext* context, const char* attr_name,
                                                       const OrtOpAttr** attr) noexcept {
  return guard([&] {
    const graph::Attribute* found =
        unwrap(context, "context").context.node().find_attribute(text(attr_name, "attr_name"));
    require(found != nullptr, ErrorCode::kFail, "the node has no attribute '", attr_name, "'");
    put(attr, wrap<const OrtOpAttr>(found), "attr");
  });
}

OrtStatus* ORT_API_CALL ShapeInferContext_SetOutputTypeShape(const OrtShapeInferContext* context, size_t index,
                                                             const OrtTensorTypeAndShapeInfo* info) noexcept {
  return guard([&] {
    const ShapeInference& inference = unwrap(context, "context");
    require(index < inference.context.output_count(), ErrorCode::kFail, "index ", index,
            " is out of range; the node has ", inference.context.output_count(), " outputs");
    inference.context.set_type(index, type_info_of(unwrap(info, "info"), inference.symbols));
  });
}

}  // namespace ortolan::api
