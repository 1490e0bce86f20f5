// Products for devices whose items are lanes of a vector: loads cost most there, and one brings a number for each item,
// or two that lie together.
#include <algorithm>

#include "gpu/core/elements/row_items.h"
#include "gpu/core/products/product_launches.h"
#include "gpu/core/products/product_panels.h"

namespace ortolan::gpu {
namespace {

constexpr double kLoad = 30;     // the cost of a load to that of a vector's multiplications and sums
constexpr size_t kFewTiles = 3;  // to try
constexpr int kMostSums = 32;    // vectors of a tile: compilers take minutes for more
enum Form { kPairedPanels = 0, kPanels = 1, kDistances = 2, kPairedRows = 3 };            // A_FORM of the kernel
enum ColumnForm { kPanelPairs = 0, kRows = 1, kOffsets = 2, kRowPairs = 3, kImage = 4 };  // B_FORM

struct LaneTile {
  int rows, vectors;
  int64_t width(const DeviceTraits& traits) const { return int64_t{vectors} * kLaneItems * traits.vector_width; }
  std::string name() const { return std::to_string(rows) + 'x' + std::to_string(vectors); }
};

LaneTile tile_of(const std::string& name) { return {std::stoi(name), std::stoi(name.substr(name.find('x') + 1))}; }

bool is_constant(const Lowering& l, const Matrix& matrix) { return matrix.input >= 0 && l.is_constant(matrix.input); }

bool packs_columns(const Lowering& l, const Product& product) {
  const Matrix& b = product.b;
  return b.offsets.empty() && (is_constant(l, b) || b.column != 1 || b.type != ElementType::kFloat);
}

bool is_even(std::initializer_list<int64_t> numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](int64_t number) { return number % 2 == 0; });
}

Form form_of_rows(const Matrix& a, const LaneTile& tile, bool packed, int steps) {
  if (packed) return tile.rows % (2 * kLaneItems) == 0 ? kPairedPanels : kPanels;
  bool pairs = a.column == 1 && a.type == ElementType::kFloat && is_even({a.first, a.row, a.inner, a.outer});
  return pairs && steps % 2 == 0 ? kPairedRows : kDistances;
}

ColumnForm form_of_columns(const Matrix& b, bool packed, int64_t n) {
  if (packed) return kPanelPairs;
  if (!b.offsets.empty()) return b.taps > 0 ? kImage : kOffsets;
  return is_even({b.first, b.row, b.inner, b.outer, n}) ? kRowPairs : kRows;
}

/** Loads of a step along K, in numbers for each item. */
double loads_of(const DeviceTraits& traits, const LaneTile& tile, bool pairs_a, bool pairs_b) {
  int of_rows = tile.rows > kLaneItems && pairs_a ? tile.rows / (2 * kLaneItems) : divide_up(tile.rows, kLaneItems);
  return of_rows + tile.vectors * traits.vector_width / (pairs_b ? 2.0 : 1.0);
}

double cost_of(const DeviceTraits& traits, const LaneTile& tile, const Product& p, bool pairs_a, bool pairs_b) {
  double step = kLoad * loads_of(traits, tile, pairs_a, pairs_b) + tile.rows * tile.vectors * traits.vector_width;
  return static_cast<double>(divide_up(p.m, tile.rows) * divide_up(p.n, tile.width(traits))) * step;
}

/** Vectors of a tile. More than there are registers are kept in memory, which takes a third longer. */
int most_sums(const DeviceTraits& traits) { return std::min(kMostSums, traits.vector_registers); }

/** Steps along K that are made at once: rows that are no panels come in pairs of them. */
int steps_of(const DeviceTraits& traits, int64_t k, bool panels_of_rows) {
  const bool few_registers = traits.vector_registers < kMostSums;
  return k % 2 != 0 || (panels_of_rows && few_registers) ? 1 : 2;
}

/** All tiles, the one that is thought to cost least first. */
std::vector<LaneTile> tiles_for(const DeviceTraits& traits, const Product& p, bool pairs_a, bool pairs_b) {
  std::vector<LaneTile> tiles;
  const int most = most_sums(traits);
  for (int rows = 1; rows <= most; rows *= 2) {
    for (int vectors = 1; vectors <= 2 && rows * vectors <= most; vectors++) tiles.push_back({rows, vectors});
  }
  std::stable_sort(tiles.begin(), tiles.end(), [&](const LaneTile& a, const LaneTile& b) {
    return cost_of(traits, a, p, pairs_a, pairs_b) < cost_of(traits, b, p, pairs_a, pairs_b);
  });
  return tiles;
}

/** Which operands come in panels that are made for the product. */
struct Panels {
  bool a, b;
};

TiledLaunch in_lanes(Lowering& l, const Product& product, const LaneTile& tile, Panels panels, bool blank) {
  const DeviceTraits& traits = l.traits();
  auto rows = blank ? blank_panels_of_rows : panels_of_rows;
  auto columns = blank ? blank_panels_of_columns : panels_of_columns;
  Matrix a = panels.a ? rows(l, product, tile.rows) : in_memory(l, product.a);
  Matrix b = panels.b ? columns(l, product, tile.width(traits)) : in_memory(l, product.b);
  int steps = steps_of(traits, product.k, panels.a);
  KernelCall call = l.call("product_lanes");
  call.group(kLaneItems).constant("TM", tile.rows).constant("TN", tile.vectors).constant("KU", steps);
  call.rounds(divide_up(product.k, steps) + tile.rows);
  call.constant("A_FORM", form_of_rows(a, tile, panels.a, steps));
  call.constant("B_FORM", form_of_columns(b, panels.b, product.n));
  call.constant("B_HALF", b.taps > 0 && b.type == ElementType::kFloat16);
  add_product(l, call, product, a, b);
  return {std::move(call),
          {divide_up(product.m, tile.rows), divide_up(product.n, tile.width(traits)), product.outer * product.inner}};
}

}  // namespace

bool multiplies_in_lanes(const DeviceTraits& traits) {
  return traits.kind == DeviceClass::kLanes && traits.vector_width % 2 == 0;
}

void multiply_in_lanes(Lowering& l, const Product& product) {
  Panels panels = {is_constant(l, product.a), packs_columns(l, product)};
  bool pairs_a = panels.a || form_of_rows(product.a, {}, false, steps_of(l.traits(), product.k, false)) == kPairedRows;
  ColumnForm columns = form_of_columns(product.b, panels.b, product.n);
  bool pairs_b = columns == kPanelPairs || columns == kRowPairs;
  std::vector<LaneTile> tiles = tiles_for(l.traits(), product, pairs_a, pairs_b);
  tiles.resize(l.tuning() == Tuning::kNone ? 1 : l.tuning() == Tuning::kFast ? kFewTiles : tiles.size());
  std::vector<std::string> names;
  for (const LaneTile& tile : tiles) names.push_back(tile.name());
  auto measure = [&](const std::string& name) { return in_lanes(l, product, tile_of(name), panels, true).measure(); };
  std::string name = l.tuner().choose("product_lanes", problem_of(product, panels.b), names, measure);
  in_lanes(l, product, tile_of(name), panels, false).run();
}

}  // namespace ortolan::gpu
