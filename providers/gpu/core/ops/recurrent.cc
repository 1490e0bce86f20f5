// RNN, GRU and LSTM: one product with all of the input, then for each step a product with the state and a launch that
// finishes the cell.
#include <algorithm>
#include <array>
#include <limits>

#include "gpu/core/operators.h"
#include "gpu/core/products/product.h"

namespace ortolan::gpu {
namespace {

enum Input : size_t { kX, kW, kR, kB, kLengths, kInitialH, kInitialC, kP };

struct Gate {
  std::string_view name;  // in small letters
  bool takes_alpha = false, takes_beta = false;
  float alpha = 0, beta = 0;
};

// Numbered as k_gate of recurrent_cell.k does.
constexpr std::array<Gate, 11> kGates = {{
    {"sigmoid"},
    {"tanh"},
    {"relu"},
    {"affine", true, true, 1.0f, 0.0f},
    {"leakyrelu", true, false, 0.01f},
    {"thresholdedrelu", true, false, 1.0f},
    {"scaledtanh", true, true, 1.0f, 1.0f},
    {"hardsigmoid", true, true, 0.2f, 0.5f},
    {"elu", true, false, 1.0f},
    {"softsign"},
    {"softplus"},
}};

size_t number_of(std::string_view name) {
  auto same = [&](const Gate& gate) {
    return std::equal(gate.name.begin(), gate.name.end(), name.begin(), name.end(),
                      [](char a, char b) { return a == (b | 0x20); });
  };
  return static_cast<size_t>(std::find_if(kGates.begin(), kGates.end(), same) - kGates.begin());
}

/** Empty where it is not given. */
template <class T>
std::vector<T> list_of(const Node& node, std::string_view name) {
  auto found = node.attributes.find(name);
  const auto* list = found == node.attributes.end() ? nullptr : std::get_if<std::vector<T>>(&found->second);
  return list == nullptr ? std::vector<T>() : *list;
}

int64_t gates_of(const Node& node) { return node.op == "LSTM" ? 4 : node.op == "GRU" ? 3 : 1; }
size_t functions_of(const Node& node) { return node.op == "LSTM" ? 3 : node.op == "GRU" ? 2 : 1; }
size_t directions_of(const Node& node) { return node.text("direction", "forward") == "bidirectional" ? 2 : 1; }

std::string refuse(const Candidate& candidate) {
  const Node& node = candidate.node();
  std::string refusal = refuse_unless(candidate, kX, {ElementType::kFloat, ElementType::kFloat16});
  for (size_t i : {kW, kR, kB, kInitialH, kInitialC, kP}) {
    if (refusal.empty() && candidate.has(i)) refusal = refuse_unless(candidate, i, {candidate.type(kX)});
  }
  if (!refusal.empty()) return refusal;
  std::vector<std::string> names = list_of<std::string>(node, "activations");
  for (const std::string& name : names) {
    if (number_of(name) == kGates.size()) return "its activation is " + name + ", which recurrent cells do not have";
  }
  bool enough = names.empty() || names.size() >= directions_of(node) * functions_of(node);
  return enough ? "" : "its activations are fewer than its directions need";
}

/** The functions f, g, h of a direction's gates. */
struct GateFunctions {
  std::array<int, 3> number = {0, 1, 1};
  std::vector<float> alpha = {0, 0, 0}, beta = {0, 0, 0};
};

std::vector<GateFunctions> gate_functions(const Node& node) {
  std::vector<std::string> names = list_of<std::string>(node, "activations");
  std::vector<float> alphas = list_of<float>(node, "activation_alpha"), betas = list_of<float>(node, "activation_beta");
  size_t count = functions_of(node), next_alpha = 0, next_beta = 0;
  std::vector<GateFunctions> result(directions_of(node));
  auto take = [](const std::vector<float>& values, size_t& next, float fallback) {
    return next < values.size() ? values[next++] : fallback;
  };
  for (size_t i = 0; i < result.size() * count; i++) {
    size_t number = !names.empty() ? number_of(names[i]) : count == 1 || i % count > 0 ? 1 : 0;
    const Gate& gate = kGates[number];
    GateFunctions& functions = result[i / count];
    functions.number[i % count] = static_cast<int>(number);
    functions.alpha[i % count] = gate.takes_alpha ? take(alphas, next_alpha, gate.alpha) : gate.alpha;
    functions.beta[i % count] = gate.takes_beta ? take(betas, next_beta, gate.beta) : gate.beta;
  }
  return result;
}

class RecurrentLayer {
 public:
  explicit RecurrentLayer(Lowering& l)
      : l_(l), gates_(gates_of(l.node())), batch_first_(l.node().integer("layout", 0)) {
    directions_ = static_cast<int64_t>(directions_of(l.node()));
    take_sizes();
    half_ = l.type(kX) == ElementType::kFloat16;
    splits_ = l.node().op == "GRU" && l.node().integer("linear_before_reset", 0) == 0;
  }

  void lower() {
    make_outputs();
    std::vector<GateFunctions> functions = gate_functions(l_.node());
    Memory sums = l_.scratch(floats(batch_ * gates_ * hidden_)), reset = l_.scratch(floats(batch_ * hidden_));
    for (int64_t d = 0; d < directions_; d++) {
      Direction direction{d, functions[static_cast<size_t>(d)], project_input(d), sums, reset, {}, {}};
      direction.h = start_state(kInitialH, d);
      direction.c = start_state(kInitialC, d);
      for (int64_t step = 0; step < steps_; step++) lower_step(direction, step);
      end_state(1, d, direction.h);
      end_state(2, d, direction.c);
    }
  }

 private:
  struct Direction {
    int64_t number;
    const GateFunctions& functions;
    Memory input, sums, reset, h, c;
  };

  static size_t floats(int64_t count) { return static_cast<size_t>(count) * sizeof(float); }

  void take_sizes() {
    const Shape &x = l_.shape(kX), &w = l_.shape(kW), &r = l_.shape(kR);
    if (x.size() != 3 || w.size() != 3 || r.size() != 3) l_.fail("X, W and R must have rank 3");
    steps_ = x[batch_first_ ? 1 : 0], batch_ = x[batch_first_ ? 0 : 1], input_ = x[2], hidden_ = r[2];
    Shape state = batch_first_ ? Shape{batch_, directions_, hidden_} : Shape{directions_, batch_, hidden_};
    int64_t rows = gates_ * hidden_;
    require_shape(kW, {directions_, rows, input_});
    require_shape(kR, {directions_, rows, hidden_});
    require_shape(kB, {directions_, 2 * rows});
    require_shape(kLengths, {batch_});
    require_shape(kInitialH, state);
    require_shape(kInitialC, state);
    require_shape(kP, {directions_, 3 * hidden_});
    state_shape_ = state;
  }
  void require_shape(size_t i, const Shape& wanted) {
    if (l_.has(i) && l_.shape(i) != wanted)
      l_.fail("input " + std::to_string(i) + " does not fit X and R in directions, gates, batch or hidden size");
  }

  void make_outputs() {
    Shape all =
        batch_first_ ? Shape{batch_, steps_, directions_, hidden_} : Shape{steps_, directions_, batch_, hidden_};
    y_ = l_.node().has_output(0) ? l_.output(0, all) : l_.scratch(4);
    for (size_t i : {1, 2}) {
      if (l_.node().has_output(i)) ends_[i - 1] = l_.output(i, state_shape_);
    }
    error_ = {l_.scratch(4), 0};
    if (l_.has(kLengths)) error_ = l_.error("a length is outside of [0, " + std::to_string(steps_) + "]");
  }

  /** W or R of a direction, from gate `first` on, as the right side of a product. */
  Matrix weights(size_t i, int64_t d, int64_t first) {
    int64_t columns = l_.shape(i)[2];
    Matrix matrix;
    matrix.input = static_cast<int>(i), matrix.type = l_.type(i);
    matrix.first = (d * gates_ + first) * hidden_ * columns;
    matrix.row = 1, matrix.column = columns;
    return matrix;
  }

  Memory project_input(int64_t d) {
    Product product;
    product.m = steps_ * batch_, product.n = gates_ * hidden_, product.k = input_;
    product.a.input = kX, product.a.type = l_.type(kX), product.a.row = input_, product.a.column = 1;
    product.b = weights(kW, d, 0);
    product.c = l_.scratch(floats(product.m * product.n));
    multiply(l_, product);
    return product.c;
  }

  /** to = state R, of `count` gates from `first` on. */
  void multiply_state(int64_t d, Memory state, int64_t first, int64_t count, Memory to) {
    Product product;
    product.m = batch_, product.n = count * hidden_, product.k = hidden_;
    product.a.memory = state, product.a.row = hidden_, product.a.column = 1;
    product.b = weights(kR, d, first);
    product.c = to;
    multiply(l_, product);
  }

  void lower_step(const Direction& direction, int64_t step) {
    if (!splits_) {
      multiply_state(direction.number, direction.h, 0, gates_, direction.sums);
      return finish_cell(direction, step, gates_ == 4 ? 4 : gates_ == 3 ? 1 : 0);
    }
    multiply_state(direction.number, direction.h, 0, 2, direction.sums);
    finish_cell(direction, step, 2);
    multiply_state(direction.number, direction.reset, 2, 1, direction.sums);
    finish_cell(direction, step, 3);
  }

  void finish_cell(const Direction& direction, int64_t step, int cell) {
    int64_t d = direction.number;
    bool reverse = d == 1 || l_.node().text("direction", "forward") == "reverse";
    float clip = l_.node().number("clip", 0);
    auto optional = [&](size_t i) { return l_.has(i) ? l_.input(i) : direction.input; };
    KernelCall call = l_.call("recurrent_cell");
    call.group(group()).constant("HALF", half_).constant("CELL", cell).constant("BIAS", l_.has(kB));
    call.constant("PEEPHOLE", l_.has(kP)).constant("LENGTHS", l_.has(kLengths)).constant("REVERSE", reverse);
    call.constant("COUPLED", l_.node().integer("input_forget", 0) != 0).constant("HAS_Y", l_.node().has_output(0));
    call.constant("F_GATE", direction.functions.number[0]).constant("G_GATE", direction.functions.number[1]);
    call.constant("H_GATE", direction.functions.number[2]);
    call.read(direction.input).read(direction.sums).read(optional(kB)).read(optional(kP)).read(optional(kLengths));
    call.write(direction.h).write(direction.c).write(direction.reset).write(y_);
    call.write(error_.word);
    call.params(hidden_, batch_, step, steps_, batch_first_ ? 1 : batch_, batch_first_ ? steps_ : 1);
    call.params(directions_ * (batch_first_ ? 1 : batch_) * hidden_,
                (batch_first_ ? steps_ * directions_ : 1) * hidden_, d * (batch_first_ ? 1 : batch_) * hidden_);
    call.params(d * 2 * gates_ * hidden_, d * 3 * hidden_, clip > 0 ? clip : std::numeric_limits<float>::infinity(),
                error_.bit, direction.functions.alpha, direction.functions.beta);
    call.run_items(batch_ * hidden_);
  }

  int group() const { return l_.traits().kind == DeviceClass::kWide ? 16 : 64; }
  int64_t state_row() const { return (batch_first_ ? directions_ : 1) * hidden_; }
  int64_t state_start(int64_t d) const { return d * (batch_first_ ? 1 : batch_) * hidden_; }

  Memory start_state(size_t i, int64_t d) {
    Memory state = l_.scratch(floats(batch_ * hidden_));
    KernelCall call = l_.call("recurrent_state");
    call.group(group()).constant("FROM", !l_.has(i) ? 0 : half_ ? 2 : 1);
    call.read(l_.has(i) ? l_.input(i) : l_.input(kX)).write(state);
    call.params(batch_ * hidden_, hidden_, state_row(), state_start(d), hidden_, 0).run_items(batch_ * hidden_);
    return state;
  }
  void end_state(size_t output, int64_t d, Memory state) {
    if (!ends_[output - 1]) return;
    KernelCall call = l_.call("recurrent_state");
    call.group(group()).constant("FROM", 1).constant("HALF", half_).read(state).write(*ends_[output - 1]);
    call.params(batch_ * hidden_, hidden_, hidden_, 0, state_row(), state_start(d)).run_items(batch_ * hidden_);
  }

  Lowering& l_;
  int64_t gates_, directions_ = 1, steps_ = 0, batch_ = 0, input_ = 0, hidden_ = 0;
  bool batch_first_, half_ = false, splits_ = false;
  Shape state_shape_;
  Memory y_;
  std::optional<Memory> ends_[2];
  ErrorBit error_{{}, 0};
};

void lower(Lowering& l) { RecurrentLayer(l).lower(); }

constexpr Operator kRows[] = {
    {"", "RNN", 1, kNewest, refuse, lower},
    {"", "GRU", 1, kNewest, refuse, lower},
    {"", "LSTM", 1, kNewest, refuse, lower},
};

}  // namespace

std::span<const Operator> recurrent_operators() { return kRows; }

}  // namespace ortolan::gpu
