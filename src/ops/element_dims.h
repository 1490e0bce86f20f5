// Integer tensors as lists of dimensions, element by element: how shape arithmetic is followed while a model loads.
#pragma once

#include "ops/infer_context.h"

namespace ortolan::ops {

/** The elements of integer input i, unknown ones (negative numbers among them) as unknown dimensions; nothing when
    even their number is unknown or above 1024. */
std::optional<DimVector> element_dims(const InferContext& context, size_t i);
/** The length of rank-1 input i, where known. */
Dim length_of(const InferContext& context, size_t i);
/** The attribute or, where there is none, the elements of input i: axes, steps and the like, which moved from one to
    the other. Nothing when neither is known; `given` says whether there is any. */
struct IntList {
  bool given = false;
  std::optional<std::vector<int64_t>> values;
};
IntList ints_from(const InferContext& context, const char* attribute, size_t input);

}  // namespace ortolan::ops
