// Matrix products: MatMul by numpy's rule, Gemm, and com.microsoft's forms of them with transposition, a factor and an
// activation.
#include <algorithm>

#include "gpu/core/elements/moves.h"
#include "gpu/core/products/product_parts.h"

namespace ortolan::gpu {
namespace {

constexpr int64_t kFewRows = 16;  // of the left operand, for each of which the right one is read

/** Dimensions of a stack of products, outermost first: how many, and how far apart the operands' matrices lie. */
struct StackAxis {
  int64_t count, a, b;
};

struct Operand {
  Shape batch;
  std::vector<int64_t> steps;  // from one matrix to the next along the axes of the batch
  int64_t rows = 1, columns = 1;
  Matrix matrix = {};
};

/** Whether kernels read an operand that lies like that as fast as a copy in order: rows that lie together, and on
 * devices whose caches they would not stay in, few readers of each. */
bool is_read_in_place(const Lowering& l, const Layout& layout, bool is_left) {
  const Shape& left = l.shape(0);
  bool is_read_often = !is_left && left.size() > 1 && left[left.size() - 2] > kFewRows;
  return layout.strides.back() == 1 && !(is_read_often && l.traits().kind == DeviceClass::kWide);
}

Operand operand_of(Lowering& l, int input, bool transposed) {
  const Shape& shape = l.shape(input);
  const bool is_left = input == 0;
  std::optional<Layout> layout = shape.size() > 1 && !transposed ? layout_of(l, input) : std::nullopt;
  if (layout && !is_read_in_place(l, *layout, is_left)) layout.reset();
  Operand operand;
  operand.matrix.type = l.type(input);
  operand.matrix.input = layout ? -1 : input;
  if (layout) operand.matrix.memory = layout->memory, operand.matrix.first = layout->first;
  std::vector<int64_t> strides = layout ? layout->strides : strides_of(shape);
  if (shape.size() == 1) {
    (is_left ? operand.columns : operand.rows) = shape[0];
    operand.matrix.row = is_left ? shape[0] : 1, operand.matrix.column = 1;
    return operand;
  }
  size_t row = shape.size() - (transposed ? 1 : 2), column = shape.size() - (transposed ? 2 : 1);
  operand.rows = shape[row], operand.columns = shape[column];
  operand.matrix.row = strides[row], operand.matrix.column = strides[column];
  operand.batch.assign(shape.begin(), shape.end() - 2);
  operand.steps.assign(strides.begin(), strides.end() - 2);
  return operand;
}

/** Distances of an operand's matrices along the axes of a batch that it broadcasts to. */
std::vector<int64_t> distances(const Operand& operand, size_t rank) {
  std::vector<int64_t> result(rank, 0);
  for (size_t i = 0; i < operand.batch.size(); i++) {
    if (operand.batch[i] != 1) result[rank - operand.batch.size() + i] = operand.steps[i];
  }
  return result;
}

Shape broadcast_batch(const Lowering& l, const Shape& a, const Shape& b) {
  Shape result(std::max(a.size(), b.size()), 1);
  for (const Shape* batch : {&a, &b}) {
    for (size_t i = 0; i < batch->size(); i++) {
      int64_t& dimension = result[result.size() - batch->size() + i];
      if (dimension != 1 && (*batch)[i] != 1 && dimension != (*batch)[i]) {
        l.fail("stacks of " + std::to_string(dimension) + " and " + std::to_string((*batch)[i]) +
               " matrices do not broadcast");
      }
      if (dimension == 1) dimension = (*batch)[i];
    }
  }
  return result;
}

/** Axes with neighbours joined where both operands step through them evenly. */
std::vector<StackAxis> joined_axes(const Shape& batch, const Operand& a, const Operand& b) {
  std::vector<int64_t> a_steps = distances(a, batch.size()), b_steps = distances(b, batch.size());
  std::vector<StackAxis> axes;
  for (size_t i = 0; i < batch.size(); i++) {
    if (batch[i] == 1) continue;
    StackAxis axis{batch[i], a_steps[i], b_steps[i]};
    if (!axes.empty() && axes.back().a == axis.a * axis.count && axes.back().b == axis.b * axis.count) {
      axis.count *= axes.back().count;
      axes.back() = axis;
    } else {
      axes.push_back(axis);
    }
  }
  return axes;
}

/** One launch for the two innermost axes of the stack, repeated over the others. */
void multiply_stack(Lowering& l, Product product, std::vector<StackAxis> axes) {
  if (axes.size() <= 2) {
    axes.insert(axes.begin(), 2 - axes.size(), StackAxis{1, 0, 0});
    product.outer = axes[0].count;
    product.a.outer = axes[0].a;
    product.b.outer = axes[0].b;
    product.inner = axes[1].count;
    product.a.inner = axes[1].a;
    product.b.inner = axes[1].b;
    return multiply(l, product);
  }
  StackAxis first = axes.front();
  axes.erase(axes.begin());
  int64_t step = product.m * product.n;
  for (const StackAxis& axis : axes) step *= axis.count;
  for (int64_t i = 0; i < first.count; i++) {
    multiply_stack(l, product, axes);
    product.a.first += first.a;
    product.b.first += first.b;
    product.c_first += step;
  }
}

/** Output 0 is that stack of products. */
void open_stack(Lowering& l, const Shape& shape, Product product, const std::vector<StackAxis>& axes) {
  product.inner = axes.empty() ? 1 : axes.back().count;
  open_output(l, 0, shape, product_head(product, [axes](Lowering& l, const Product& product) {
                if (product.m * product.n > 0) multiply_stack(l, product, axes);
              }));
}

struct MatMulForm {
  bool transposes_a = false, transposes_b = false;
  Finish finish;
};

void lower_product(Lowering& l, const MatMulForm& form) {
  if (l.shape(0).empty() || l.shape(1).empty()) l.fail("an operand is a single number; it needs rank 1 or more");
  Operand a = operand_of(l, 0, form.transposes_a), b = operand_of(l, 1, form.transposes_b);
  if (a.columns != b.rows) {
    l.fail("rows of " + std::to_string(a.columns) + " elements meet columns of " + std::to_string(b.rows));
  }
  Shape shape = broadcast_batch(l, a.batch, b.batch);
  std::vector<StackAxis> axes = joined_axes(shape, a, b);
  Product product;
  product.m = a.rows;
  product.n = b.columns;
  product.k = a.columns;
  if (l.shape(0).size() > 1) shape.push_back(a.rows);
  if (l.shape(1).size() > 1) shape.push_back(b.columns);
  product.a = a.matrix;
  product.b = b.matrix;
  product.type = l.type(0);
  product.finish = form.finish;
  if (axes.size() == 1 && axes[0].b == 0 && axes[0].a == a.rows * a.matrix.row) {
    product.m *= axes[0].count;
    axes.clear();
  }
  open_stack(l, shape, std::move(product), axes);
}

void lower_matmul(Lowering& l) { lower_product(l, {}); }

void set_activation(const Node& node, Finish& finish) {
  if (node.text("activation", "") == "Relu") finish.low = 0.0f;
}

void lower_fused_matmul(Lowering& l) {
  MatMulForm form{l.node().integer("transA", 0) != 0, l.node().integer("transB", 0) != 0, {}};
  form.finish.alpha = l.node().number("alpha", 1);
  set_activation(l.node(), form.finish);
  lower_product(l, form);
}

/** beta C, spread over m x n. */
void add_addend(Lowering& l, const Product& product, Finish& finish) {
  Shape shape = l.shape(2);
  if (element_count(shape) == 1) shape.clear();
  if (shape.size() > 2) l.fail("C has rank " + std::to_string(shape.size()) + "; it must have 2 or less");
  shape.insert(shape.begin(), 2 - shape.size(), 1);
  if ((shape[0] != 1 && shape[0] != product.m) || (shape[1] != 1 && shape[1] != product.n)) {
    l.fail("C of " + std::to_string(shape[0]) + " x " + std::to_string(shape[1]) + " does not spread to " +
           std::to_string(product.m) + " x " + std::to_string(product.n));
  }
  finish.addend = l.input(2);
  finish.beta = l.node().number("beta", 1);
  finish.addend_row = shape[0] == 1 ? 0 : shape[1];
  finish.addend_column = shape[1] == 1 ? 0 : 1;
}

void lower_gemm(Lowering& l) {
  if (l.shape(0).size() != 2 || l.shape(1).size() != 2) l.fail("A and B must have rank 2");
  Operand a = operand_of(l, 0, l.node().integer("transA", 0) != 0);
  Operand b = operand_of(l, 1, l.node().integer("transB", 0) != 0);
  if (a.columns != b.rows) {
    l.fail("rows of " + std::to_string(a.columns) + " elements meet columns of " + std::to_string(b.rows));
  }
  Product product;
  product.m = a.rows;
  product.n = b.columns;
  product.k = a.columns;
  product.a = a.matrix;
  product.b = b.matrix;
  product.type = l.type(0);
  product.finish.alpha = l.node().number("alpha", 1);
  set_activation(l.node(), product.finish);
  if (l.has(2) && product.m * product.n > 0) add_addend(l, product, product.finish);
  open_stack(l, {product.m, product.n}, std::move(product), {});
}

std::string refuse_matmul(const Candidate& candidate) {
  return refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
}

std::string refuse_fused(const Candidate& candidate) {
  const Node& node = candidate.node();
  std::string activation = node.text("activation", "");
  if (!activation.empty() && activation != "Relu") return "its activation is " + activation + "; supported: Relu";
  if (node.integer("transBatchA", 0) != 0 || node.integer("transBatchB", 0) != 0) return "it turns a stack around";
  return refuse_matmul(candidate);
}

/** Results, and operands of which a part lies together, unless the sums are too long. */
bool products_come_in_parts(const Candidate& candidate, size_t i, bool is_output) {
  const std::optional<Shape>& b = candidate.shape(1);
  if (!b || b->size() < 2) return false;
  const bool turned = candidate.node().integer("transB", 0) != 0;
  if (!is_output && i == 0 && candidate.node().integer("transA", 0) != 0) return false;
  if (!is_output && i == 1 && !turned && !candidate.is_constant(1)) return false;
  const int64_t k = (*b)[b->size() - (turned ? 1 : 2)];
  return k > 0 && comes_in_parts(candidate.traits(), k);
}

constexpr Operator kRows[] = {
    {"", "MatMul", 1, kNewest, refuse_matmul, lower_matmul, nullptr, products_come_in_parts},
    {"", "Gemm", 1, kNewest, refuse_matmul, lower_gemm, nullptr, products_come_in_parts},
    {"com.microsoft", "FusedGemm", 1, kNewest, refuse_fused, lower_gemm},
    {"com.microsoft", "FusedMatMul", 1, kNewest, refuse_fused, lower_fused_matmul, nullptr, products_come_in_parts},
    {"com.microsoft", "FusedMatMulActivation", 1, kNewest, refuse_fused, lower_fused_matmul},
    {"com.microsoft", "TransposeMatMul", 1, kNewest, refuse_fused, lower_fused_matmul},
};

}  // namespace

std::span<const Operator> matmul_operators() { return kRows; }

}  // namespace ortolan::gpu
