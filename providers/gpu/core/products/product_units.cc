// Products on matrix units (kernels/product_matrix_units.k, and product_cooperative.k for units that take matrices
// whole): which they make, by which tiles, and how operands are read.
#include <algorithm>
#include <map>
#include <span>

#include "gpu/core/products/product_launches.h"

namespace ortolan::gpu {
namespace {

constexpr UnitMatrices kUnit{16, 8, 16, 32};  // as kernels/matrix_units.k has it
constexpr int kDepth = 16;                    // words of factors of a step along K, in pairs where they are halves
constexpr int64_t kLoad = 32;                 // what a line of factors costs, in sums of the tile
constexpr size_t kFewTiles = 3;               // to try

bool takes_whole(const DeviceTraits& traits) { return traits.matrix_units.whole.items > 0; }

/** Rows of items, below each other and side by side, each with so many of the units' matrices. */
struct UnitTile {
  int down, across, rows, columns;
  UnitMatrices unit = kUnit;
  int64_t height() const { return int64_t{down} * rows * unit.rows; }
  int64_t width() const { return int64_t{across} * columns * unit.columns; }
  std::string name() const {
    std::string name;
    for (int number : {down, across, rows, columns}) name += (name.empty() ? "" : " ") + std::to_string(number);
    return name;
  }
  bool fits(const DeviceTraits& traits) const {
    const int64_t factors = std::max((height() + width()) * (kDepth + 4), (height() + width() + 16) * kDepth);
    const int64_t sums = int64_t{down} * across * unit.rows * (columns * unit.columns + 4);
    const int64_t words = takes_whole(traits) ? factors + sums : std::max(factors, sums);
    return down * across * unit.items <= traits.max_group_items &&
           static_cast<size_t>(words) * sizeof(uint32_t) <= traits.shared_bytes;
  }
  /** What the product costs: rounds of groups, each with its sums and its factors. */
  int64_t cost(const DeviceTraits& traits, const Product& p) const {
    int64_t groups = divide_up(p.m, height()) * divide_up(p.n, width()) * p.outer * p.inner;
    return divide_up(groups, traits.compute_units) * (height() * width() + kLoad * (height() + width()));
  }
};

constexpr UnitTile kTiles[] = {{2, 4, 4, 4}, {2, 2, 4, 4}, {2, 2, 2, 4}, {2, 2, 1, 2}, {1, 4, 1, 4}, {4, 1, 2, 1}};
// The same of matrices of 16 x 16, which most units take whole; the largest with more rows of items, or with fewer.
constexpr UnitTile kWholeTiles[] = {{2, 4, 4, 2}, {2, 2, 4, 4}, {2, 2, 4, 2}, {2, 2, 2, 2},
                                    {2, 2, 1, 1}, {1, 4, 1, 2}, {4, 1, 2, 1}};

/** The tiles to try, the one that is thought to cost least first. */
std::vector<UnitTile> tiles_for(const Lowering& l, const Product& product) {
  const DeviceTraits& traits = l.traits();
  std::vector<UnitTile> tiles;
  const std::span<const UnitTile> all =
      takes_whole(traits) ? std::span<const UnitTile>(kWholeTiles) : std::span<const UnitTile>(kTiles);
  for (UnitTile tile : all) {
    if (takes_whole(traits)) tile.unit = traits.matrix_units.whole;
    if (tile.fits(traits)) tiles.push_back(tile);
  }
  std::stable_sort(tiles.begin(), tiles.end(), [&](const UnitTile& a, const UnitTile& b) {
    return a.cost(traits, product) < b.cost(traits, product);
  });
  if (l.tuning() != Tuning::kFull) tiles.resize(std::min(tiles.size(), l.tuning() == Tuning::kNone ? 1 : kFewTiles));
  return tiles;
}

/** What units multiply, as the kernel's FACTORS says it. */
enum Factors { kNoFactors, kTf32Factors, kHalfFactors, kBfloatFactors };

int packed(Factors factors) { return factors == kTf32Factors ? 1 : 2; }

/** None where units do not make the product as exactly as it is asked for. */
Factors factors_of(const Lowering& l, const Product& product) {
  const MatrixUnits& units = l.traits().matrix_units;
  if (units.half && has_half_factors(product)) return kHalfFactors;
  if (units.tf32 && l.precision() == Precision::kTf32) return kTf32Factors;
  return units.bfloat && l.precision() == Precision::kBfloat ? kBfloatFactors : kNoFactors;
}

/** How an operand lies: rows of A or columns of B are its lines. */
struct Lines {
  const Matrix& matrix;
  int64_t count, step;    // lines
  int64_t depth, k_step;  // along K
  bool lie_side_by_side() const { return !matrix.offsets.empty() || (step == 1 && k_step != 1); }
  /** Whether four words of factors lie in order wherever a tile has them. */
  bool has_quads(Factors factors) const { return has(lie_side_by_side() ? 4 : 4 * packed(factors), factors); }
  /** The same of so many elements. */
  bool has(int64_t together, Factors factors) const {
    const bool is_across = lie_side_by_side();
    auto is_even = [&](int64_t number) { return number % together == 0; };
    bool in_order = matrix.type == (factors == kHalfFactors ? ElementType::kFloat16 : ElementType::kFloat) &&
                    (is_across ? step : k_step) == 1 && is_even(is_across ? count : depth);
    return in_order && is_even(is_across ? k_step : step) && is_even(matrix.first) && is_even(matrix.inner) &&
           is_even(matrix.outer) && std::all_of(matrix.offsets.begin(), matrix.offsets.end(), is_even);
  }
};

TiledLaunch on_units(Lowering& l, const Product& product, const UnitTile& tile, Factors factors) {
  Matrix a = in_memory(l, product.a), b = in_memory(l, product.b);
  Lines rows{a, product.m, a.row, product.k, a.column}, columns{b, product.n, b.column, product.k, b.row};
  const bool is_whole = takes_whole(l.traits());
  KernelCall call = l.call(is_whole ? "product_cooperative" : "product_matrix_units");
  call.group(tile.unit.items, tile.down * tile.across).constant("DOWN", tile.down).constant("TM", tile.rows);
  call.constant("TN", tile.columns).constant("A_LINES", rows.lie_side_by_side());
  call.constant("B_LINES", columns.lie_side_by_side());
  if (is_whole) {
    call.constant("BK", kDepth * packed(factors)).constant("UNIT_ROWS", tile.unit.rows);
    call.constant("UNIT_COLUMNS", tile.unit.columns).constant("UNIT_DEPTH", tile.unit.depth);
    call.constant("A_EIGHTS", rows.has(8, factors)).constant("B_EIGHTS", columns.has(8, factors));
  } else {
    call.constant("BK", kDepth).constant("FACTORS", factors);
    call.constant("A_QUADS", rows.has_quads(factors)).constant("B_QUADS", columns.has_quads(factors));
  }
  call.constant("B_FORM", b.offsets.empty() ? kColumnsInRows : kColumnsByOffsets)
      .constant("B_HALF", b.type == ElementType::kFloat16);
  add_product(l, call, product, a, b);
  return {std::move(call),
          {divide_up(product.m, tile.height()), divide_up(product.n, tile.width()), product.outer * product.inner}};
}

}  // namespace

std::optional<TiledLaunch> on_matrix_units(Lowering& l, const Product& product,
                                           const std::function<int64_t()>& plain_time) {
  static const std::string kPlain = "product_shared";
  const Factors factors = factors_of(l, product);
  std::map<std::string, UnitTile> tiles;
  std::vector<std::string> names;
  if (factors == kNoFactors) return {};
  for (const UnitTile& tile : tiles_for(l, product)) {
    names.push_back(tile.name());
    tiles.emplace(tile.name(), tile);
  }
  names.push_back(kPlain);
  std::string problem = problem_of(product, false) + ' ' + std::to_string(factors);
  std::string name = l.tuner().choose("product_matrix_units", problem, names, [&](const std::string& name) {
    return name == kPlain ? plain_time() : on_units(l, product, tiles.at(name), factors).measure();
  });
  if (name == kPlain) return {};
  return on_units(l, product, tiles.at(name), factors);
}

}  // namespace ortolan::gpu
