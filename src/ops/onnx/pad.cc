// Pad adds (or, with negative pads, removes) elements at both ends of dimensions: attribute `paddings` in opset 1,
// `pads` up to 10, then inputs; axes from 18, mode wrap from 19; the form of 11 in com.microsoft, where pads may have
// shape [1, n] too. CenterCropPad cuts or pads around the centre to a shape.
#include "ops/element_dims.h"
#include "ops/shape_rules.h"

namespace ortolan::ops::onnx {
namespace {

/** The axes that pads or sizes are given for; all of them by default. Nothing when they are not known yet. */
std::optional<std::vector<size_t>> listed_axes(const IntList& axes, size_t rank) {
  if (axes.given && !axes.values) return std::nullopt;
  std::vector<size_t> result;
  if (!axes.given || axes.values->empty()) {
    for (size_t i = 0; i < rank; ++i) result.push_back(i);
    return result;
  }
  checked_axes(*axes.values, rank);
  for (int64_t axis : *axes.values) result.push_back(checked_axis(axis, rank));
  return result;
}

void pad_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  if (!input.has_rank()) return context.set_output(0, context.element(0), {});
  bool oldest = context.opset() < 2 && context.node().domain.empty();
  IntList pads = ints_from(context, oldest ? "paddings" : "pads", 1);
  require(pads.given, ErrorCode::kInvalidGraph, "pads are missing; give them as ",
          context.opset() < 11 ? "an attribute" : "input 1");
  auto axes = listed_axes(ints_from(context, "axes", 3), input.rank());
  if (!axes || !pads.values) return context.set_output(0, context.element(0), SymbolicShape::of_rank(input.rank()));
  size_t count = axes->size();
  require(pads.values->size() == 2 * count, ErrorCode::kInvalidArgument, "pads has ", pads.values->size(),
          " entries for ", count, " axes; it needs two an axis");
  DimVector dims = input.dims();
  constexpr int64_t kMostPad = int64_t{1} << 48;
  for (int64_t pad : *pads.values) {
    require(pad >= -kMostPad && pad <= kMostPad, ErrorCode::kInvalidArgument, "the pad ", pad, " is out of range");
  }
  for (size_t i = 0; i < count; ++i) {
    Dim& dim = dims[(*axes)[i]];
    int64_t sum = checked_add((*pads.values)[i], (*pads.values)[i + count]);
    if (dim.known()) {
      int64_t size = checked_add(dim.value(), sum);
      require(size >= 0, ErrorCode::kInvalidArgument, "pads ", (*pads.values)[i], " and ", (*pads.values)[i + count],
              " remove more than dimension ", (*axes)[i], " of the input of shape ", input, " has");
      dim = size;
    } else if (sum != 0) {
      dim = Dim{};
    }
  }
  context.set_output(0, context.element(0), dims);
}

void center_crop_pad_rule(InferContext& context) {
  const SymbolicShape& input = context.shape(0);
  if (!input.has_rank()) return context.set_output(0, context.element(0), {});
  if (auto sizes = context.int64s(1)) {
    for (int64_t size : *sizes)
      require(size >= 0, ErrorCode::kInvalidArgument, "the wanted size ", size, " is negative");
  }
  IntList axis_list{context.node().has_attribute("axes"), context.node().ints("axes")};
  auto axes = listed_axes(axis_list, input.rank());
  auto sizes = element_dims(context, 1);
  DimVector dims = input.dims();
  require(!sizes || sizes->size() == axes->size(), ErrorCode::kInvalidArgument, "shape has ", sizes ? sizes->size() : 0,
          " entries for ", axes->size(), " axes");
  for (size_t i = 0; i < axes->size(); ++i) dims[(*axes)[i]] = sizes ? (*sizes)[i] : Dim{};
  context.set_output(0, context.element(0), dims);
}

constexpr SchemaRow kRows[] = {
    {"", "Pad", 1, 10, 1, 1, pad_rule, {{0, kAllTypes}}},
    {"",
     "Pad",
     11,
     kLatest,
     {2, 4},
     1,
     pad_rule,
     {{0, kAllTypes, 'T'}, {1, ElementType::kInt64}, {2, kAllTypes, 'T'}, {3, kIndexTypes}}},
    {"com.microsoft", "Pad", 1, kLatest, {2, 3}, 1, pad_rule, {{1, ElementType::kInt64}, {kTheRest, kAllTypes, 'T'}}},
    {"", "CenterCropPad", 18, kLatest, 2, 1, center_crop_pad_rule, {{0, kAllTypes}, {1, kIndexTypes}}},
};

}  // namespace

extern const SchemaTable pad_rows;
const SchemaTable pad_rows(kRows);

}  // namespace ortolan::ops::onnx
