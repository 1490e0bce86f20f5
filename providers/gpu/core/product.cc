// Products: tiles and packing by class of device.
#include "gpu/core/product.h"

#include <cstring>
#include <map>

namespace ortolan::gpu {
namespace {

constexpr int kPacked = 0, kRows = 1, kOffsets = 2;  // B_FORM of the kernels
constexpr int64_t kFarRows = int64_t{4} << 20;       // bytes of B beyond which rows that lie apart leave the caches
constexpr int64_t kFewRows = 384;                    // of A, for which B is not worth a copy

struct Tile {
  int rows, vectors;
};

Tile largest_tile(const DeviceTraits& traits) {
  if (traits.kind == DeviceClass::kWide) return traits.vector_width == 16 ? Tile{8, 3} : Tile{4, 3};
  return traits.vector_width == 4 ? Tile{16, 4} : Tile{8, 8};
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/** Vectors a tile: few columns beyond the last, and wide tiles among equals. At most `most` vectors. */
int vectors_for(const DeviceTraits& traits, int64_t n, int64_t most) {
  int best = 1;
  double best_cost = 0;
  for (int vectors = static_cast<int>(std::min<int64_t>(largest_tile(traits).vectors, most)); vectors >= 1; vectors--) {
    double columns = static_cast<double>(divide_up(n, int64_t{vectors} * traits.vector_width) * vectors);
    double cost = columns * (1 + 0.1 / vectors);
    if (best_cost == 0 || cost < best_cost) {
      best = vectors;
      best_cost = cost;
    }
  }
  return best;
}

int rows_for(const DeviceTraits& traits, int64_t m) {
  int rows = largest_tile(traits).rows;
  while (rows > m) rows /= 2;
  return rows;
}

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

/** B of a product as panels of `width` columns. */
struct PanelLayout {
  int64_t n, k, width, inner, outer;
  int64_t panels() const { return divide_up(n, width); }
  int64_t matrix() const { return panels() * k * width; }
  size_t bytes() const { return static_cast<size_t>(inner * outer * matrix()) * sizeof(float); }
};

PanelLayout panels_of(const Product& product, int64_t width) {
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
  }
}

std::vector<std::byte> pack_on_host(std::span<const std::byte> from, const Matrix& b, const PanelLayout& layout) {
  std::vector<std::byte> bytes(layout.bytes());
  float* to = reinterpret_cast<float*>(bytes.data());
  for (int64_t outer = 0; outer < layout.outer; outer++) {
    for (int64_t inner = 0; inner < layout.inner; inner++) {
      for (int64_t panel = 0; panel < layout.panels(); panel++) {
        pack_panel(from, b, layout, b.first + outer * b.outer + inner * b.inner, panel, to);
        to += layout.k * layout.width;
      }
    }
  }
  return bytes;
}

std::string name_of(const Matrix& b, const PanelLayout& layout) {
  std::string name = "panels";
  for (int64_t value : {layout.n, layout.k, layout.width, layout.inner, layout.outer, b.first, b.row, b.column, b.inner,
                        b.outer, static_cast<int64_t>(b.type)}) {
    name += ' ' + std::to_string(value);
  }
  return name;
}

Memory pack_on_device(Lowering& l, const Matrix& b, const PanelLayout& layout) {
  Memory to = l.scratch(layout.bytes());
  int group = l.traits().kind == DeviceClass::kWide ? 1 : 16;
  l.call("pack_panels")
      .group(group)
      .constant("W", static_cast<int>(layout.width))
      .constant("HALF", b.type == ElementType::kFloat16)
      .read(b.memory)
      .write(to)
      .params(layout.n, layout.k, layout.panels(), layout.inner, b.column, b.row, b.inner, b.outer, b.first)
      .run(layout.k, layout.panels(), layout.inner * layout.outer);
  return to;
}

/** B, whose memory holds its panels. */
Matrix as_panels(Matrix b, const PanelLayout& layout) {
  b.inner = b.inner == 0 ? 0 : layout.matrix();
  b.outer = b.outer == 0 ? 0 : layout.matrix() * layout.inner;
  b.row = layout.width;
  b.first = 0;
  return b;
}

/** B in panels, with its distances. */
Matrix packed(Lowering& l, const Product& product, int64_t width) {
  PanelLayout layout = panels_of(product, width);
  Matrix b = product.b;
  if (b.input >= 0 && l.is_constant(b.input)) {
    b.memory = l.packed(b.input, name_of(b, layout),
                        [&](std::span<const std::byte> bytes) { return pack_on_host(bytes, product.b, layout); });
  } else {
    if (b.input >= 0) b.memory = l.input(b.input);
    b.memory = pack_on_device(l, b, layout);
  }
  return as_panels(b, layout);
}

bool wants_packing(const Lowering& l, const Product& product) {
  const Matrix& b = product.b;
  if (!b.offsets.empty() || product.b_is_packed) return false;
  if (b.input >= 0 && l.is_constant(b.input)) return true;
  if (b.column != 1 || b.type != ElementType::kFloat) return true;
  if (!product.b_has_slack && product.n < l.traits().vector_width) return true;
  return product.m >= kFewRows && product.k * b.row * static_cast<int64_t>(sizeof(float)) > kFarRows;
}

Matrix in_memory(Lowering& l, Matrix matrix) {
  if (matrix.input >= 0) matrix.memory = l.input(matrix.input);
  return matrix;
}

/** The buffers, constants and parameters that all kernels of products share. */
void add_common(Lowering& l, KernelCall& call, const Product& p, const Matrix& a, const Matrix& b, int64_t tiles) {
  const Finish& f = p.finish;
  PlaceGrid grid = p.grid.value_or(PlaceGrid{});
  int64_t c_row = p.grid ? grid.stored : p.n;
  call.constant("GRID", p.grid.has_value())
      .constant("ADDEND", f.addend ? 1 + static_cast<int>(f.addend_column) : 0)
      .constant("RESIDUAL", f.residual.has_value())
      .constant("HALF", p.type == ElementType::kFloat16)
      .constant("A_HALF", a.type == ElementType::kFloat16);
  add_step_constants(call, f);
  call.read(a.memory).read(b.memory).read(f.addend.value_or(a.memory)).read(f.residual.value_or(a.memory));
  call.read(b.offsets.empty() ? a.memory : l.table(b.offsets)).write(p.c);
  call.params(p.m, p.n, p.k, tiles, p.inner, a.row, a.column, a.inner, a.outer, b.row, b.column, b.inner, b.outer);
  call.params(c_row, p.m * c_row, f.addend_row, f.addend_inner, grid.grid_w, grid.w, grid.grid_h, grid.h);
  call.params(a.first, b.first, p.c_first);
  call.params(f.alpha, f.beta, f.low, f.high);
  add_step_numbers(call, f);
}

/** A launch with its groups. */
struct TiledLaunch {
  KernelCall call;
  std::array<int64_t, 3> groups;
  void run() { call.run(groups[0], groups[1], groups[2]); }
  int64_t measure() { return call.measure(groups[0], groups[1], groups[2]); }
};

TiledLaunch in_registers(Lowering& l, const Product& product, const Tile& tile, const Matrix& b, bool packs) {
  const DeviceTraits& traits = l.traits();
  int64_t width = int64_t{tile.vectors} * traits.vector_width, tiles = divide_up(product.m, tile.rows);
  int group = traits.kind == DeviceClass::kWide ? 1 : 8;
  KernelCall call = l.call("product_registers");
  call.group(group).constant("TM", tile.rows).constant("TN", tile.vectors).constant("A_PACKED", product.a_is_packed);
  call.constant("B_FORM", packs || product.b_is_packed ? kPacked : b.offsets.empty() ? kRows : kOffsets);
  add_common(l, call, product, in_memory(l, product.a), b, tiles);
  return {std::move(call), {divide_up(tiles, group), divide_up(product.n, width), product.outer * product.inner}};
}

std::string name_of(const Tile& tile) { return std::to_string(tile.rows) + 'x' + std::to_string(tile.vectors); }

Tile tile_of(const std::string& name) { return {std::stoi(name), std::stoi(name.substr(name.find('x') + 1))}; }

/** Names of tiles to try: `first` and those beside it, or all. */
std::vector<std::string> tiles_to_try(const Lowering& l, const Product& product, const Tile& first, int64_t most) {
  std::vector<std::string> names = {name_of(first)};
  const bool all = l.tuning() == Tuning::kFull;
  const Tile largest = largest_tile(l.traits());
  for (int rows = 2 * largest.rows; rows >= 1; rows /= 2) {
    for (int vectors = largest.vectors; vectors >= 1; vectors--) {
      bool beside = rows * 2 >= first.rows && rows <= first.rows * 2 && std::abs(vectors - first.vectors) <= 1;
      Tile tile{rows, vectors};
      if ((all || beside) && rows <= product.m && vectors <= most && name_of(tile) != names[0])
        names.push_back(name_of(tile));
    }
  }
  return names;
}

std::string problem_of(const Product& p, bool packs) {
  std::string name;
  for (int64_t size : {p.m, p.n, p.k, p.outer * p.inner}) name += std::to_string(size) + ' ';
  for (ElementType type : {p.type, p.a.type, p.b.type}) name += std::to_string(static_cast<int>(type)) + ' ';
  for (bool form : {packs, !p.b.offsets.empty(), p.grid.has_value(), p.a.column == 1, p.b.column == 1}) {
    name += form ? '1' : '0';
  }
  return name;
}

/** B as panels that hold nothing. */
Matrix blank_panels(Lowering& l, const Product& product, int64_t width) {
  PanelLayout layout = panels_of(product, width);
  Matrix b = product.b;
  b.memory = l.scratch(layout.bytes());
  return as_panels(b, layout);
}

Tile choose_tile(Lowering& l, const Product& product, bool packs) {
  const DeviceTraits& traits = l.traits();
  bool has_panels = packs || product.b_is_packed;
  int64_t most = has_panels || product.b_has_slack ? product.n : product.n / traits.vector_width;
  Tile first{rows_for(traits, product.m), vectors_for(traits, product.n, most)};
  if (l.tuning() == Tuning::kNone || product.a_is_packed || product.b_is_packed) return first;
  std::vector<std::string> names = tiles_to_try(l, product, first, most);
  return tile_of(l.tuner().choose("product_registers", problem_of(product, packs), names, [&](const std::string& name) {
    Tile tile = tile_of(name);
    Matrix b = packs ? blank_panels(l, product, int64_t{tile.vectors} * traits.vector_width) : in_memory(l, product.b);
    return in_registers(l, product, tile, b, packs).measure();
  }));
}

void multiply_in_registers(Lowering& l, const Product& product) {
  bool packs = wants_packing(l, product);
  Tile tile = choose_tile(l, product, packs);
  Matrix b = packs ? packed(l, product, int64_t{tile.vectors} * l.traits().vector_width) : in_memory(l, product.b);
  in_registers(l, product, tile, b, packs).run();
}

/** A group of side x side items, each with its tile, in steps of `depth`. */
struct SharedTile {
  int side, rows, vectors, depth;
  std::string name() const {
    return std::to_string(side) + ' ' + std::to_string(rows) + ' ' + std::to_string(vectors) + ' ' +
           std::to_string(depth);
  }
  int differences(const SharedTile& other) const {
    return (side != other.side) + (rows != other.rows) + (vectors != other.vectors) + (depth != other.depth);
  }
  bool fits(const DeviceTraits& traits) const {
    size_t floats = static_cast<size_t>(depth) * side * (rows + vectors * traits.vector_width);
    return side * side <= traits.max_group_items && floats * sizeof(float) <= traits.shared_bytes;
  }
};

/** `first`, and what differs from it in one number, or all. */
std::map<std::string, SharedTile> shared_tiles(const Lowering& l, const SharedTile& first) {
  std::map<std::string, SharedTile> tiles;
  const int most = l.tuning() == Tuning::kNone ? 0 : l.tuning() == Tuning::kFast ? 1 : 4;
  for (int side : {8, 16}) {
    for (int rows : {2, 4, 8}) {
      for (int vectors : {1, 2, 4}) {
        for (int depth : {8, 16, 32}) {
          SharedTile tile{side, rows, vectors, depth};
          if (tile.differences(first) <= most && tile.fits(l.traits())) tiles.emplace(tile.name(), tile);
        }
      }
    }
  }
  tiles.emplace(first.name(), first);
  return tiles;
}

TiledLaunch in_shared_memory(Lowering& l, const Product& product, const SharedTile& tile) {
  Matrix a = in_memory(l, product.a), b = in_memory(l, product.b);
  int64_t rows = int64_t{tile.side} * tile.rows;
  int64_t columns = int64_t{tile.side} * tile.vectors * l.traits().vector_width;
  KernelCall call = l.call("product_shared");
  call.group(tile.side, tile.side).constant("TM", tile.rows).constant("TN", tile.vectors).constant("BK", tile.depth);
  call.constant("B_FORM", b.offsets.empty() ? kRows : kOffsets).constant("B_HALF", b.type == ElementType::kFloat16);
  add_common(l, call, product, a, b, 0);
  return {std::move(call), {divide_up(product.m, rows), divide_up(product.n, columns), product.outer * product.inner}};
}

void multiply_in_shared_memory(Lowering& l, const Product& product) {
  const DeviceTraits& traits = l.traits();
  SharedTile first{traits.max_group_items >= 256 ? 16 : 8, 4, std::max(1, 4 / traits.vector_width), 16};
  std::map<std::string, SharedTile> tiles = shared_tiles(l, first);
  std::vector<std::string> names = {first.name()};
  for (const auto& [name, tile] : tiles) {
    if (name != names[0]) names.push_back(name);
  }
  std::string name =
      l.tuner().choose("product_shared", problem_of(product, false), names,
                       [&](const std::string& name) { return in_shared_memory(l, product, tiles.at(name)).measure(); });
  in_shared_memory(l, product, tiles.at(name)).run();
}

}  // namespace

int64_t product_slack(const DeviceTraits& traits) {
  return int64_t{largest_tile(traits).vectors} * traits.vector_width;
}

int64_t panel_height(const DeviceTraits& traits, int64_t m) { return rows_for(traits, m); }

int64_t panel_width(const DeviceTraits& traits, int64_t n) {
  return int64_t{vectors_for(traits, n, n)} * traits.vector_width;
}

void multiply(Lowering& l, const Product& product) {
  if (product.m == 0 || product.n == 0 || product.outer * product.inner == 0) return;
  if (l.traits().kind == DeviceClass::kGpu) {
    multiply_in_shared_memory(l, product);
  } else {
    multiply_in_registers(l, product);
  }
}

}  // namespace ortolan::gpu
