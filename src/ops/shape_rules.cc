// Shape rules that many operators share, and window arithmetic.
#include "ops/shape_rules.h"

#include <algorithm>

namespace ortolan::ops {
namespace {

Dim broadcast_dim(Dim a, Dim b) {
  if (a.is(1)) return b;
  if (b.is(1) || a.same_as(b)) return a;
  if (a.known() && b.known()) {
    fail(ErrorCode::kInvalidArgument, "dimensions ", a.value(), " and ", b.value(),
         " differ and neither is 1, so the shapes do not broadcast");
  }
  if (a.known() && a.value() > 1) return a;
  if (b.known() && b.value() > 1) return b;
  return Dim{};
}

SymbolicShape broadcast_all_inputs(const InferContext& context) {
  if (context.node().int_or("broadcast", 0) != 0 && context.opset() < 7) return context.shape(0);
  if (!context.has_shape(0)) return {};
  SymbolicShape result = context.shape(0);
  for (size_t i = 1; i < context.input_count(); ++i) {
    if (!context.has_input(i)) continue;
    if (!context.has_shape(i)) return {};
    result = broadcast(result, context.shape(i));
  }
  return result;
}

void check_positive(const std::vector<int64_t>& values, const char* name) {
  for (int64_t value : values) {
    require(value > 0, ErrorCode::kInvalidGraph, "attribute '", name, "' holds ", value, "; it must be positive");
  }
}

std::vector<int64_t> ints_of_length(const Node& node, const char* name, size_t length, int64_t fallback) {
  const std::vector<int64_t>& given = node.ints(name);
  if (given.empty()) return std::vector<int64_t>(length, fallback);
  require(given.size() == length, ErrorCode::kInvalidGraph, "attribute '", name, "' has ", given.size(),
          " entries, but ", length, " are needed");
  return given;
}

int64_t effective_kernel(int64_t kernel, int64_t dilation) {
  return checked_add(checked_mul(kernel - 1, dilation), int64_t{1});
}

/** Windows under SAME padding: one every `stride` elements, the last perhaps partly outside. */
int64_t same_windows(int64_t input, int64_t stride) { return input / stride + (input % stride != 0 ? 1 : 0); }

}  // namespace

void same_as_first_input(InferContext& context) { context.set_output_like(0, 0); }

void broadcast_inputs(InferContext& context) {
  context.set_output(0, context.element(0), broadcast_all_inputs(context));
}

void broadcast_to_bool(InferContext& context) {
  context.set_output(0, ElementType::kBool, broadcast_all_inputs(context));
}

SymbolicShape broadcast(const SymbolicShape& a, const SymbolicShape& b) {
  if (!a.has_rank() || !b.has_rank()) return {};
  const SymbolicShape& longer = a.rank() >= b.rank() ? a : b;
  const SymbolicShape& shorter = a.rank() >= b.rank() ? b : a;
  SymbolicShape result = longer;
  size_t offset = longer.rank() - shorter.rank();
  try {
    for (size_t i = 0; i < shorter.rank(); ++i) result[offset + i] = broadcast_dim(longer[offset + i], shorter[i]);
  } catch (const Error& error) {
    throw error.within(join("shapes ", a, " and ", b));
  }
  return result;
}

SymbolicShape common(const SymbolicShape& a, const SymbolicShape& b) {
  if (!a.has_rank() || !b.has_rank() || a.rank() != b.rank()) return {};
  SymbolicShape result = a;
  for (size_t i = 0; i < a.rank(); ++i) {
    if (!a[i].same_as(b[i])) result[i] = Dim{};
  }
  return result;
}

TypeInfo common(const TypeInfo& a, const TypeInfo& b) {
  if (a.kind != b.kind) return {};
  TypeInfo result = a;
  if (a.element != b.element) result.element = ElementType::kUndefined;
  result.shape = common(a.shape, b.shape);
  if (a.contained && b.contained) result.contained = std::make_shared<TypeInfo>(common(*a.contained, *b.contained));
  return result;
}

Dim window_output(Dim input, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad, bool ceil_mode) {
  require(kernel > 0 && stride > 0 && dilation > 0, ErrorCode::kInvalidGraph, "kernel ", kernel, ", stride ", stride,
          " and dilation ", dilation, " must all be positive");
  if (!input.known()) return Dim{};
  int64_t room = checked_add(input.value(), pad) - effective_kernel(kernel, dilation);
  require(room >= 0, ErrorCode::kInvalidArgument, "the window of size ", effective_kernel(kernel, dilation),
          " is larger than the padded input of size ", input.value() + pad);
  int64_t steps = room / stride;
  if (ceil_mode && room % stride != 0) ++steps;
  return steps + 1;
}

WindowAttributes window_attributes(const Node& node, size_t spatial, std::span<const int64_t> kernel) {
  WindowAttributes window;
  window.kernel = node.ints("kernel_shape");
  if (window.kernel.empty()) window.kernel.assign(kernel.begin(), kernel.end());
  require(window.kernel.size() == spatial, ErrorCode::kInvalidGraph, "attribute 'kernel_shape' has ",
          window.kernel.size(), " entries, but the input has ", spatial, " spatial dimensions");
  window.strides = ints_of_length(node, "strides", spatial, 1);
  window.dilations = ints_of_length(node, "dilations", spatial, 1);
  window.pads = ints_of_length(node, "pads", 2 * spatial, 0);
  window.auto_pad = node.string_or("auto_pad", "NOTSET");
  window.ceil_mode = node.int_or("ceil_mode", 0) != 0;
  check_positive(window.kernel, "kernel_shape");
  check_positive(window.strides, "strides");
  check_positive(window.dilations, "dilations");
  for (int64_t pad : window.pads) {
    require(pad >= 0, ErrorCode::kInvalidGraph, "attribute 'pads' holds ", pad, "; it must not be negative");
  }
  constexpr std::string_view kModes[] = {"", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
  require(std::ranges::find(kModes, window.auto_pad) != std::end(kModes), ErrorCode::kInvalidGraph,
          "attribute 'auto_pad' is '", window.auto_pad, "'; it must be NOTSET, SAME_UPPER, SAME_LOWER or VALID");
  return window;
}

std::vector<int64_t> WindowAttributes::pads_for(std::span<const int64_t> input) const {
  size_t spatial = kernel.size();
  if (auto_pad == "VALID") return std::vector<int64_t>(2 * spatial, 0);
  if (auto_pad != "SAME_UPPER" && auto_pad != "SAME_LOWER") return pads;
  std::vector<int64_t> result(2 * spatial, 0);
  for (size_t i = 0; i < spatial; ++i) {
    int64_t last = (same_windows(input[i], strides[i]) - 1) * strides[i];
    int64_t needed = effective_kernel(kernel[i], dilations[i]) - (input[i] - last);
    int64_t total = std::max<int64_t>(needed, 0);
    int64_t smaller = total / 2;
    result[i] = auto_pad == "SAME_LOWER" ? total - smaller : smaller;
    result[spatial + i] = total - result[i];
  }
  return result;
}

Dim WindowAttributes::output_size(size_t i, Dim input) const {
  if (auto_pad == "SAME_UPPER" || auto_pad == "SAME_LOWER") {
    return input.known() ? Dim(same_windows(input.value(), strides[i])) : Dim{};
  }
  int64_t pad = auto_pad == "VALID" ? 0 : checked_add(pads[i], pads[kernel.size() + i]);
  Dim size = window_output(input, kernel[i], strides[i], dilations[i], pad, ceil_mode);
  // A last window that would begin in the padding behind the input does not count.
  bool outside = size.known() && size.value() > 1 && ceil_mode && auto_pad != "VALID" &&
                 checked_mul(size.value() - 1, strides[i]) >= checked_add(input.value(), pads[i]);
  return outside ? Dim(size.value() - 1) : size;
}

std::vector<size_t> checked_axes(std::span<const int64_t> axes, size_t rank) {
  std::vector<size_t> result;
  for (int64_t axis : axes) result.push_back(checked_axis(axis, rank));
  std::ranges::sort(result);
  auto twice = std::ranges::adjacent_find(result);
  require(twice == result.end(), ErrorCode::kInvalidArgument, "axis ", twice == result.end() ? 0 : *twice,
          " is given twice; each may stand once");
  return result;
}

}  // namespace ortolan::ops
