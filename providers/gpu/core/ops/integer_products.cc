// MatMulInteger with a matrix on the right: products of 8-bit integers, on matrix units where the device has such.
#include "gpu/core/operators.h"
#include "gpu/core/products/product.h"

namespace ortolan::gpu {
namespace {

using enum ElementType;

constexpr const char *kPlain = "product_integers", *kOnUnits = "product_integer_units";

std::string refuse_zero_points(const Candidate& candidate) {
  for (size_t i : {2, 3}) {
    if (candidate.has(i) && candidate.rank(i) != 0 && candidate.rank(i) != 1) {
      return "zero points are not known to be one number or one for each row or column";
    }
  }
  const bool by_row = candidate.has(2) && candidate.rank(2) == 1;
  return by_row && candidate.rank(0) != 2 ? "A is a stack of matrices, whose rows share zero points" : "";
}

std::string refuse(const Candidate& candidate) {
  if (candidate.traits().kind != DeviceClass::kGpu) return "processors have faster products of integers than kernels";
  for (size_t i : {0, 1}) {
    std::string refusal = refuse_unless(candidate, i, {kUint8, kInt8});
    if (refusal.empty() && candidate.has(i + 2)) refusal = refuse_unless(candidate, i + 2, {candidate.type(i)});
    if (!refusal.empty()) return refusal;
  }
  if (candidate.rank(1) != 2) return "B is not known to be a matrix; stacks of matrices on the right are not taken";
  return candidate.rank(0) < 2 ? "A has no rows" : refuse_zero_points(candidate);
}

struct IntegerProduct {
  int64_t m, n, k;
  Memory a, b, a_zero, b_zero, c;
  int a_step, b_step;  // -1: no zero point; 0: one; 1: one for each row of A, or column of B
};

/** How zero points of an input lie, of which there may be `lines`. */
int step_of(const Lowering& l, size_t i, int64_t lines) {
  if (!l.has(i)) return -1;
  if (l.count(i) == 1) return 0;
  if (l.count(i) != lines || l.shape(i).size() != 1) {
    l.fail("input " + std::to_string(i) + " has " + std::to_string(l.count(i)) + " zero points for " +
           std::to_string(lines) + " rows or columns");
  }
  return 1;
}

IntegerProduct product_of(Lowering& l) {
  const Shape &a = l.shape(0), &b = l.shape(1);
  IntegerProduct p;
  p.m = element_count(a, 0, a.size() - 1), p.k = a.back(), p.n = b[1];
  if (b[0] != p.k) {
    l.fail("rows of A have " + std::to_string(p.k) + " elements, columns of B have " + std::to_string(b[0]));
  }
  p.a_step = step_of(l, 2, p.m), p.b_step = step_of(l, 3, p.n);
  Shape shape = a;
  shape.back() = p.n;
  p.a = l.input(0), p.b = l.input(1);
  p.a_zero = l.has(2) ? l.input(2) : p.a, p.b_zero = l.has(3) ? l.input(3) : p.b;
  p.c = l.output(0, kInt32, shape);
  return p;
}

struct Launched {
  KernelCall call;
  int64_t groups_x, groups_y;
};

/** Either kernel, whose groups make tiles of 64 x 64. */
Launched launch_of(Lowering& l, const IntegerProduct& p, const std::string& kernel) {
  constexpr int64_t kSide = 64;
  KernelCall call = l.call(kernel == kPlain ? kPlain : kOnUnits);
  if (kernel == kPlain) {
    call.group(16, 16).constant("TM", 4).constant("TN", 4).constant("BK", 8);
  } else {
    call.group(32, 4).constant("DOWN", 2).constant("TM", 2).constant("TN", 4).constant("BK", 16);
  }
  call.constant("A_SIGNED", l.type(0) == kInt8).constant("B_SIGNED", l.type(1) == kInt8);
  call.constant("A_STEP", p.a_step).constant("B_STEP", p.b_step).constant("A_WORDS", p.k % 4 == 0);
  call.read(p.a).read(p.b).read(p.a_zero).read(p.b_zero).write(p.c).params(p.m, p.n, p.k);
  return {std::move(call), divide_up(p.m, kSide), divide_up(p.n, kSide)};
}

void lower(Lowering& l) {
  const IntegerProduct p = product_of(l);
  if (p.m == 0 || p.n == 0) return;
  std::vector<std::string> kernels = {kPlain};
  if (l.traits().matrix_units.bytes) kernels.insert(kernels.begin(), kOnUnits);
  const std::string problem = std::to_string(p.m) + ' ' + std::to_string(p.n) + ' ' + std::to_string(p.k) + ' ' +
                              std::to_string(p.a_step) + ' ' + std::to_string(p.b_step);
  const std::string kernel = l.tuner().choose(kPlain, problem, kernels, [&](const std::string& name) {
    Launched tried = launch_of(l, p, name);
    return tried.call.measure(tried.groups_x, tried.groups_y, 1);
  });
  Launched chosen = launch_of(l, p, kernel);
  chosen.call.run(chosen.groups_x, chosen.groups_y, 1);
}

constexpr Operator kRows[] = {{"", "MatMulInteger", 10, kNewest, refuse, lower}};

}  // namespace

std::span<const Operator> integer_products_operators() { return kRows; }

}  // namespace ortolan::gpu
