// Cast and CastLike: the same elements in another type. The type is attribute `to`, a name in opsets 1 to 5, or that of
// input 1. Later opsets add types, attribute saturate (19) for 8-bit floats and round_mode (24) for float8e8m0.
#include <algorithm>
#include <cctype>

#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

ElementType target_of(const Node& node) {
  if (node.opset >= 6) {
    int64_t to = node.int_of("to");
    require(to > 0 && to < kElementTypeCount, ErrorCode::kInvalidGraph, "attribute to is ", to,
            "; set it to the number of an element type, 1 to ", kElementTypeCount - 1);
    return static_cast<ElementType>(to);
  }
  std::string name = node.string_of("to");
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  ElementType type = element_type_called(name);
  require(type != ElementType::kUndefined, ErrorCode::kInvalidGraph, "attribute to is '", node.string_of("to"),
          "'; set it to the name of an element type, as 'FLOAT'");
  return type;
}

void cast_to(InferContext& context, ElementType type) {
  require(!kComplexTypes.contains(type), ErrorCode::kInvalidGraph, "elements cannot be cast to ", name_of(type),
          "; choose a type that is not complex");
  context.set_output(0, type, context.shape(0));
  bool is_index = kIndexTypes.contains(type) && kIndexTypes.contains(context.element(0));
  auto content = is_index ? context.dims(0) : std::nullopt;
  if (!content) return;
  int64_t most = type == ElementType::kInt32 ? INT32_MAX : INT64_MAX;
  if (std::ranges::all_of(*content, [&](Dim dim) { return !dim.known() || dim.value() <= most; })) {
    context.set_content(0, std::move(*content));
  }
}

void cast_shape(InferContext& context) { cast_to(context, target_of(context.node())); }

void cast_like_shape(InferContext& context) {
  if (context.element(1) != ElementType::kUndefined) cast_to(context, context.element(1));
}

constexpr TypeSet kCastTypes = kAllTypes.without(kComplexTypes);

constexpr SchemaRow kRows[] = {
    {"", "Cast", 1, kLatest, 1, 1, cast_shape, {{0, kCastTypes}}},
    {"", "CastLike", 15, kLatest, 2, 1, cast_like_shape, {{0, kCastTypes}, {1, kCastTypes}}},
};

}  // namespace

extern const SchemaTable cast_rows;
constinit const SchemaTable cast_rows(kRows);

}  // namespace ortolan::ops::onnx
