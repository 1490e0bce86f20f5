// Behind OrtShapeInferContext: one question to a custom operator's shape function.
#pragma once

#include <memory>
#include <vector>

#include "api/values/type_descriptions.h"
#include "ops/infer_context.h"

namespace ortolan::api {

struct ShapeInference {
  /** `symbols` takes the names that the operator gives to dimensions; NULL where they must stay without. */
  ShapeInference(ops::InferContext& context, graph::SymbolTable* symbols);

  ops::InferContext& context;
  graph::SymbolTable* symbols;
  std::vector<std::unique_ptr<TensorDescription>> inputs;  // what the caller borrows
};

}  // namespace ortolan::api
