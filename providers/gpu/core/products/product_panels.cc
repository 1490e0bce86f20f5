// Packing of products' operands.
#include "gpu/core/products/product_panels.h"

#include <algorithm>
#include <cstring>

namespace ortolan::gpu {
namespace {

float element_of(std::span<const std::byte> bytes, ElementType type, int64_t i) {
  if (type == ElementType::kFloat16) {
    uint16_t half;
    std::memcpy(&half, bytes.data() + i * 2, sizeof half);
    return from_half(half);
  }
  float value;
  std::memcpy(&value, bytes.data() + i * 4, sizeof value);
  return value;
}

/** A stack of matrices of n columns as panels of `width`. */
struct PanelLayout {
  int64_t n, k, width, inner, outer;
  int64_t slack = 0;  // floats behind
  int64_t panels() const { return divide_up(n, width); }
  int64_t matrix() const { return panels() * k * width; }
  size_t bytes() const { return static_cast<size_t>(inner * outer * matrix() + slack) * sizeof(float); }
};

PanelLayout layout_of(const Product& product, int64_t width) {
  return {product.n, product.k, width, product.b.inner == 0 ? 1 : product.inner,
          product.b.outer == 0 ? 1 : product.outer};
}

void pack_panel(std::span<const std::byte> from, const Matrix& b, const PanelLayout& layout, int64_t at, int64_t panel,
                float* to) {
  int64_t first = panel * layout.width, there = std::min(layout.width, layout.n - first);
  for (int64_t k = 0; k < layout.k; k++) {
    for (int64_t c = 0; c < there; c++) {
      to[k * layout.width + c] = element_of(from, b.type, at + k * b.row + (first + c) * b.column);
    }
    for (int64_t c = there; c < layout.width; c++) to[k * layout.width + c] = 0.0f;
  }
}

void pack_on_host(std::span<const std::byte> from, const Matrix& b, const PanelLayout& layout, float* to) {
  for (int64_t outer = 0; outer < layout.outer; outer++) {
    for (int64_t inner = 0; inner < layout.inner; inner++) {
      for (int64_t panel = 0; panel < layout.panels(); panel++) {
        pack_panel(from, b, layout, b.first + outer * b.outer + inner * b.inner, panel, to);
        to += layout.k * layout.width;
      }
    }
  }
  std::fill(to, to + layout.slack, 0.0f);
}

std::string name_of(const Matrix& b, const PanelLayout& layout) {
  std::string name = "panels";
  for (int64_t value : {layout.n, layout.k, layout.width, layout.inner, layout.outer, layout.slack, b.first, b.row,
                        b.column, b.inner, b.outer, static_cast<int64_t>(b.type)}) {
    name += ' ' + std::to_string(value);
  }
  return name;
}

Memory pack_constant(Lowering& l, const Matrix& b, const PanelLayout& layout) {
  auto pack = [&](std::span<const std::byte> from, std::span<std::byte> to) {
    pack_on_host(from, b, layout, reinterpret_cast<float*>(to.data()));
  };
  return l.packed(b.input, {name_of(b, layout), layout.bytes(), pack});
}

Memory pack_on_device(Lowering& l, const Matrix& b, const PanelLayout& layout) {
  Memory from = b.input >= 0 ? l.input(b.input) : b.memory, to = l.scratch(layout.bytes());
  int group = l.traits().kind == DeviceClass::kWide ? 1 : 16;
  l.call("pack_panels")
      .group(group)
      .constant("W", static_cast<int>(layout.width))
      .constant("HALF", b.type == ElementType::kFloat16)
      .read(from)
      .write(to)
      .params(layout.n, layout.k, layout.panels(), layout.inner, b.column, b.row, b.inner, b.outer, b.first)
      .run(layout.k, layout.panels(), layout.inner * layout.outer);
  return to;
}

/** The matrix whose panels, as the layout says, lie in `memory`. */
Matrix in_panels(const Matrix& from, const PanelLayout& layout, Memory memory) {
  Matrix panels;
  panels.memory = memory;
  panels.inner = from.inner == 0 ? 0 : layout.matrix();
  panels.outer = from.outer == 0 ? 0 : layout.matrix() * layout.inner;
  panels.row = layout.width;
  panels.column = 1;
  return panels;
}

/** A, whose rows lie as B's columns do. */
Matrix rows_as_columns(Matrix a) {
  std::swap(a.row, a.column);
  return a;
}

PanelLayout row_layout_of(const Lowering& l, const Product& product, int64_t height) {
  const Matrix& a = product.a;
  return {product.m,
          product.k,
          height,
          a.inner == 0 ? 1 : product.inner,
          a.outer == 0 ? 1 : product.outer,
          l.traits().vector_width};
}

/** Panels of A: a tile's begins where its first row says. */
Matrix as_rows(Matrix panels, const Product& product) {
  panels.row = product.k;
  return panels;
}

}  // namespace

Matrix panels_of_columns(Lowering& l, const Product& product, int64_t width) {
  const Matrix& b = product.b;
  PanelLayout layout = layout_of(product, width);
  bool is_constant = b.input >= 0 && l.is_constant(b.input);
  return in_panels(b, layout, is_constant ? pack_constant(l, b, layout) : pack_on_device(l, b, layout));
}

Matrix blank_panels_of_columns(Lowering& l, const Product& product, int64_t width) {
  PanelLayout layout = layout_of(product, width);
  return in_panels(product.b, layout, l.scratch(layout.bytes()));
}

Matrix panels_of_rows(Lowering& l, const Product& product, int64_t height) {
  PanelLayout layout = row_layout_of(l, product, height);
  Matrix a = rows_as_columns(product.a);
  return as_rows(in_panels(a, layout, pack_constant(l, a, layout)), product);
}

Matrix blank_panels_of_rows(Lowering& l, const Product& product, int64_t height) {
  PanelLayout layout = row_layout_of(l, product, height);
  return as_rows(in_panels(product.a, layout, l.scratch(layout.bytes())), product);
}

}  // namespace ortolan::gpu
