// QuantizeLinear, DequantizeLinear (one scale, one for each slice of an axis, or one for each block along it) and
// DynamicQuantizeLinear.
#include "gpu/core/elements/reduced_axes.h"
#include "gpu/core/elements/row_items.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

using enum ElementType;

bool is_code(ElementType type) { return type == kInt8 || type == kUint8 || type == kInt16 || type == kUint16; }
bool is_signed(ElementType type) { return type == kInt8 || type == kInt16; }

/** From the zero point, else attribute output_dtype, else uint8. */
ElementType code_type(const Node& node, ElementType zero) {
  if (zero != kUndefined) return zero;
  int64_t named = node.integer("output_dtype", 0);
  return named == 0 ? kUint8 : static_cast<ElementType>(named);
}

std::string refuse_quantize(const Candidate& candidate) {
  for (size_t i : {0, 1}) {
    std::string refusal = refuse_unless(candidate, i, {kFloat, kFloat16});
    if (!refusal.empty()) return refusal;
  }
  ElementType type = code_type(candidate.node(), candidate.has(2) ? candidate.type(2) : kUndefined);
  return is_code(type) ? "" : std::string("the result is ") + type_name(type) + "; 8 and 16 bits are taken";
}

std::string refuse_dequantize(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, 0, {kUint8, kInt8, kUint16, kInt16, kInt32});
  if (refusal.empty()) refusal = refuse_unless(candidate, 1, {kFloat, kFloat16});
  if (refusal.empty() && candidate.has(2)) refusal = refuse_unless(candidate, 2, {candidate.type(0)});
  int64_t named = candidate.node().integer("output_dtype", 0);
  bool taken = named == 0 || is_float(static_cast<ElementType>(named));
  return refusal.empty() && !taken ? "output_dtype is neither float nor float16" : refusal;
}

/** Which scale serves which element, as the kernels take it. */
struct Scales {
  int form = 0;
  int64_t size = 1, inner = 1, block = 1;
};

Scales scales_of(const Lowering& l) {
  const Shape &x = l.shape(0), &scale = l.shape(1);
  if (l.has(2) && l.count(2) != l.count(1))
    l.fail("there are " + std::to_string(l.count(1)) + " scales and " + std::to_string(l.count(2)) + " zero points");
  Scales scales;
  scales.block = l.node().integer("block_size", 0);
  if (scales.block < 0) l.fail("block_size is " + std::to_string(scales.block) + "; it must not be negative");
  if (l.count(1) == 1 && (scales.block == 0 || scale.empty())) return {};
  size_t axis = l.axis(l.node().integer("axis", 1), x.size());
  scales.form = scales.block == 0 ? 1 : 2;
  scales.size = x[axis];
  scales.inner = element_count(x, axis + 1, x.size());
  Shape wanted = scales.block == 0 ? Shape{x[axis]} : x;
  if (scales.block > 0) wanted[axis] = x[axis] / scales.block + (x[axis] % scales.block != 0);
  if (scale != wanted) l.fail("the scale's shape does not fit axis " + std::to_string(axis) + " of the input");
  scales.block = std::max<int64_t>(scales.block, 1);
  return scales;
}

/** Constants that both kernels have, then their first three inputs. */
void bind(Lowering& l, KernelCall& call, const Scales& scales, ElementType code) {
  call.group(64).constant("SCALES", scales.form).constant("SCALE_HALF", l.type(1) == kFloat16);
  call.constant("BYTES", static_cast<int>(element_bytes(code))).constant("SIGNED", is_signed(code));
  call.constant("ZERO", l.has(2));
  Memory x = l.input(0), scale = l.input(1);
  call.read(x).read(scale).read(l.has(2) ? l.input(2) : scale);
}

void lower_quantize(Lowering& l) {
  ElementType code = code_type(l.node(), l.has(2) ? l.type(2) : kUndefined);
  Scales scales = scales_of(l);
  int codes = 1 << 8 * element_bytes(code), low = is_signed(code) ? -codes / 2 : 0;
  KernelCall call = l.call("quantize");
  call.constant("HALF", l.type(0) == kFloat16);
  bind(l, call, scales, code);
  call.write(l.output(0, code, l.shape(0)));
  call.params(l.count(0), scales.size, scales.inner, scales.block, static_cast<float>(low),
              static_cast<float>(low + codes - 1));
  call.run_items(l.count(0));
}

/** That of the scale; before opset 19 float, unless output_dtype names it. */
ElementType dequantized_type(const Lowering& l) {
  int64_t named = l.node().integer("output_dtype", 0);
  if (named != 0) return static_cast<ElementType>(named);
  bool of_scale = l.node().since_version >= 19 || !l.node().domain.empty();
  return of_scale ? l.type(1) : kFloat;
}

void lower_dequantize(Lowering& l) {
  ElementType type = dequantized_type(l);
  Scales scales = scales_of(l);
  KernelCall call = l.call("dequantize");
  call.constant("HALF", type == kFloat16);
  bind(l, call, scales, l.type(0));
  call.write(l.output(0, type, l.shape(0))).params(l.count(0), scales.size, scales.inner, scales.block);
  call.run_items(l.count(0));
}

/** The smallest or the largest element of the input. */
Memory extreme(Lowering& l, int first) {
  Memory result = l.scratch(sizeof(float));
  ReducedAxes axes = reduced_axes({l.count(0)}, {true});
  KernelCall call = l.call("reduce");
  call.row_group(l.count(0)).constant("FIRST", first).constant("ROWS", 1).constant("FLAT", 1);
  call.read(l.input(0)).write(result);
  call.params(1, l.count(0), 1, axes.kept.place_params(), axes.reduced.place_params()).run(1);
  return result;
}

void lower_dynamic(Lowering& l) {
  constexpr int kMost = 2, kLeast = 3;
  Memory low = extreme(l, kLeast), high = extreme(l, kMost), x = l.input(0);
  Memory y = l.output(0, kUint8, l.shape(0));
  Memory scale = l.output(1, kFloat, {}), zero = l.output(2, kUint8, {});
  l.call("dynamic_scale").group(1).read(low).read(high).write(scale).write(zero).params(255.0f).run(1);
  KernelCall call = l.call("quantize");
  call.group(64).constant("ZERO", 1).read(x).read(scale).read(zero).write(y);
  call.params(l.count(0), 1, 1, 1, 0.0f, 255.0f).run_items(l.count(0));
}

std::string refuse_dynamic(const Candidate& candidate) { return refuse_unless(candidate, 0, {kFloat}); }

constexpr Operator kRows[] = {
    {"", "QuantizeLinear", 10, kNewest, refuse_quantize, lower_quantize},
    {"", "DequantizeLinear", 10, kNewest, refuse_dequantize, lower_dequantize},
    {"com.microsoft", "QuantizeLinear", 1, kNewest, refuse_quantize, lower_quantize},
    {"com.microsoft", "DequantizeLinear", 1, kNewest, refuse_dequantize, lower_dequantize},
    {"", "DynamicQuantizeLinear", 11, kNewest, refuse_dynamic, lower_dynamic},
};

}  // namespace

std::span<const Operator> quantization_operators() { return kRows; }

}  // namespace ortolan::gpu
