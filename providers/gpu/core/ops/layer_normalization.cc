// Rows brought to mean 0 (not in the RMS forms) and variance 1, then scaled: LayerNormalization, RMSNormalization and
// com.microsoft's forms, of which two add a skip connection first.
#include "gpu/core/elements/row_items.h"
#include "gpu/core/operators.h"

namespace ortolan::gpu {
namespace {

/** Which inputs and outputs of the node are what; -1: the operator has none. */
struct Form {
  bool rms;
  int skip, scale, bias, skip_bias;
  int mean, inverse, total;
  float epsilon;
};

constexpr Form kLayer = {false, -1, 1, 2, -1, 1, 2, -1, 1e-5f};
constexpr Form kRms = {true, -1, 1, -1, -1, -1, 1, -1, 1e-5f};
constexpr Form kSkip = {false, 1, 2, 3, 4, 1, 2, 3, 1e-12f};
constexpr Form kSkipRms = {true, 1, 2, -1, 3, 1, 2, 3, 1e-12f};

bool is_known(const std::optional<Shape>& shape) {
  if (!shape) return false;
  for (int64_t dimension : *shape) {
    if (dimension < 0) return false;
  }
  return true;
}

/** Whether the parameter surely has one element for each of a row; rows go from `axis` on. */
bool fits_row(const Candidate& candidate, size_t i, int64_t axis) {
  const std::optional<Shape>& shape = candidate.shape(i);
  if (!is_known(shape)) return false;
  int64_t count = element_count(*shape);
  if (axis == -1 && shape->size() == 1 && count > 1) return true;
  int rank = candidate.rank(0);
  if (rank < 0) return false;
  if (axis < 0) axis += rank;
  if (axis < 0 || axis >= rank) return true;  // the model is wrong, which lower says
  const Shape& x = *candidate.shape(0);
  int64_t columns = 1;
  for (size_t d = static_cast<size_t>(axis); d < x.size(); d++) {
    if (x[d] < 0) return false;
    columns *= x[d];
  }
  return count == columns && static_cast<int64_t>(shape->size()) <= rank - axis;
}

std::string refuse(const Candidate& candidate, const Form& form) {
  std::string refusal = refuse_unless(candidate, 0, {ElementType::kFloat, ElementType::kFloat16});
  if (!refusal.empty()) return refusal;
  const Node& node = candidate.node();
  for (size_t i = 1; i < node.inputs.size(); i++) {
    if (candidate.has(i) && candidate.type(i) != candidate.type(0))
      return "input " + std::to_string(i) + " is " + type_name(candidate.type(i)) + ", input 0 is " +
             type_name(candidate.type(0)) + "; equal types are taken";
  }
  bool has_moments = form.skip < 0 && (node.has_output(1) || node.has_output(2));
  if (has_moments && node.integer("stash_type", 1) != 1) return "its moments are not float; float is taken";
  int64_t axis = node.integer("axis", -1);
  for (int i : {form.scale, form.bias}) {
    if (form.skip < 0 && i >= 0 && candidate.has(static_cast<size_t>(i)) && !fits_row(candidate, i, axis))
      return "input " + std::to_string(i) + " is not known to have one element for each of a row";
  }
  return "";
}

/** Rows of skip before they repeat: all, or those of one batch. */
int64_t skip_rows(const Lowering& l, int64_t columns) {
  int64_t count = l.count(1);
  if (l.count(0) == 0) return 1;
  if (count == 0 || l.count(0) % count != 0 || count % columns != 0)
    l.fail("skip of " + std::to_string(count) + " elements does not repeat to " + std::to_string(l.count(0)));
  return count / columns;
}

void check_parameters(const Lowering& l, const Form& form, int64_t columns) {
  for (int i : {form.scale, form.bias, form.skip_bias}) {
    if (i >= 0 && l.has(i) && l.count(i) != columns)
      l.fail("input " + std::to_string(i) + " has " + std::to_string(l.count(i)) + " elements, a row has " +
             std::to_string(columns));
  }
}

class RowNormalization {
 public:
  RowNormalization(Lowering& l, const Form& form) : l_(l), form_(form), call_(l.call("layer_norm")) {
    const Shape& shape = l.shape(0);
    size_t axis = form.skip >= 0 ? l.axis(-1, shape.size()) : l.axis(l.node().integer("axis", -1), shape.size());
    columns_ = element_count(shape, axis, shape.size());
    rows_ = element_count(shape, 0, axis);
    moments_shape_ = Shape(shape.begin(), shape.begin() + static_cast<int64_t>(axis));
    moments_shape_.resize(shape.size(), 1);
  }

  void lower() {
    check_parameters(l_, form_, columns_);
    x_ = l_.input(0);
    call_.row_group(columns_);
    bool half = l_.type(0) == ElementType::kFloat16;
    call_.constant("HALF", half).constant("RMS", form_.rms);
    call_.constant("WIDE", l_.traits().kind == DeviceClass::kWide && !half).read(x_);
    read("SKIP", form_.skip);
    read("SKIP_BIAS", form_.skip_bias);
    call_.read(l_.input(form_.scale));
    read("BIAS", form_.bias);
    call_.write(l_.node().has_output(0) ? l_.output(0, l_.shape(0)) : l_.scratch(x_.bytes));
    write_moments();
    bool total = wants(form_.total);
    call_.constant("TOTAL", total).write(total ? l_.output(form_.total, l_.shape(0)) : l_.scratch(4));
    call_.params(columns_, form_.skip >= 0 ? skip_rows(l_, columns_) : 1, l_.node().number("epsilon", form_.epsilon));
    call_.run(rows_);
  }

 private:
  bool wants(int output) const { return output >= 0 && l_.node().has_output(static_cast<size_t>(output)); }
  void read(std::string_view constant, int i) {
    bool given = i >= 0 && l_.has(static_cast<size_t>(i));
    call_.constant(constant, given).read(given ? l_.input(static_cast<size_t>(i)) : x_);
  }
  void write_moments() {
    size_t bytes = static_cast<size_t>(rows_) * sizeof(float);
    bool any = wants(form_.mean) || wants(form_.inverse);
    call_.constant("MOMENTS", any);
    for (int output : {form_.mean, form_.inverse}) {
      call_.write(wants(output) ? l_.output(output, ElementType::kFloat, moments_shape_) : l_.scratch(any ? bytes : 4));
    }
  }

  Lowering& l_;
  const Form& form_;
  KernelCall call_;
  Memory x_;
  int64_t rows_, columns_;
  Shape moments_shape_;
};

template <const Form& kForm>
std::string refuse_form(const Candidate& candidate) {
  return refuse(candidate, kForm);
}
template <const Form& kForm>
void lower_form(Lowering& l) {
  RowNormalization(l, kForm).lower();
}

constexpr Operator kRows[] = {
    {"", "LayerNormalization", 1, kNewest, refuse_form<kLayer>, lower_form<kLayer>},
    {"", "RMSNormalization", 23, kNewest, refuse_form<kRms>, lower_form<kRms>},
    {"", "SimplifiedLayerNormalization", 1, kNewest, refuse_form<kRms>, lower_form<kRms>},
    {"com.microsoft", "SkipLayerNormalization", 1, kNewest, refuse_form<kSkip>, lower_form<kSkip>},
    {"com.microsoft", "SkipSimplifiedLayerNormalization", 1, kNewest, refuse_form<kSkipRms>, lower_form<kSkipRms>},
};

}  // namespace

std::span<const Operator> layer_normalization_operators() { return kRows; }

}  // namespace ortolan::gpu
