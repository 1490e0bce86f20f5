// Operators that select or find elements: OneHot, NonZero, Compress, Unique, TopK (K an attribute before opset 10;
// largest and sorted from 11).
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

constexpr TypeSet kCounts = kFloat32And64 | kHalfTypes | kIntegerTypes;

/** The depth of OneHot, from a scalar or one-element tensor of any numeric type. */
Dim depth_of(const InferContext& context) {
  const Tensor* value = context.value(1);
  if (value == nullptr) {
    auto dims = element_dims(context, 1);
    return dims && dims->size() == 1 ? (*dims)[0] : Dim{};
  }
  require(value->element_count() == 1, ErrorCode::kInvalidArgument, "depth has shape ", value->shape(),
          "; it must hold one element");
  return dispatch<kCounts>(value->type(), [&]<class T>(TypeTag<T>) {
    using C = std::conditional_t<kHalfTypes.contains(kTypeOf<T>), float, T>;
    auto depth = static_cast<double>(static_cast<C>(*value->data<T>()));
    require(depth >= 1 && depth <= 1e15, ErrorCode::kInvalidArgument, "depth is ", depth, "; it must be positive");
    return Dim(static_cast<int64_t>(depth));
  });
}

void one_hot_rule(InferContext& context) {
  const SymbolicShape& indices = context.shape(0);
  Dim depth = depth_of(context);
  context.require_rank(2, 1, 1);
  require(!context.has_shape(2) || !context.shape(2)[0].known() || context.shape(2)[0].is(2),
          ErrorCode::kInvalidArgument, "values has shape ", context.shape(2),
          "; it must hold two elements, off and on");
  if (!indices.has_rank()) return context.set_output(0, context.element(2), {});
  DimVector dims = indices.dims();
  dims.insert(dims.begin() + checked_axis(context.node().int_or("axis", -1), dims.size() + 1), depth);
  context.set_output(0, context.element(2), dims);
}

void non_zero_rule(InferContext& context) {
  Dim rank = context.has_shape(0) ? Dim(static_cast<int64_t>(context.shape(0).rank())) : Dim{};
  context.set_output(0, ElementType::kInt64, DimVector{rank, Dim{}});
}

void compress_rule(InferContext& context) {
  context.require_rank(1, 1, 1);
  if (!context.node().has_attribute("axis")) return context.set_output(0, context.element(0), DimVector{Dim{}});
  SymbolicShape shape = context.shape(0);
  if (shape.has_rank()) shape[checked_axis(context.node().int_of("axis"), shape.rank())] = Dim{};
  context.set_output(0, context.element(0), shape);
}

void unique_rule(InferContext& context) {
  SymbolicShape shape = DimVector{Dim{}};
  Dim items;
  if (context.node().has_attribute("axis")) {
    shape = context.shape(0);
    if (shape.has_rank()) {
      Dim& along = shape[checked_axis(context.node().int_of("axis"), shape.rank())];
      items = along;
      along = Dim{};
    }
  } else if (context.has_shape(0)) {
    items = context.shape(0).element_count();
  }
  context.set_output(0, context.element(0), shape);
  context.set_output(1, ElementType::kInt64, DimVector{Dim{}});
  context.set_output(2, ElementType::kInt64, DimVector{items});
  context.set_output(3, ElementType::kInt64, DimVector{Dim{}});
}

/** Of a list, in the order of first sight; the outputs are ONNX's but the second. */
void microsoft_unique_rule(InferContext& context) {
  context.require_rank(0, 1, 1);
  context.set_output(0, context.element(0), DimVector{Dim{}});
  context.set_output(1, ElementType::kInt64, context.shape(0));
  context.set_output(2, ElementType::kInt64, DimVector{Dim{}});
}

Dim wanted_count(const InferContext& context) {
  if (context.opset() < 10) return context.node().int_of("k");
  if (auto values = context.int64s(1)) {
    require(values->size() == 1, ErrorCode::kInvalidArgument, "K has ", values->size(), " elements; it must have one");
    require((*values)[0] >= 0, ErrorCode::kInvalidArgument, "K is ", (*values)[0], "; it must not be negative");
    return (*values)[0];
  }
  auto dims = element_dims(context, 1);
  return dims && dims->size() == 1 ? (*dims)[0] : Dim{};
}

void top_k_rule(InferContext& context) {
  Dim count = wanted_count(context);
  SymbolicShape shape = context.shape(0);
  if (shape.has_rank()) {
    Dim& along = shape[checked_axis(context.node().int_or("axis", -1), shape.rank())];
    require(!count.known() || !along.known() || count.value() <= along.value(), ErrorCode::kInvalidArgument, "K is ",
            count.value(), ", but the axis has only ", along.value(), " elements");
    along = count;
  }
  context.set_output(0, context.element(0), shape);
  context.set_output(1, ElementType::kInt64, shape);
}

constexpr SchemaRow kRows[] = {
    {"", "OneHot", 9, kLatest, 3, 1, one_hot_rule, {{0, kCounts}, {1, kCounts}, {2, kAllTypes}}},
    {"", "NonZero", 9, kLatest, 1, 1, non_zero_rule, {{0, kAllTypes}}},
    {"", "Compress", 9, kLatest, 2, 1, compress_rule, {{0, kAllTypes}, {1, ElementType::kBool}}},
    {"", "Unique", 11, kLatest, 1, {1, 4}, unique_rule, {{0, kAllTypes}}},
    {"com.microsoft", "Unique", 1, kLatest, 1, {1, 3}, microsoft_unique_rule, {{0, kAllTypes}}},
    {"", "TopK", 1, 9, 1, 2, top_k_rule, {{0, kNumericTypes}}},
    {"", "TopK", 10, kLatest, 2, 2, top_k_rule, {{0, kNumericTypes}, {1, ElementType::kInt64}}},
};

}  // namespace

extern const SchemaTable selection_rows;
const SchemaTable selection_rows(kRows);

}  // namespace ortolan::ops::onnx
