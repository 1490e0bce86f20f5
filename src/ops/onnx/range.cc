// Range gives start, start + delta, … up to but not including limit. In com.microsoft delta may be left
// out; it is 1 then.
#include <cmath>

#include "ops/element_dims.h"

namespace ortolan::ops::onnx {
namespace {

constexpr TypeSet kRangeTypes = kFloatTypes | ElementType::kInt16 | ElementType::kInt32 | ElementType::kInt64;

/** The number of elements; throws for a delta of 0, or for a count beyond any tensor. */
template <class T>
int64_t range_count(T start, T limit, T delta) {
  using Wide = std::conditional_t<std::is_integral_v<T>, __int128, double>;
  auto distance = static_cast<Wide>(limit) - static_cast<Wide>(start);
  auto step = static_cast<Wide>(delta);
  require(step != 0, ErrorCode::kInvalidArgument, "delta is 0; it must not be 0");
  Wide count;
  if constexpr (std::is_integral_v<T>) {
    count = distance / step + (distance % step != 0 && (distance < 0) == (step < 0));
  } else {
    count = std::ceil(distance / step);
    require(!std::isnan(count), ErrorCode::kInvalidArgument, "start, limit or delta is not a number");
  }
  require(count <= static_cast<Wide>(int64_t{1} << 60), ErrorCode::kInvalidArgument,
          "the range has too many elements; choose a larger delta");
  return count > 0 ? static_cast<int64_t>(count) : 0;
}

Dim known_count(const InferContext& context) {
  const Tensor* bounds[3] = {context.value(0), context.value(1), context.value(2)};
  for (size_t i = 0; i < 3; ++i) {
    if (i == 2 && !context.has_input(i)) continue;
    if (bounds[i] == nullptr) return {};
    require(bounds[i]->element_count() == 1, ErrorCode::kInvalidArgument, "input ", i, " has shape ",
            bounds[i]->shape(), "; it must be a scalar");
  }
  return dispatch<kRangeTypes>(bounds[0]->type(), [&]<class T>(TypeTag<T>) {
    using C = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, T, float>;
    return Dim(range_count(static_cast<C>(*bounds[0]->data<T>()), static_cast<C>(*bounds[1]->data<T>()),
                           bounds[2] ? static_cast<C>(*bounds[2]->data<T>()) : C(1)));
  });
}

void range_rule(InferContext& context) {
  Dim count = known_count(context);
  auto start = element_dims(context, 0), limit = element_dims(context, 1), delta = element_dims(context, 2);
  bool from_zero = start && start->size() == 1 && (*start)[0].is(0);
  bool by_one = !context.has_input(2) || (delta && delta->size() == 1 && (*delta)[0].is(1));
  if (!count.known() && from_zero && by_one && limit && limit->size() == 1) count = (*limit)[0];
  context.set_output(0, context.element(0), DimVector{count});
}

constexpr SchemaRow kRows[] = {
    {"", "Range", 11, kLatest, 3, 1, range_rule, {{kTheRest, kRangeTypes, 'T'}}},
    {"com.microsoft", "Range", 1, kLatest, {2, 3}, 1, range_rule, {{kTheRest, kRangeTypes, 'T'}}},
};

}  // namespace

extern const SchemaTable range_rows;
const SchemaTable range_rows(kRows);

}  // namespace ortolan::ops::onnx
