// Einsum of one or two operands as a move or as a product: labels that both operands and the result have form the
// stack, those of one operand and the result rows or columns, and over the rest is summed; a sum of one operand is its
// product with 1.
#include <algorithm>
#include <set>

#include "gpu/core/elements/moves.h"
#include "gpu/core/products/product.h"

namespace ortolan::gpu {
namespace {

constexpr int kEllipsis = 1000;  // the last of an ellipsis' dimensions; those before it have greater numbers

using Labels = std::vector<int>;  // letters, or kEllipsis alone where its dimensions are not known

struct Equation {
  std::vector<Labels> operands;
  Labels result;
  std::string wrong;  // why it is none; else empty
};

/** Letters of a term; what is no letter makes the equation wrong. */
Labels read_term(const std::string& text, std::string& wrong) {
  Labels labels;
  for (size_t i = 0; i < text.size(); i++) {
    if (text.compare(i, 3, "...") == 0) {
      labels.push_back(kEllipsis);
      i += 2;
    } else if (std::isalpha(static_cast<unsigned char>(text[i])) != 0) {
      labels.push_back(text[i]);
    } else {
      wrong = "its equation has a character that is no label";
    }
  }
  return labels;
}

/** Without an arrow: the ellipsis, then the labels that stand once, by the alphabet. */
Labels implied_result(const std::vector<Labels>& operands) {
  Labels all;
  for (const Labels& labels : operands) all.insert(all.end(), labels.begin(), labels.end());
  std::set<int> once;
  for (int label : all) {
    if (label != kEllipsis && std::count(all.begin(), all.end(), label) == 1) once.insert(label);
  }
  Labels result(once.begin(), once.end());
  if (std::find(all.begin(), all.end(), kEllipsis) != all.end()) result.insert(result.begin(), kEllipsis);
  return result;
}

Equation read_equation(std::string text) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  Equation equation;
  size_t arrow = text.find("->"), from = 0;
  std::string left = text.substr(0, arrow);
  while (from <= left.size()) {
    size_t comma = std::min(left.find(',', from), left.size());
    equation.operands.push_back(read_term(left.substr(from, comma - from), equation.wrong));
    from = comma + 1;
  }
  equation.result = arrow == std::string::npos ? implied_result(equation.operands)
                                               : read_term(text.substr(arrow + 2), equation.wrong);
  return equation;
}

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

std::string refuse_form(const Equation& equation) {
  if (!equation.wrong.empty()) return equation.wrong;
  if (equation.operands.size() > 2)
    return "it has " + std::to_string(equation.operands.size()) + " operands; one or two are taken";
  std::set<int> unique(equation.result.begin(), equation.result.end());
  if (unique.size() != equation.result.size()) return "its result has a label twice";
  for (const Labels& labels : equation.operands) {
    bool hides = contains(labels, kEllipsis) && !contains(equation.result, kEllipsis);
    if (hides) return "it sums over an ellipsis";
    if (std::count(labels.begin(), labels.end(), kEllipsis) > 1) return "a term has two ellipses";
  }
  return "";
}

std::string refuse(const Candidate& candidate) {
  std::string refusal = refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
  if (refusal.empty()) refusal = refuse_form(read_equation(candidate.node().text("equation", "")));
  return refusal;
}

/** An operand as dimensions with labels; those of one place are left out. */
struct View {
  Labels labels;
  std::vector<int64_t> strides;

  int64_t stride(int label) const {
    auto at = std::find(labels.begin(), labels.end(), label);
    return at == labels.end() ? 0 : strides[static_cast<size_t>(at - labels.begin())];
  }
};

/** Labels of a stack, of rows, of columns or of sums. */
using Group = Labels;

class Contraction {
 public:
  explicit Contraction(Lowering& l) : l_(l), equation_(read_equation(l.node().text("equation", ""))) {}

  void lower() {
    if (equation_.operands.size() != l_.node().inputs.size()) l_.fail("the equation is of another number of operands");
    for (size_t i = 0; i < equation_.operands.size(); i++) spread_ellipsis(equation_.operands[i], l_.shape(i).size());
    spread_result();
    for (size_t i = 0; i < equation_.operands.size(); i++) take_sizes(i);
    for (size_t i = 0; i < equation_.operands.size(); i++) views_.push_back(view_of(i));
    Shape shape;
    for (int label : equation_.result) shape.push_back(size(label));
    if (views_.size() == 1 && !sums_one_operand()) return move(shape);
    views_.resize(2);
    multiply_views(shape);
  }

 private:
  void spread_ellipsis(Labels& labels, size_t rank) {
    auto at = std::find(labels.begin(), labels.end(), kEllipsis);
    bool fits = at == labels.end() ? labels.size() == rank : labels.size() - 1 <= rank;
    if (!fits) l_.fail("a term of the equation does not fit an operand of rank " + std::to_string(rank));
    if (at == labels.end()) return;
    int count = static_cast<int>(rank - (labels.size() - 1));
    widest_ = std::max(widest_, count);
    replace(labels, at, count);
  }
  void spread_result() {
    auto at = std::find(equation_.result.begin(), equation_.result.end(), kEllipsis);
    if (at != equation_.result.end()) replace(equation_.result, at, widest_);
  }
  static void replace(Labels& labels, Labels::iterator at, int count) {
    Labels dimensions;
    for (int i = count; i-- > 0;) dimensions.push_back(kEllipsis + i);
    at = labels.erase(at);
    labels.insert(at, dimensions.begin(), dimensions.end());
  }

  void take_sizes(size_t operand) {
    const Labels& labels = equation_.operands[operand];
    for (size_t i = 0; i < labels.size(); i++) {
      int64_t& known = sizes_.try_emplace(labels[i], 1).first->second;
      int64_t own = l_.shape(operand)[i];
      if (known != 1 && own != 1 && known != own)
        l_.fail("a label has " + std::to_string(known) + " and " + std::to_string(own) + " places");
      if (known == 1) known = own;
    }
  }
  int64_t size(int label) const {
    auto found = sizes_.find(label);
    return found == sizes_.end() ? 1 : found->second;
  }
  int64_t size(const Group& group) const {
    int64_t count = 1;
    for (int label : group) count *= size(label);
    return count;
  }

  /** A label twice is a diagonal. */
  View view_of(size_t operand) const {
    View view;
    std::vector<int64_t> steps = strides_of(l_.shape(operand));
    for (size_t i = 0; i < steps.size(); i++) {
      if (l_.shape(operand)[i] == 1) continue;
      int label = equation_.operands[operand][i];
      auto at = std::find(view.labels.begin(), view.labels.end(), label);
      if (at != view.labels.end()) {
        view.strides[static_cast<size_t>(at - view.labels.begin())] += steps[i];
      } else {
        view.labels.push_back(label);
        view.strides.push_back(steps[i]);
      }
    }
    return view;
  }

  bool sums_one_operand() const {
    const Labels& labels = views_[0].labels;
    return std::any_of(labels.begin(), labels.end(), [&](int label) { return !contains(equation_.result, label); });
  }

  void move(const Shape& shape) {
    StridedCopy copy{shape, {}, strides_of(shape)};
    for (int label : equation_.result) copy.from.push_back(views_[0].stride(label));
    move_input(l_, shape, copy);
  }

  void multiply_views(const Shape& shape) {
    Group stack, rows, columns, sums;
    for (int label : equation_.result) {
      if (size(label) == 1) continue;
      bool left = contains(views_[0].labels, label), right = contains(views_[1].labels, label);
      (left && right ? stack : left ? rows : columns).push_back(label);
    }
    for (const auto& [label, count] : sizes_) {
      if (count != 1 && !contains(equation_.result, label)) sums.push_back(label);
    }
    order_sums(sums);
    bool turned = is_result(stack, columns, rows) && !is_result(stack, rows, columns);
    if (turned) std::swap(rows, columns);
    Memory y = l_.output(0, shape);
    if (element_count(shape) == 0) return;
    Product product;
    product.m = size(rows), product.n = size(columns), product.k = size(sums), product.inner = size(stack);
    product.a = operand(turned ? 1 : 0, stack, rows, sums);
    product.b = operand(turned ? 0 : 1, stack, sums, columns);
    product.type = l_.type(0);
    bool direct = is_result(stack, rows, columns);
    product.c = direct ? y : l_.scratch(y.bytes);
    multiply(l_, product);
    if (!direct) put_in_order(product.c, {stack, rows, columns}, y, shape);
  }

  /** As they lie in the first operand, so that it need not be moved. */
  void order_sums(Group& sums) const {
    const Labels& first = views_[0].labels;
    auto place = [&](int label) { return std::find(first.begin(), first.end(), label) - first.begin(); };
    std::stable_sort(sums.begin(), sums.end(), [&](int a, int b) { return place(a) < place(b); });
  }

  bool is_result(const Group& a, const Group& b, const Group& c) const {
    Labels wanted, all = a;
    for (int label : equation_.result) {
      if (size(label) != 1) wanted.push_back(label);
    }
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    return all == wanted;
  }

  /** The distance of a group's places where they lie evenly. */
  std::optional<int64_t> even_stride(const View& view, const Group& group) const {
    for (size_t i = 0; i + 1 < group.size(); i++) {
      if (view.stride(group[i]) != view.stride(group[i + 1]) * size(group[i + 1])) return {};
    }
    return group.empty() ? 0 : view.stride(group.back());
  }

  Matrix operand(int input, const Group& stack, const Group& rows, const Group& columns) {
    if (static_cast<size_t>(input) == equation_.operands.size()) return one();
    const View& view = views_[static_cast<size_t>(input)];
    std::optional<int64_t> inner = even_stride(view, stack), row = even_stride(view, rows),
                           column = even_stride(view, columns);
    Matrix matrix;
    matrix.type = l_.type(static_cast<size_t>(input));
    if (inner && row && column) {
      matrix.input = input;
      matrix.inner = *inner, matrix.row = *row, matrix.column = *column;
      return matrix;
    }
    matrix.row = size(columns), matrix.column = 1, matrix.inner = size(rows) * size(columns);
    StridedCopy copy;
    for (const Group* group : {&stack, &rows, &columns}) {
      for (int label : *group) {
        copy.shape.push_back(size(label));
        copy.from.push_back(view.stride(label));
      }
    }
    copy.to = strides_of(copy.shape);
    size_t bytes = element_bytes(matrix.type);
    matrix.memory = l_.scratch(static_cast<size_t>(element_count(copy.shape)) * bytes);
    copy_strided(l_, l_.input(static_cast<size_t>(input)), matrix.memory, bytes, std::move(copy));
    return matrix;
  }

  /** What sums of one operand are multiplied with. */
  Matrix one() {
    Matrix matrix;
    matrix.memory = l_.table({0x3f800000});
    return matrix;
  }

  void put_in_order(Memory from, const std::vector<Group>& groups, Memory to, const Shape& shape) {
    StridedCopy copy;
    std::vector<int64_t> steps = strides_of(shape);
    for (const Group& group : groups) {
      for (int label : group) {
        auto at = std::find(equation_.result.begin(), equation_.result.end(), label) - equation_.result.begin();
        copy.shape.push_back(size(label));
        copy.to.push_back(steps[static_cast<size_t>(at)]);
      }
    }
    copy.from = strides_of(copy.shape);
    copy_strided(l_, from, to, element_bytes(l_.type(0)), std::move(copy));
  }

  Lowering& l_;
  Equation equation_;
  int widest_ = 0;  // dimensions of an ellipsis
  std::map<int, int64_t> sizes_;
  std::vector<View> views_;
};

constexpr Operator kRows[] = {{"", "Einsum", 12, kNewest, refuse, [](Lowering& l) { Contraction(l).lower(); }}};

}  // namespace

std::span<const Operator> einsum_operators() { return kRows; }

}  // namespace ortolan::gpu
