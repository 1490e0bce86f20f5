// Operators on sequences of tensors, and on optionals (values that may be missing).
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** What the sequence or optional in input 0 holds; unknown when its type is. */
TypeInfo contained_in(const InferContext& context) {
  const TypeInfo& type = context.input_type(0);
  return type.contained ? *type.contained : TypeInfo{};
}

void require_sequence(const InferContext& context) {
  const TypeInfo& type = context.input_type(0);
  require(!type.known() || type.kind == ValueKind::kSequence, ErrorCode::kInvalidGraph, "input 0 is ", type,
          "; it must be a sequence");
}

void sequence_empty_rule(InferContext& context) {
  int64_t type = context.node().int_or("dtype", static_cast<int64_t>(ElementType::kFloat));
  require(type > 0 && type < kElementTypeCount, ErrorCode::kInvalidGraph, "dtype ", type, " is no element type");
  context.set_type(0, TypeInfo::of_sequence(TypeInfo::of_tensor(static_cast<ElementType>(type))));
}

void sequence_construct_rule(InferContext& context) {
  TypeInfo element = context.input_type(0);
  for (size_t i = 1; i < context.input_count(); ++i) element = common(element, context.input_type(i));
  context.set_type(0, TypeInfo::of_sequence(std::move(element)));
}

void sequence_at_rule(InferContext& context) {
  require_sequence(context);
  context.set_type(0, contained_in(context));
}

void sequence_erase_rule(InferContext& context) {
  require_sequence(context);
  context.set_type(0, context.input_type(0));
}

void sequence_insert_rule(InferContext& context) {
  require_sequence(context);
  TypeInfo held = contained_in(context);
  context.set_type(0,
                   TypeInfo::of_sequence(held.known() ? common(held, context.input_type(1)) : context.input_type(1)));
}

void sequence_length_rule(InferContext& context) {
  require_sequence(context);
  context.set_output(0, ElementType::kInt64, Shape{});
}

void split_to_sequence_rule(InferContext& context) {
  SymbolicShape shape = context.shape(0);
  if (shape.has_rank()) {
    size_t axis = checked_axis(context.node().int_or("axis", 0), shape.rank());
    if (!context.has_input(1) && context.node().int_or("keepdims", 1) == 0) {
      DimVector dims = shape.dims();
      dims.erase(dims.begin() + axis);
      shape = dims;
    } else {
      shape[axis] = context.has_input(1) ? Dim{} : Dim(1);
    }
  }
  context.set_type(0, TypeInfo::of_sequence(TypeInfo::of_tensor(context.element(0), shape)));
}

void concat_from_sequence_rule(InferContext& context) {
  require_sequence(context);
  TypeInfo held = contained_in(context);
  bool new_axis = context.node().int_or("new_axis", 0) != 0;
  SymbolicShape shape;
  if (held.shape.has_rank()) {
    DimVector dims = held.shape.dims();
    size_t axis = checked_axis(context.node().int_of("axis"), dims.size() + new_axis);
    if (new_axis) dims.insert(dims.begin() + axis, Dim{});
    dims[axis] = Dim{};
    shape = dims;
  }
  context.set_output(0, held.element, shape);
}

void optional_rule(InferContext& context) {
  if (context.has_input(0)) return context.set_type(0, TypeInfo::of_optional(context.input_type(0)));
  const Attribute* type = context.node().find_attribute("type");
  const TypeInfo* held = type ? std::get_if<TypeInfo>(&type->value) : nullptr;
  require(held != nullptr, ErrorCode::kInvalidGraph, "neither an input nor attribute 'type' is given");
  context.set_type(0, held->kind == ValueKind::kOptional ? *held : TypeInfo::of_optional(*held));
}

void optional_get_element_rule(InferContext& context) {
  const TypeInfo& type = context.input_type(0);
  context.set_type(0, type.kind == ValueKind::kOptional ? contained_in(context) : type);
}

void optional_has_element_rule(InferContext& context) { context.set_output(0, ElementType::kBool, Shape{}); }

constexpr SchemaRow kRows[] = {
    {"", "SequenceEmpty", 11, kLatest, 0, 1, sequence_empty_rule},
    {"", "SequenceConstruct", 11, kLatest, {1, kVariadic}, 1, sequence_construct_rule, {{kTheRest, kAllTypes, 'T'}}},
    {"", "SequenceAt", 11, kLatest, 2, 1, sequence_at_rule, {{1, kIndexTypes}}},
    {"", "SequenceErase", 11, kLatest, {1, 2}, 1, sequence_erase_rule, {{1, kIndexTypes}}},
    {"", "SequenceInsert", 11, kLatest, {2, 3}, 1, sequence_insert_rule, {{1, kAllTypes}, {2, kIndexTypes}}},
    {"", "SequenceLength", 11, kLatest, 1, 1, sequence_length_rule},
    {"", "SplitToSequence", 11, kLatest, {1, 2}, 1, split_to_sequence_rule, {{0, kAllTypes}, {1, kIndexTypes}}},
    {"", "ConcatFromSequence", 11, kLatest, 1, 1, concat_from_sequence_rule},
    {"", "Optional", 15, kLatest, {0, 1}, 1, optional_rule},
    {"", "OptionalGetElement", 15, kLatest, 1, 1, optional_get_element_rule},
    {"", "OptionalHasElement", 15, 17, 1, 1, optional_has_element_rule},
    {"", "OptionalHasElement", 18, kLatest, {0, 1}, 1, optional_has_element_rule},
};

}  // namespace

extern const SchemaTable sequence_rows;
const SchemaTable sequence_rows(kRows);

}  // namespace ortolan::ops::onnx
