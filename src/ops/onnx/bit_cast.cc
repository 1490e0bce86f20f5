// BitCast: the same bits as elements of another type of the same width.
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

void bit_cast(InferContext& context) {
  int64_t to = context.node().int_of("to");
  require(to > 0 && to < kElementTypeCount && to != static_cast<int64_t>(ElementType::kString),
          ErrorCode::kInvalidGraph, "attribute to is ", to,
          "; set it to the number of an element type that is no string");
  auto type = static_cast<ElementType>(to);
  ElementType from = context.element(0);
  require(from == ElementType::kUndefined || bits_of(from) == bits_of(type), ErrorCode::kInvalidGraph, name_of(from),
          " has ", from == ElementType::kUndefined ? 0 : bits_of(from), " bits and ", name_of(type), " has ",
          bits_of(type), "; BitCast needs types of the same width");
  context.set_output(0, type, context.shape(0));
}

constexpr TypeSet kBitTypes = kAllTypes.without(ElementType::kString);

constexpr SchemaRow kRows[] = {{"", "BitCast", 26, kLatest, 1, 1, bit_cast, {{0, kBitTypes}}}};

}  // namespace

extern const SchemaTable bit_cast_rows;
constinit const SchemaTable bit_cast_rows(kRows);

}  // namespace ortolan::ops::onnx
