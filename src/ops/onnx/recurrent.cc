// RNN, GRU and LSTM; com.microsoft's AttnLSTM, an LSTM that attends to a memory between its steps, and its LSTM of byte
// weights. Versions differ in types, in attribute `layout` (opset 14), in `linear_before_reset` (opset 3).
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

int64_t direction_count(const Node& node) {
  std::string_view direction = node.string_or("direction", "forward");
  bool known = direction == "forward" || direction == "reverse" || direction == "bidirectional";
  require(known, ErrorCode::kInvalidGraph, "direction is '", direction,
          "'; it must be forward, reverse or bidirectional");
  return direction == "bidirectional" ? 2 : 1;
}

Dim hidden_size(const InferContext& context) {
  if (const Attribute* attribute = context.node().find_attribute("hidden_size"); attribute != nullptr) {
    int64_t size = context.node().int_of("hidden_size");
    require(size > 0, ErrorCode::kInvalidGraph, "hidden_size is ", size, "; it must be positive");
    return size;
  }
  bool bytes = context.node().op_type == "DynamicQuantizeLSTM";  // weights of bytes are the other way round
  return context.has_shape(2) ? context.shape(2)[bytes ? 1 : 2] : Dim();
}

void recurrent(InferContext& context) {
  for (size_t i : {0, 1, 2}) context.require_rank(i, 3, 3);
  int64_t layout = context.node().int_or("layout", 0);
  require(layout == 0 || layout == 1, ErrorCode::kInvalidGraph, "layout is ", layout, "; it must be 0 or 1");
  Dim sequence, batch, hidden = hidden_size(context), directions = direction_count(context.node());
  if (context.has_shape(0)) {
    sequence = context.shape(0)[layout];
    batch = context.shape(0)[1 - layout];
  }
  DimVector all =
      layout ? DimVector{batch, sequence, directions, hidden} : DimVector{sequence, directions, batch, hidden};
  DimVector last = layout ? DimVector{batch, directions, hidden} : DimVector{directions, batch, hidden};
  context.set_output(0, context.element(0), all);
  context.set_output(1, context.element(0), last);
  context.set_output(2, context.element(0), last);
}

/** Inputs 3 to 7 may be left out, those after them may not. */
void recurrent_of_bytes(InferContext& context) {
  for (size_t i : {8, 9, 10, 11}) {
    require(context.has_input(i), ErrorCode::kInvalidGraph, "required input ", i, " is left out; connect it");
  }
  recurrent(context);
}

constexpr SchemaRow kRows[] = {
    {"", "RNN", 1, kLatest, {3, 6}, {0, 2}, recurrent, {{4, ElementType::kInt32}, {kTheRest, kFloatTypes, 'T'}}},
    {"", "GRU", 1, kLatest, {3, 6}, {0, 2}, recurrent, {{4, ElementType::kInt32}, {kTheRest, kFloatTypes, 'T'}}},
    {"", "LSTM", 1, kLatest, {3, 8}, {0, 3}, recurrent, {{4, ElementType::kInt32}, {kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft",
     "AttnLSTM",
     1,
     kLatest,
     {3, 14},
     {0, 3},
     recurrent,
     {{0, kFloatTypes, 'T'}, {4, ElementType::kInt32}, {12, ElementType::kInt32}, {kTheRest, kFloatTypes, 'T'}}},
    {"com.microsoft",
     "DynamicQuantizeLSTM",
     1,
     kLatest,
     {3, 12},
     {0, 3},
     recurrent_of_bytes,
     {{0, ElementType::kFloat},
      {1, kByteTypes},
      {2, kByteTypes},
      {4, ElementType::kInt32},
      {kTheRest, kByteTypes | ElementType::kFloat}}},
};

}  // namespace

extern const SchemaTable recurrent_rows;
const SchemaTable recurrent_rows(kRows);
}  // namespace ortolan::ops::onnx
