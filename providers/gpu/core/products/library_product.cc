// Which products a library can make, which it is worth it for, and their launches.
#include "gpu/core/products/library_product.h"

#include <algorithm>
#include <cmath>

#include "gpu/core/elements/moves.h"

namespace ortolan::gpu {
namespace {

/** Whether elements lie together along an axis of `count`, and the other axis steps over them without overlap. */
bool lies_along(int64_t step, int64_t count, int64_t other_step, int64_t other_count) {
  return (step == 1 || count == 1) && (other_step >= count || other_count == 1);
}

/** The distance of all matrices of a stack; nothing where they are not evenly apart. */
std::optional<int64_t> stack_of(const Matrix& matrix, const Product& product) {
  if (product.outer == 1) return product.inner == 1 ? 0 : matrix.inner;
  if (product.inner == 1) return matrix.outer;
  if (matrix.outer != matrix.inner * product.inner) return {};
  return matrix.inner;
}

/** An operand of rows x columns; nothing where a library cannot read it. */
std::optional<LibraryProduct::Matrix> operand_of(const Matrix& matrix, const Product& product, int64_t rows,
                                                 int64_t columns) {
  std::optional<int64_t> stack = stack_of(matrix, product);
  if (matrix.type != product.type || !matrix.offsets.empty() || !stack) return {};
  if (lies_along(matrix.column, columns, matrix.row, rows)) {
    return LibraryProduct::Matrix{matrix.first, std::max(matrix.row, columns), *stack, false};
  }
  if (lies_along(matrix.row, rows, matrix.column, columns)) {
    return LibraryProduct::Matrix{matrix.first, std::max(matrix.column, rows), *stack, true};
  }
  return {};
}

/** Whether all that is done to the product is to scale it and to add one tensor. */
bool only_adds(const Finish& finish) {
  bool clips = !std::isinf(finish.low) || !std::isinf(finish.high);
  return !clips && finish.steps.empty() && !(finish.addend && finish.residual);
}

bool adds(const Finish& finish) { return finish.addend || finish.residual; }

std::optional<LibraryProduct> library_product_of(const Product& p) {
  bool is_float = p.type == ElementType::kFloat || p.type == ElementType::kFloat16;
  if (!is_float || p.grid || p.a_is_packed || p.b_is_packed || p.k == 0 || !only_adds(p.finish)) return {};
  auto a = operand_of(p.a, p, p.m, p.k), b = operand_of(p.b, p, p.k, p.n);
  if (!a || !b) return {};
  LibraryProduct product{p.m, p.n, p.k, p.outer * p.inner, *a, *b, {p.c_first, p.n, p.m * p.n}};
  product.alpha = p.finish.alpha;
  product.beta = p.finish.residual ? 1 : p.finish.addend ? p.finish.beta : 0;
  product.is_half = p.type == ElementType::kFloat16;
  return product;
}

/** Puts what is to be added where the sums will be. */
void prepare_sums(Lowering& l, const Product& p) {
  const Finish& f = p.finish;
  StridedCopy copy{{p.outer, p.inner, p.m, p.n}, {}, {p.inner * p.m * p.n, p.m * p.n, p.n, 1}, 0, p.c_first};
  copy.from = f.addend ? Shape{0, f.addend_inner, f.addend_row, f.addend_column} : copy.to;
  if (f.residual) copy.from_start = p.c_first;
  copy_strided(l, f.addend ? *f.addend : *f.residual, p.c, element_bytes(p.type), std::move(copy));
}

Memory memory_of(Lowering& l, const Matrix& matrix) {
  return matrix.input >= 0 ? l.input(matrix.input) : matrix.memory;
}

std::string problem_of(const ProductLibrary& library, const LibraryProduct& p) {
  std::string name = library.name();
  for (int64_t size : {p.m, p.n, p.k, p.count}) name += ' ' + std::to_string(size);
  for (bool form : {p.a.turned, p.b.turned, p.beta != 0, p.is_half, p.is_rounded}) name += form ? " 1" : " 0";
  return name;
}

/** The faster of the two where the device is tuned; else the library. */
bool is_faster(Lowering& l, const ProductLibrary& library, const LibraryProduct& product, const LibraryCall& call,
               const std::function<int64_t()>& own_time) {
  return l.tuner().choose("product_shared", problem_of(library, product), {"library", "own"},
                          [&](const std::string& name) {
                            return name == "own" ? own_time() : l.recording().measure(call);
                          }) == "library";
}

}  // namespace

bool multiply_by_library(Lowering& l, const Product& product, const std::function<int64_t()>& own_time) {
  const Engine& engine = l.recording().engine();
  const bool is_asked = engine.products() == Products::kLibrary;
  ProductLibrary* library = engine.product_library();
  if (library == nullptr) return false;
  std::optional<LibraryProduct> wanted = library_product_of(product);
  if (wanted) wanted->is_rounded = rounds_factors(l.precision());
  if (!wanted || (!is_asked && !library->suits(*wanted))) return false;
  LibraryCall call{library->name(), library->load(*wanted), {}};
  if (call.kernel == nullptr) return false;
  call.uses = {{memory_of(l, product.a), false}, {memory_of(l, product.b), false}, {product.c, true}};
  if (!is_asked && !is_faster(l, *library, *wanted, call, own_time)) return false;
  if (adds(product.finish)) prepare_sums(l, product);
  l.recording().launch(std::move(call));
  return true;
}

}  // namespace ortolan::gpu
