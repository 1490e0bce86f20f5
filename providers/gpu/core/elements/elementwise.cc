// Merges axes that broadcast alike, and starts the kernel of elementwise chains.
#include "gpu/core/elements/elementwise.h"

#include <algorithm>

namespace ortolan::gpu {
namespace {

using Kind = ElementwiseRow::Kind;

constexpr ElementwiseRow kTable[] = {
#define K_UNARY(number, name, value) {number, #name, Kind::kUnary},
#define K_UNARY_P(number, name, first, first_default, second, second_default, value) \
  {number, #name, Kind::kUnary, #first, first_default, #second, second_default},
#define K_BINARY(number, name, value) {number, #name, Kind::kBinary},
#define K_TEST(number, name, value) {number, #name, Kind::kTest},
#define K_COMPARE(number, name, value) {number, #name, Kind::kCompare},
#define K_STEP(number, name, value) {number, #name, Kind::kStep},
#define K_INTEGER(number, name, value) {number, #name, Kind::kInteger},
#define K_INTEGER_UNARY(number, name, value) {number, #name, Kind::kInteger},
#define K_INTEGER_BINARY(number, name, value) {number, #name, Kind::kInteger},
#define K_INTEGER_STEP(number, name, value) {number, #name, Kind::kInteger},
#include "gpu/kernels/elementwise_rows.k"
};

constexpr int kOuterAxes = kMostElementwiseAxes - 1;

/** Neighbouring axes in which the same operands have elements of their own: bit i of `varies` is operand i. */
struct MergedAxis {
  int64_t size;
  unsigned varies;
};

std::vector<MergedAxis> merge_axes(const std::vector<ElementwiseOperand>& operands, const Shape& shape) {
  std::vector<MergedAxis> axes;
  for (size_t axis = 0; axis < shape.size(); axis++) {
    if (shape[axis] == 1) continue;
    unsigned varies = 0;
    for (size_t i = 0; i < operands.size(); i++) {
      const Shape& own = operands[i].shape;
      size_t missing = shape.size() - own.size();
      if (axis >= missing && own[axis - missing] != 1) varies |= 1u << i;
    }
    if (!axes.empty() && axes.back().varies == varies) {
      axes.back().size *= shape[axis];
    } else {
      axes.push_back({shape[axis], varies});
    }
  }
  if (axes.empty()) axes.push_back({1, ~0u});
  return axes;
}

/** The kernel's group and how many elements an item computes. */
struct Tile {
  int group_x, group_y, count;
};

Tile tile_for(const DeviceTraits& traits, int64_t rows, int64_t inner) {
  if (traits.kind == DeviceClass::kWide) return {1, rows == 1 || inner >= 1024 ? 1 : inner >= 64 ? 8 : 64, 1024};
  int items = std::min(256, traits.max_group_items);
  int x = inner >= items ? items : inner >= 32 ? std::min(64, items) : std::min(8, items);
  return {x, rows == 1 ? 1 : items / x, 4};
}

void add_constants(KernelCall& call, const Chain& chain) {
  const std::vector<ElementwiseOperand>& operands = chain.operands;
  const std::vector<ElementwiseStep>& steps = chain.steps;
  static constexpr const char* kTypes[] = {"TYPE0", "TYPE1", "TYPE2", "TYPE3"};
  static constexpr const char* kSteps[] = {"STEP0", "STEP1", "STEP2", "STEP3", "STEP4", "STEP5"};
  call.constant("OPERANDS", static_cast<int>(operands.size()));
  for (size_t i = 0; i < operands.size(); i++) call.constant(kTypes[i], static_cast<int>(operands[i].type));
  for (size_t i = 0; i < steps.size(); i++)
    call.constant(kSteps[i], elementwise_code(steps[i], is_whole(chain.arithmetic)));
  if (is_whole(chain.arithmetic)) call.constant("STEP_TYPE", static_cast<int>(chain.arithmetic));
}

/** The numbers p of the steps; for integers whether they are uint64. */
float first_parameter(const ElementwiseStep& step, ElementType arithmetic) {
  return is_whole(arithmetic) ? static_cast<float>(arithmetic == ElementType::kUint64) : step.p;
}

void add_parameters(KernelCall& call, std::vector<MergedAxis> outer, const std::vector<ElementwiseStep>& steps,
                    ElementType arithmetic) {
  outer.insert(outer.begin(), kOuterAxes - outer.size(), {1, ~0u});
  int varies = 0;
  for (int axis = 0; axis < kOuterAxes; axis++) {
    for (size_t i = 0; i < kMostElementwiseOperands; i++) {
      if ((outer[axis].varies >> i & 1) != 0) varies |= 1 << (kOuterAxes * i + axis);
    }
  }
  for (int axis = 1; axis < kOuterAxes; axis++) call.params(outer[axis].size);
  call.params(varies);
  for (size_t i = 0; i < kMostElementwiseSteps; i++) {
    call.params(i < steps.size() ? first_parameter(steps[i], arithmetic) : 0.0f);
  }
  for (size_t i = 0; i < kMostElementwiseSteps; i++) call.params(i < steps.size() ? steps[i].q : 0.0f);
}

/** The result's type to kernels: of double only bits move. */
ElementType stored_as(ElementType type) { return type == ElementType::kDouble ? ElementType::kInt64 : type; }

int splat_of(const MergedAxis& inner, size_t operands) {
  return static_cast<int>(~inner.varies & ((1u << operands) - 1));
}

std::string text_of(const Shape& shape) {
  std::string text;
  for (int64_t dimension : shape) text += (text.empty() ? "" : ", ") + std::to_string(dimension);
  return "[" + text + "]";
}

}  // namespace

const ElementwiseRow* find_elementwise_row(std::string_view name, bool integer) {
  for (const ElementwiseRow& row : kTable) {
    if (row.name == name && (row.kind == Kind::kInteger) == integer) return &row;
  }
  return nullptr;
}

const ElementwiseRow& elementwise_row(std::string_view name) {
  const ElementwiseRow* row = find_elementwise_row(name, false);
  if (row == nullptr) throw Error(ErrorKind::kInternal, "elementwise_rows.k has no row " + std::string(name));
  return *row;
}

bool is_whole(ElementType type) {
  return type == ElementType::kUint64 || (is_integer(type) && type != ElementType::kBool);
}

std::string refuse_long_integers(const Candidate& candidate, ElementType type) {
  if (candidate.traits().has_int64 || (element_bytes(type) < 8 && type != ElementType::kUint32)) return "";
  return std::string(type_name(type)) + " needs integers of 64 bits, which the device has not";
}

Shape broadcast_shape(const Lowering& lowering, const std::vector<ElementwiseOperand>& operands) {
  Shape result;
  for (const ElementwiseOperand& operand : operands) {
    const Shape& shape = operand.shape;
    if (shape.size() > result.size()) result.insert(result.begin(), shape.size() - result.size(), 1);
    size_t missing = result.size() - shape.size();
    for (size_t axis = 0; axis < shape.size(); axis++) {
      int64_t& size = result[missing + axis];
      if (shape[axis] == 1 || shape[axis] == size) continue;
      if (size != 1) lowering.fail("the shape " + text_of(shape) + " does not broadcast to " + text_of(result));
      size = shape[axis];
    }
  }
  return result;
}

int elementwise_code(const ElementwiseStep& step, bool integer) {
  const ElementwiseRow* row = find_elementwise_row(step.row, integer);
  if (row == nullptr) throw Error(ErrorKind::kInternal, "elementwise_rows.k has no row " + std::string(step.row));
  return row->number + 256 * step.operand + 1024 * step.turned + 2048 * step.number;
}

bool is_one_launch(const Chain& chain) {
  return chain.operands.size() <= kMostElementwiseOperands && chain.steps.size() <= kMostElementwiseSteps &&
         merge_axes(chain.operands, chain.shape).size() <= kMostElementwiseAxes;
}

void lower_chain(Lowering& lowering, const Chain& chain, Memory result) {
  if (element_count(chain.shape) == 0) return;
  const std::vector<ElementwiseOperand>& operands = chain.operands;
  std::vector<MergedAxis> axes = merge_axes(operands, chain.shape);
  if (axes.size() > kMostElementwiseAxes) {
    lowering.fail("the broadcast has " + std::to_string(axes.size()) + " axes that differ; " +
                  std::to_string(kMostElementwiseAxes) + " are supported");
  }
  MergedAxis inner = axes.back();
  axes.pop_back();
  int64_t rows = element_count(chain.shape) / inner.size;
  Tile tile = tile_for(lowering.traits(), rows, inner.size);
  int64_t piece = int64_t{tile.group_x} * tile.count, pieces = (inner.size + piece - 1) / piece;
  KernelCall call = lowering.call(is_whole(chain.arithmetic) ? "elementwise_integer" : "elementwise");
  call.group(tile.group_x, tile.group_y)
      .constant("COUNT", tile.count)
      .constant("RESULT", static_cast<int>(stored_as(chain.type)));
  call.constant("AXES", static_cast<int>(axes.size())).constant("SPLAT", splat_of(inner, operands.size()));
  add_constants(call, chain);
  for (size_t i = 0; i < kMostElementwiseOperands; i++) call.read(operands[i < operands.size() ? i : 0].memory);
  call.write(result).params(rows, inner.size, pieces);
  add_parameters(call, std::move(axes), chain.steps, chain.arithmetic);
  call.run((rows + tile.group_y - 1) / tile.group_y * pieces);
}

}  // namespace ortolan::gpu
