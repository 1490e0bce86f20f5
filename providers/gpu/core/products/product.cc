// Products: tiles and packing by class of device.
#include "gpu/core/products/product.h"

#include <map>

#include "gpu/core/products/library_product.h"
#include "gpu/core/products/product_launches.h"
#include "gpu/core/products/product_panels.h"
#include "gpu/core/products/product_parts.h"

namespace ortolan::gpu {
namespace {

constexpr int64_t kFarRows = int64_t{4} << 20;  // bytes of B beyond which rows that lie apart leave the caches
constexpr int64_t kFewRows = 384;               // of A, for which B is not worth a copy
constexpr double kWorthExtra = 0.93;            // of the cost of tiles without an extra column

struct Tile {
  int rows, vectors;
  bool extra = false;  // a column more, whose rows are lanes of a vector
  int64_t width(const DeviceTraits& traits) const { return int64_t{vectors} * traits.vector_width + extra; }
  std::string name() const { return std::to_string(rows) + 'x' + std::to_string(vectors) + (extra ? "+1" : ""); }
};

Tile largest_tile(const DeviceTraits& traits) {
  if (traits.kind == DeviceClass::kWide) return traits.vector_width == 16 ? Tile{8, 3} : Tile{4, 3};
  return traits.vector_width == 4 ? Tile{16, 4} : Tile{8, 8};
}

/** What a row of tiles costs, in vectors. Wide tiles meet each number of A for more columns. */
double row_cost(const DeviceTraits& traits, const Tile& tile, int64_t n) {
  double vectors = tile.vectors + (tile.extra ? 1.0 / tile.rows : 0);
  return static_cast<double>(divide_up(n, tile.width(traits))) * vectors * (1 + 0.1 / tile.vectors);
}

/** The tile of so many rows that costs least, of at most `most` vectors. */
Tile tile_for(const DeviceTraits& traits, int rows, int64_t n, int64_t most) {
  Tile best{rows, 1};
  for (int vectors = 2; vectors <= std::min<int64_t>(largest_tile(traits).vectors, most); vectors++) {
    Tile tile{rows, vectors};
    if (row_cost(traits, tile, n) <= row_cost(traits, best, n)) best = tile;
  }
  return best;
}

/** `plain`, or a tile with an extra column that costs clearly less: its vectors lie aligned nowhere. */
Tile with_extra(const DeviceTraits& traits, const Tile& plain, int64_t n) {
  Tile best = plain;
  for (int vectors = 1; plain.rows <= traits.vector_width && vectors <= largest_tile(traits).vectors; vectors++) {
    Tile tile{plain.rows, vectors, true};
    double bound = best.extra ? row_cost(traits, best, n) : kWorthExtra * row_cost(traits, plain, n);
    if (tile.width(traits) <= n && row_cost(traits, tile, n) <= bound) best = tile;
  }
  return best;
}

int rows_for(const DeviceTraits& traits, int64_t m) {
  int rows = largest_tile(traits).rows;
  while (rows > m) rows /= 2;
  return rows;
}

bool packs_columns(const Lowering& l, const Product& product) {
  const Matrix& b = product.b;
  if (!b.offsets.empty() || product.b_is_packed) return false;
  if (b.input >= 0 && l.is_constant(b.input)) return true;
  if (b.column != 1 || b.type != ElementType::kFloat) return true;
  if (!product.b_has_slack && product.n < l.traits().vector_width) return true;
  return product.m >= kFewRows && product.k * b.row * static_cast<int64_t>(sizeof(float)) > kFarRows;
}

bool packs_rows(const Lowering& l, const Product& product) {
  const Matrix& a = product.a;
  return l.traits().kind == DeviceClass::kWide && !product.a_is_packed && a.input >= 0 && l.is_constant(a.input);
}

/** Whether operands of a product come in panels that are made for it. */
struct Packs {
  bool a, b;
};

struct Operands {
  Matrix a, b;
};

TiledLaunch in_registers(Lowering& l, const Product& product, const Tile& tile, const Operands& from, Packs packs) {
  const DeviceTraits& traits = l.traits();
  int64_t tiles = divide_up(product.m, tile.rows);
  int group = traits.kind == DeviceClass::kWide ? 1 : 8;
  KernelCall call = l.call("product_registers");
  call.group(group).constant("TM", tile.rows).constant("TN", tile.vectors).constant("EXTRA", tile.extra);
  call.constant("A_PACKED", packs.a || product.a_is_packed);
  call.constant("B_FORM", packs.b || product.b_is_packed ? kColumnsPacked
                          : from.b.offsets.empty()       ? kColumnsInRows
                                                         : kColumnsByOffsets);
  add_product(l, call, product, from.a, from.b);
  return {std::move(call),
          {divide_up(tiles, group), divide_up(product.n, tile.width(traits)), product.outer * product.inner}};
}

Tile tile_of(const std::string& name) {
  return {std::stoi(name), std::stoi(name.substr(name.find('x') + 1)), name.ends_with("+1")};
}

/** Names of tiles to try: `first` and those beside it, or all. */
std::vector<std::string> tiles_to_try(const Lowering& l, const Product& product, const Tile& first, int64_t most) {
  std::vector<std::string> names = {first.name()};
  const bool all = l.tuning() == Tuning::kFull;
  const Tile largest = largest_tile(l.traits());
  for (int rows = 2 * largest.rows; rows >= 1; rows /= 2) {
    for (int vectors = largest.vectors; vectors >= 1; vectors--) {
      bool beside = rows * 2 >= first.rows && rows <= first.rows * 2 && std::abs(vectors - first.vectors) <= 1;
      Tile tile{rows, vectors};
      if ((all || beside) && rows <= product.m && vectors <= most && tile.name() != names[0])
        names.push_back(tile.name());
    }
  }
  return names;
}

/** The operands for a tile, or memory for them of which nothing is written. */
Operands operands_of(Lowering& l, const Product& product, const Tile& tile, Packs packs) {
  return {packs.a ? panels_of_rows(l, product, tile.rows) : in_memory(l, product.a),
          packs.b ? panels_of_columns(l, product, tile.width(l.traits())) : in_memory(l, product.b)};
}

Operands blanks_of(Lowering& l, const Product& product, const Tile& tile, Packs packs) {
  return {packs.a ? blank_panels_of_rows(l, product, tile.rows) : in_memory(l, product.a),
          packs.b ? blank_panels_of_columns(l, product, tile.width(l.traits())) : in_memory(l, product.b)};
}

Tile choose_tile(Lowering& l, const Product& product, Packs packs) {
  const DeviceTraits& traits = l.traits();
  bool has_panels = packs.b || product.b_is_packed;
  int64_t most = has_panels || product.b_has_slack ? product.n : product.n / traits.vector_width;
  Tile first = tile_for(traits, rows_for(traits, product.m), product.n, most);
  if (packs.a && !has_panels) first = with_extra(traits, first, product.n);
  if (l.tuning() == Tuning::kNone || product.a_is_packed || product.b_is_packed) return first;
  std::vector<std::string> names = tiles_to_try(l, product, first, most);
  return tile_of(
      l.tuner().choose("product_registers", problem_of(product, packs.b), names, [&](const std::string& name) {
        Tile tile = tile_of(name);
        return in_registers(l, product, tile, blanks_of(l, product, tile, packs), packs).measure();
      }));
}

void multiply_in_registers(Lowering& l, const Product& product) {
  Packs packs = {packs_rows(l, product), packs_columns(l, product)};
  Tile tile = choose_tile(l, product, packs);
  in_registers(l, product, tile, operands_of(l, product, tile, packs), packs).run();
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
  bool fits(const DeviceTraits& traits, size_t element_bytes) const {
    size_t elements = static_cast<size_t>(depth) * side * (rows + vectors * traits.vector_width);
    return side * side <= traits.max_group_items && elements * element_bytes <= traits.shared_bytes;
  }
};

bool computes_in_halves(const Lowering& l, const Product& p) {
  return l.precision() == Precision::kHalf && has_half_factors(p) && !l.traits().matrix_units.half;
}

/** `first`, and what differs from it in one number, or all. */
std::map<std::string, SharedTile> shared_tiles(const Lowering& l, const SharedTile& first, size_t element_bytes) {
  std::map<std::string, SharedTile> tiles;
  const int most = l.tuning() == Tuning::kNone ? 0 : l.tuning() == Tuning::kFast ? 1 : 4;
  for (int side : {8, 16}) {
    for (int rows : {2, 4, 8}) {
      for (int vectors : {1, 2, 4}) {
        for (int depth : {8, 16, 32}) {
          SharedTile tile{side, rows, vectors, depth};
          if (tile.differences(first) <= most && tile.fits(l.traits(), element_bytes)) tiles.emplace(tile.name(), tile);
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
  bool in_halves = computes_in_halves(l, product);
  KernelCall call = l.call(in_halves ? "product_shared_half" : "product_shared");
  if (in_halves) call.constant("RUN", std::min(tile.depth, kHalfRun));
  call.group(tile.side, tile.side).constant("TM", tile.rows).constant("TN", tile.vectors).constant("BK", tile.depth);
  call.constant("B_FORM", b.offsets.empty() ? kColumnsInRows : kColumnsByOffsets)
      .constant("B_HALF", b.type == ElementType::kFloat16);
  add_product(l, call, product, a, b);
  return {std::move(call), {divide_up(product.m, rows), divide_up(product.n, columns), product.outer * product.inner}};
}

TiledLaunch choose_in_shared_memory(Lowering& l, const Product& product) {
  const DeviceTraits& traits = l.traits();
  SharedTile first{traits.max_group_items >= 256 ? 16 : 8, 4, std::max(1, 4 / traits.vector_width), 16};
  bool in_halves = computes_in_halves(l, product);
  std::map<std::string, SharedTile> tiles = shared_tiles(l, first, in_halves ? sizeof(uint16_t) : sizeof(float));
  std::vector<std::string> names = {first.name()};
  for (const auto& [name, tile] : tiles) {
    if (name != names[0]) names.push_back(name);
  }
  std::string name =
      l.tuner().choose(in_halves ? "product_shared_half" : "product_shared", problem_of(product, false), names,
                       [&](const std::string& name) { return in_shared_memory(l, product, tiles.at(name)).measure(); });
  return in_shared_memory(l, product, tiles.at(name));
}

}  // namespace

bool has_half_factors(const Product& p) {
  bool of_halves = p.a.type == ElementType::kFloat16 && p.b.type == ElementType::kFloat16;
  return of_halves || p.type == ElementType::kFloat16;
}

Matrix in_memory(Lowering& l, Matrix matrix) {
  if (matrix.input >= 0) matrix.memory = l.input(matrix.input);
  return matrix;
}

/** Offsets of rows, then what is said of columns. */
std::vector<int32_t> table_of(const Matrix& b) {
  std::vector<int32_t> table = b.offsets;
  table.insert(table.end(), b.columns.begin(), b.columns.end());
  table.insert(table.end(), b.there.begin(), b.there.end());
  return table;
}

Distances distances_of_c(const Product& p) {
  const int64_t row = p.c_row == 0 ? p.n : p.c_row;
  return {row, p.c_matrix == 0 ? p.m * row : p.c_matrix};
}

void add_product(Lowering& l, KernelCall& call, const Product& p, const Matrix& a, const Matrix& b) {
  const Finish& f = p.finish;
  PlaceGrid grid = p.grid.value_or(PlaceGrid{});
  int64_t elements = p.m * (p.grid ? grid.stored : p.n);
  if (elements > INT32_MAX)
    l.fail("a product of " + std::to_string(elements) + " elements is beyond what kernels count");
  call.constant("GRID", p.grid.has_value())
      .constant("ADDEND", f.addend ? 1 + static_cast<int>(f.addend_column) : 0)
      .constant("RESIDUAL", f.residual.has_value())
      .constant("HALF", p.type == ElementType::kFloat16)
      .constant("A_HALF", a.type == ElementType::kFloat16);
  add_step_constants(call, f);
  call.read(a.memory).read(b.memory).read(f.addend.value_or(a.memory)).read(f.residual.value_or(a.memory));
  call.read(b.offsets.empty() ? a.memory : l.table(table_of(b))).write(p.c);
  call.params(p.m, p.n, p.k, p.inner, a.row, a.column, a.inner, a.outer, b.row, b.column, b.inner, b.outer);
  const Distances c = distances_of_c(p);
  call.params(f.addend_row, f.addend_inner, b.taps > 0 ? b.taps : grid.grid_w, p.grid ? grid.w : c.row);
  call.params(grid.grid_h, p.grid ? grid.h : c.matrix);
  call.params(a.first, b.first, p.c_first);
  call.params(f.alpha, f.beta, f.low, f.high);
  add_step_numbers(call, f);
}

std::string problem_of(const Product& p, bool packs_b) {
  std::string name;
  for (int64_t size : {p.m, p.n, p.k, p.outer * p.inner}) name += std::to_string(size) + ' ';
  for (ElementType type : {p.type, p.a.type, p.b.type}) name += std::to_string(static_cast<int>(type)) + ' ';
  for (bool form : {packs_b, !p.b.offsets.empty(), p.grid.has_value(), p.a.column == 1, p.b.column == 1}) {
    name += form ? '1' : '0';
  }
  return name;
}

int64_t product_slack(const DeviceTraits& traits) {
  return int64_t{largest_tile(traits).vectors} * traits.vector_width;
}

int64_t panel_height(const DeviceTraits& traits, int64_t m) { return rows_for(traits, m); }

int64_t panel_width(const DeviceTraits& traits, int64_t n) { return tile_for(traits, 1, n, n).width(traits); }

double columns_cost(const DeviceTraits& traits, int64_t n) {
  Tile plain = tile_for(traits, largest_tile(traits).rows, n, n);
  return row_cost(traits, with_extra(traits, plain, n), n);
}

namespace {

void multiply_at_once(Lowering& l, const Product& product, bool may_take_library) {
  if (l.traits().kind == DeviceClass::kGpu) {
    TiledLaunch plain = choose_in_shared_memory(l, product);
    std::optional<TiledLaunch> on_units = on_matrix_units(l, product, [&] { return plain.measure(); });
    TiledLaunch& own = on_units ? *on_units : plain;
    bool by_library = may_take_library && !computes_in_halves(l, product) &&
                      multiply_by_library(l, product, [&] { return own.measure(); });
    if (!by_library) own.run();
  } else if (!may_take_library || !multiply_by_library(l, product, {})) {
    multiplies_in_lanes(l.traits()) ? multiply_in_lanes(l, product) : multiply_in_registers(l, product);
  }
}

}  // namespace

void multiply(Lowering& l, const Product& product) {
  if (product.m == 0 || product.n == 0 || product.outer * product.inner == 0) return;
  const std::vector<Product> parts = parts_of(l, product);
  for (const Product& part : parts) multiply_at_once(l, part, parts.size() == 1);
}

}  // namespace ortolan::gpu
