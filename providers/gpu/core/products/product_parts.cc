// Halves products until all that a part reads and writes is short enough.
#include "gpu/core/products/product_parts.h"

#include <algorithm>

#include "gpu/core/products/product_launches.h"
#include "gpu/core/products/product_panels.h"

namespace ortolan::gpu {
namespace {

constexpr int64_t kMostTileRows = 32;
constexpr int64_t kPanelVectors = 16;  // that no tile is wider than

/** Elements from the first one to behind the last. */
struct Span {
  int64_t begin, end;
  int64_t count() const { return end - begin; }
};

struct Reach {
  int64_t count, distance;
};

Span span_of(int64_t first, std::initializer_list<Reach> axes) {
  Span span{first, first + 1};
  for (const Reach& axis : axes) {
    int64_t reach = (axis.count - 1) * axis.distance;
    (reach < 0 ? span.begin : span.end) += reach;
  }
  return span;
}

Span span_of_a(const Product& p) {
  const Matrix& a = p.a;
  return span_of(a.first, {{p.m, a.row}, {p.k, a.column}, {p.inner, a.inner}, {p.outer, a.outer}});
}

Span span_of_b(const Product& p) {
  const Matrix& b = p.b;
  return span_of(b.first, {{p.k, b.row}, {p.n, b.column}, {p.inner, b.inner}, {p.outer, b.outer}});
}

Span span_of_c(const Product& p) {
  const Distances c = distances_of_c(p);
  return span_of(p.c_first, {{p.outer * p.inner, c.matrix}, {p.m, c.row}, {p.n, 1}});
}

Span span_of_addend(const Product& p) {
  const Finish& f = p.finish;
  return span_of(0, {{p.inner, f.addend_inner}, {p.m, f.addend_row}, {p.n, f.addend_column}});
}

bool is_constant(const Lowering& l, const Matrix& matrix) { return matrix.input >= 0 && l.is_constant(matrix.input); }

/** Whether launches see the operand in panels alone, which are packed for each part of the product. */
bool is_packed_once(const Lowering& l, const Matrix& matrix) {
  return l.traits().kind != DeviceClass::kGpu && is_constant(l, matrix);
}

/** A right operand whose columns lie beside each other is packed too where launches cannot see all of it. */
bool is_packed_for_parts(const Lowering& l, const Matrix& b) {
  if (l.traits().kind != DeviceClass::kGpu || !is_constant(l, b)) return false;
  return static_cast<size_t>(l.count(b.input)) * element_bytes(b.type) > l.traits().max_binding_bytes;
}

/** Bytes that a launch sees of A or B, of which `lines` rows or columns would be packed together. */
int64_t bytes_of(const Lowering& l, const Matrix& matrix, int64_t lines, const Span& span, const Product& p) {
  const auto in_order = span.count() * static_cast<int64_t>(element_bytes(matrix.type));
  const bool is_packed = is_packed_for_parts(l, matrix) && &matrix == &p.b;
  if (l.traits().kind == DeviceClass::kGpu && !is_packed) return in_order;
  const int64_t stack = (matrix.inner == 0 ? 1 : p.inner) * (matrix.outer == 0 ? 1 : p.outer);
  const int64_t panels = stack * p.k * (lines + most_panel(l.traits())) * static_cast<int64_t>(sizeof(float));
  return is_packed || is_packed_once(l, matrix) ? panels : std::max(panels, in_order);
}

int64_t most_bytes(const DeviceTraits& traits) {
  const size_t bytes = traits.max_binding_bytes - traits.offset_alignment;  // a part may begin between two offsets
  return static_cast<int64_t>(std::min<size_t>(bytes, INT64_MAX));
}

/** Rows and columns are halved at multiples of this, so that what is added begins where memory can be bound. */
int64_t addend_unit(const DeviceTraits& traits, ElementType type) {
  return static_cast<int64_t>(traits.offset_alignment / element_bytes(type));
}

int64_t unit_of(const DeviceTraits& traits, const Product& p) {
  return p.finish.addend ? addend_unit(traits, p.type) : 1;
}

enum Axis { kOuter, kInner, kRows, kColumns, kNoAxis };

/** The axis along which the product must be halved next. */
Axis axis_to_halve(const Lowering& l, const Product& p) {
  const int64_t most = most_bytes(l.traits()), unit = unit_of(l.traits(), p);
  const bool halves[] = {p.outer > 1, p.outer == 1 && p.inner > 1 && p.finish.addend_inner == 0, p.m > unit,
                         p.n > unit};
  const struct {
    int64_t bytes;
    bool varies[4];
  } tensors[] = {
      {bytes_of(l, p.a, p.m, span_of_a(p), p), {p.a.outer != 0 || p.a.inner != 0, p.a.inner != 0, true, false}},
      {bytes_of(l, p.b, p.n, span_of_b(p), p), {p.b.outer != 0 || p.b.inner != 0, p.b.inner != 0, false, true}},
      {span_of_c(p).count() * static_cast<int64_t>(element_bytes(p.type)), {true, true, true, true}},
  };
  for (const auto& tensor : tensors) {
    if (tensor.bytes <= most) continue;
    for (int axis = kOuter; axis < kNoAxis; axis++) {
      if (halves[axis] && tensor.varies[axis]) return static_cast<Axis>(axis);
    }
    l.fail("a part of the product would take " + std::to_string(tensor.bytes) + " bytes of a tensor; a launch sees " +
           std::to_string(most));
  }
  return kNoAxis;
}

void move_addend(Product& p, int64_t elements) {
  if (!p.finish.addend) return;
  Memory& addend = *p.finish.addend;
  const size_t bytes = static_cast<size_t>(elements) * element_bytes(p.type);
  addend.offset += bytes;
  addend.bytes -= bytes;
}

/** Leaves out the first `count` along the axis. */
void skip(Product& p, Axis axis, int64_t count) {
  const Distances c = distances_of_c(p);
  const int64_t a[] = {p.a.outer, p.a.inner, p.a.row, 0}, b[] = {p.b.outer, p.b.inner, 0, p.b.column};
  const int64_t of_c[] = {p.inner * c.matrix, c.matrix, c.row, 1};
  const int64_t of_addend[] = {0, p.finish.addend_inner, p.finish.addend_row, p.finish.addend_column};
  p.a.first += count * a[axis];
  p.b.first += count * b[axis];
  p.c_first += count * of_c[axis];
  move_addend(p, count * of_addend[axis]);
}

std::array<Product, 2> halves_of(const Product& product, Axis axis, int64_t unit) {
  std::array<Product, 2> halves = {product, product};
  int64_t Product::*const counts[] = {&Product::outer, &Product::inner, &Product::m, &Product::n};
  const int64_t all = product.*counts[axis], half = divide_up(all, 2);
  const int64_t first = axis == kRows || axis == kColumns ? round_up(half, unit) : half;
  const Distances c = distances_of_c(product);
  for (Product& each : halves) each.c_row = c.row, each.c_matrix = c.matrix;
  halves[0].*counts[axis] = first;
  halves[1].*counts[axis] = all - first;
  skip(halves[1], axis, first);
  return halves;
}

/** What a launch is to see of memory: all, or where that is too much the span, which then begins at another `first`. */
Memory seen(const DeviceTraits& traits, Memory memory, ElementType type, const Span& span, int64_t& first) {
  if (memory.bytes <= traits.max_binding_bytes) return memory;
  const size_t bytes = element_bytes(type), begin = static_cast<size_t>(span.begin) * bytes;
  const size_t offset = begin - begin % traits.offset_alignment;
  first -= static_cast<int64_t>(offset / bytes);
  return {memory.block, static_cast<size_t>(span.end) * bytes - offset, memory.offset + offset};
}

void see(Lowering& l, Matrix& matrix, const Span& span) {
  if (is_packed_once(l, matrix)) return;
  if (matrix.input >= 0) matrix.memory = l.input(matrix.input);
  matrix.input = -1;
  matrix.memory = seen(l.traits(), matrix.memory, matrix.type, span, matrix.first);
}

Product with_seen_memory(Lowering& l, Product p) {
  see(l, p.a, span_of_a(p));
  if (is_packed_for_parts(l, p.b)) {
    p.b = panels_of_columns(l, p, p.n);
  } else {
    see(l, p.b, span_of_b(p));
  }
  const Span span = span_of_c(p);
  Finish& f = p.finish;
  int64_t first = p.c_first, none = 0;
  if (f.residual) f.residual = seen(l.traits(), *f.residual, p.type, span, first);
  if (f.addend) f.addend = seen(l.traits(), *f.addend, p.type, span_of_addend(p), none);
  p.c = seen(l.traits(), p.c, p.type, span, p.c_first);
  return p;
}

}  // namespace

int64_t most_panel(const DeviceTraits& traits) {
  return std::max<int64_t>(kMostTileRows, kPanelVectors * traits.vector_width);
}

bool comes_in_parts(const DeviceTraits& traits, int64_t k) {
  const int64_t lines = addend_unit(traits, ElementType::kFloat16) + most_panel(traits);
  return k <= most_bytes(traits) / static_cast<int64_t>(sizeof(float)) / lines;
}

std::vector<Product> parts_of(Lowering& l, const Product& product) {
  const bool is_plain =
      !product.grid && product.b.offsets.empty() && !product.a_is_packed && !product.b_is_packed && product.k > 0;
  if (!is_plain) return {product};
  std::vector<Product> waiting = {product}, parts;
  while (!waiting.empty()) {
    const Product next = std::move(waiting.back());
    waiting.pop_back();
    const Axis axis = axis_to_halve(l, next);
    if (axis == kNoAxis) {
      parts.push_back(next);
      continue;
    }
    auto [first, second] = halves_of(next, axis, unit_of(l.traits(), product));
    waiting.push_back(std::move(second));
    waiting.push_back(std::move(first));
  }
  if (parts.size() > 1)
    std::transform(parts.begin(), parts.end(), parts.begin(),
                   [&](const Product& part) { return with_seen_memory(l, part); });
  return parts;
}

}  // namespace ortolan::gpu
