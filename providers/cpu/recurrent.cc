// RNN, GRU, LSTM and AttnLSTM: one product projects all inputs, then each step adds the recurrent product and runs the
// gates.
#include "cpu/recurrent.h"

#include <algorithm>
#include <cstring>

#include "base/thread_pool.h"
#include "cpu/byte_tensors.h"
#include "cpu/dynamic_quantization.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/memory_attention.h"

namespace ortolan::cpu {
namespace {

/** The product with bytes: exact sums of the quantised left operand, then scaled. */
void byte_product(ThreadPool& pool, int64_t m, const float* a, const ByteGates& gates, float* c, int64_t ldc,
                  bool accumulate, const float* bias) {
  int64_t k = gates.packed->k(), n = gates.packed->n();
  DynamicFormat format = dynamic_format(pool, a, m * k);
  quantize_dynamic(pool, format, a, m * k, gates.codes);
  auto zero = static_cast<uint8_t>(format.zero);
  kernels::ZeroPoints zeros{&zero, false, gates.zeros, gates.zero_per_column};
  kernels::gemm_int8(&pool, m, {gates.codes, k, false, false}, *gates.packed, zeros, gates.sums, n);
  for (int64_t j = 0; j < (gates.scale_per_column ? n : 1); ++j) gates.factors[j] = format.scale * gates.scales[j];
  if (!accumulate) {
    return kernels::dequantize_sums(&pool, m, n, gates.sums, n, gates.factors, gates.scale_per_column, bias, c, ldc);
  }
  int64_t step = gates.scale_per_column;
  for (int64_t i = 0; i < m; ++i) {
    const int32_t* from = gates.sums + i * n;
    float* to = c + i * ldc;
    for (int64_t j = 0; j < n; ++j) to[j] += static_cast<float>(from[j]) * gates.factors[j * step];
  }
}

}  // namespace

void gate_product(ThreadPool& pool, int64_t m, const float* a, const GateMatrix<float>& matrix, float* c, int64_t ldc,
                  bool accumulate, const float* bias, kernels::PanelOrder order) {
  if (matrix.bytes) return byte_product(pool, m, a, *matrix.bytes, c, ldc, accumulate, bias);
  kernels::Epilogue epilogue;
  epilogue.beta = accumulate ? 1.0f : 0.0f;
  if (bias) epilogue.bias = bias, epilogue.bias_kind = kernels::BiasKind::kColumn;
  kernels::gemm(&pool, m, a, matrix.packed->k(), false, *matrix.packed, c, ldc, epilogue, order);
}

void gate_product(ThreadPool& pool, int64_t m, const double* a, const GateMatrix<double>& matrix, double* c,
                  int64_t ldc, bool accumulate, const double* bias, kernels::PanelOrder) {
  if (bias) {
    for (int64_t i = 0; i < m; ++i) std::copy_n(bias, matrix.n, c + i * ldc);
  }
  kernels::gemm_f64(&pool, m, matrix.n, matrix.k, 1, a, matrix.k, false, matrix.data, matrix.row, matrix.transposed,
                    accumulate || bias ? 1 : 0, c, ldc);
}

/** One run of the operator; C is the type computed in. */
template <class C>
struct Recurrent::Run {
  const Recurrent& op;
  KernelContext& context;
  RecurrentSizes size;
  const C *x, *bias, *first_h, *first_c, *peepholes;
  C *y, *y_h, *y_c;        // each may be NULL
  const int32_t* lengths;  // of each sequence; NULL: all full
  std::vector<CellWeights<C>> weights = {};
  std::vector<MemoryAttention<C>> attention = {};  // of each direction, AttnLSTM only
  std::vector<C*> projected = {};                  // of each direction: [rows][gates * hidden]

  /** One direction's memory while it walks: states are [batch][hidden]. */
  struct Walk {
    int64_t direction;
    const CellWeights<C>& weights;
    const GateActivations& f;
    C *h, *next, *c, *hidden, *gathered;  // gathered: [batch][gates * hidden]
    const C *peephole, *hidden_bias;
  };

  int64_t width() const { return op.gates() * size.hidden; }
  bool linear() const { return op.kind_ == CellKind::kGru && op.linear_before_reset_; }
  /** Elements that one walk needs. */
  int64_t walk_memory() const { return size.batch * (4 * size.hidden + width()); }
  /** The time at which sequence b is at `step`; -1 when it is over. */
  int64_t time(int64_t direction, int64_t step, int64_t b) const {
    int64_t length = lengths ? lengths[b] : size.steps;
    bool backward = direction == 1 || op.reverse_first_;
    return step >= length ? -1 : backward ? length - 1 - step : step;
  }
  /** Steps of the longest sequence. */
  int64_t longest() const { return lengths ? *std::max_element(lengths, lengths + size.batch) : size.steps; }
  void project();
  void walk(int64_t direction, C* memory);
  void begin(const Walk& w) const;
  const C* states_of(const Walk& w, int64_t step) const;
  void take_step(const Walk& w, int64_t step, C* gates, int64_t stride);
  void take_cell_step(const Walk& w, int64_t step, const C* gates, int64_t stride);
  void keep_states(const Walk& w, int64_t step);
  void run_row(const Walk& w, C* gates, int64_t b) const;
  void finish_gru_row(const Walk& w, C* gates, int64_t b) const;
  void lstm_row(const Walk& w, C* gates, int64_t b) const;
  void gru_row(const Walk& w, C* gates, int64_t b) const;
  void end(const Walk& w) const;
  /** Calls body(b) for the sequences that are not over. */
  template <class Body>
  void for_active(const Walk& w, int64_t step, Body&& body) const {
    context.threads().parallel_for(size.batch, 1 + 8192 / width(), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        if (time(w.direction, step, b) >= 0) body(b);
      }
    });
  }
};

/** All inputs times W, plus the biases that do not depend on time. GRU with linear_before_reset keeps the candidate's
    recurrent bias apart. */
template <class C>
void Recurrent::Run<C>::project() {
  int64_t rows = checked_mul(size.batch_first ? size.steps : longest(), size.batch);
  for (int64_t d = 0; d < size.directions; ++d) {
    projected.push_back(context.scratch<C>(checked_mul(rows, width())).data());
    C* sums = nullptr;
    if (bias) {
      sums = context.scratch<C>(width()).data();
      const C* own = bias + 2 * d * width();
      int64_t added = linear() ? 2 * size.hidden : width();
      const kernels::PackedCell* cell = weights[d].cell.get();
      for (int64_t i = 0; i < width(); ++i) {
        int64_t at = cell ? cell->column(i / size.hidden, i % size.hidden) : i;
        sums[at] = own[i] + (i < added ? own[width() + i] : C(0));
      }
    }
    if (rows > 0) gate_product(context.threads(), rows, x, weights[d].input, projected[d], width(), false, sums);
  }
}

template <class C>
void Recurrent::Run<C>::walk(int64_t d, C* memory) {
  int64_t state = size.batch * size.hidden;
  const C* peephole = peepholes ? peepholes + d * 3 * size.hidden : nullptr;
  const C* hidden_bias = bias && linear() ? bias + (2 * d + 1) * width() + 2 * size.hidden : nullptr;
  Walk w{d,
         weights[d],
         op.activations_[d],
         memory,
         memory + state,
         memory + 2 * state,
         memory + 3 * state,
         memory + 4 * state,
         peephole,
         hidden_bias};
  begin(w);
  for (int64_t s = 0, steps = longest(); s < steps; ++s) {
    if (!lengths) {
      C* gates = projected[d] + size.row(time(d, s, 0), 0) * width();
      take_step(w, s, gates, (size.batch_first ? size.steps : 1) * width());
      continue;
    }
    for (int64_t b = 0; b < size.batch; ++b) {
      int64_t t = std::max<int64_t>(time(d, s, b), 0);
      std::copy_n(projected[d] + size.row(t, b) * width(), width(), w.gathered + b * width());
    }
    take_step(w, s, w.gathered, width());
  }
  end(w);
}

template <class C>
void Recurrent::Run<C>::begin(const Walk& w) const {
  for (int64_t b = 0; b < size.batch; ++b) {
    int64_t at = size.state_row(b, w.direction) * size.hidden;
    for (int64_t i = 0; i < size.hidden; ++i) {
      w.h[b * size.hidden + i] = first_h ? first_h[at + i] : C(0);
      w.c[b * size.hidden + i] = first_c ? first_c[at + i] : C(0);
    }
  }
}

/** The states that a step multiplies. Those of sequences that ended before the last step are zeros where all states are
    quantised with one scale, so that they have no part in it. */
template <class C>
const C* Recurrent::Run<C>::states_of(const Walk& w, int64_t step) const {
  if (!op.byte_weights_ || !lengths) return w.h;
  for (int64_t b = 0; b < size.batch; ++b) {
    C* to = w.next + b * size.hidden;
    if (step <= lengths[b]) {
      std::copy_n(w.h + b * size.hidden, size.hidden, to);
    } else {
      std::fill_n(to, size.hidden, C(0));
    }
  }
  return w.next;
}

/** One step of all sequences. Their gate sums lie `stride` apart; the recurrent products are added to them. */
template <class C>
void Recurrent::Run<C>::take_step(const Walk& w, int64_t step, C* gates, int64_t stride) {
  if (w.weights.cell) return take_cell_step(w, step, gates, stride);
  ThreadPool& pool = context.threads();
  bool gru = op.kind_ == CellKind::kGru;
  auto order = step % 2 ? kernels::PanelOrder::kBackward : kernels::PanelOrder::kForward;
  gate_product(pool, size.batch, states_of(w, step), w.weights.recurrent, gates, stride, true, nullptr, order);
  if (!attention.empty()) {
    gate_product(pool, size.batch, attention[w.direction].state(), w.weights.attention, gates, stride, true);
  }
  if (linear()) gate_product(pool, size.batch, w.h, w.weights.candidate, w.hidden, size.hidden, false, w.hidden_bias);
  for_active(w, step, [&](int64_t b) { run_row(w, gates + b * stride, b); });
  if (gru && !linear()) {
    gate_product(pool, size.batch, w.hidden, w.weights.candidate, gates + 2 * size.hidden, stride, true);
  }
  if (gru) for_active(w, step, [&](int64_t b) { finish_gru_row(w, gates + b * stride, b); });
  keep_states(w, step);
  if (!attention.empty()) attention[w.direction].attend(w.h);
}

/** The same with a packed cell, which computes all rows; those of sequences that are over are not kept. */
template <class C>
void Recurrent::Run<C>::take_cell_step(const Walk& w, int64_t step, const C* gates, int64_t stride) {
  if constexpr (std::is_same_v<C, float>) {
    bool apart = lengths && op.kind_ == CellKind::kLstm;
    kernels::CellStep cell{size.batch, gates, stride, w.h, w.next, w.hidden_bias, w.c, apart ? w.hidden : w.c};
    kernels::cell_step(&context.threads(), *w.weights.cell, cell, step % 2 != 0);
    for (int64_t b = 0; apart && b < size.batch; ++b) {
      if (time(w.direction, step, b) < 0) continue;
      std::copy_n(w.hidden + b * size.hidden, size.hidden, w.c + b * size.hidden);
    }
    keep_states(w, step);
  }
}

/** Takes over the next states of sequences that are not over, and writes them to Y. */
template <class C>
void Recurrent::Run<C>::keep_states(const Walk& w, int64_t step) {
  for (int64_t b = 0; b < size.batch; ++b) {
    int64_t t = time(w.direction, step, b);
    if (t < 0) continue;
    const C* next = w.next + b * size.hidden;
    std::copy_n(next, size.hidden, w.h + b * size.hidden);
    if (y) std::copy_n(next, size.hidden, y + size.y_row(t, b, w.direction) * size.hidden);
  }
}

template <class C>
void Recurrent::Run<C>::run_row(const Walk& w, C* gates, int64_t b) const {
  if (op.kind_ == CellKind::kLstm) return lstm_row(w, gates, b);
  if (op.kind_ == CellKind::kGru) return gru_row(w, gates, b);
  w.f[0].apply(gates, size.hidden, op.clip_);
  std::copy_n(gates, size.hidden, w.next + b * size.hidden);
}

/** Gates z and r, and what the candidate needs of them: r * h for the product to come, or r times the product. */
template <class C>
void Recurrent::Run<C>::gru_row(const Walk& w, C* gates, int64_t b) const {
  int64_t n = size.hidden;
  w.f[0].apply(gates, 2 * n, op.clip_);
  const C *r = gates + n, *h = w.h + b * n;
  C *hidden = w.hidden + b * n, *candidate = gates + 2 * n;
  if (linear()) {
    for (int64_t i = 0; i < n; ++i) candidate[i] += r[i] * hidden[i];
  } else {
    for (int64_t i = 0; i < n; ++i) hidden[i] = r[i] * h[i];
  }
}

template <class C>
void Recurrent::Run<C>::finish_gru_row(const Walk& w, C* gates, int64_t b) const {
  int64_t n = size.hidden;
  const C *z = gates, *h = w.h + b * n;
  C *candidate = gates + 2 * n, *next = w.next + b * n;
  w.f[1].apply(candidate, n, op.clip_);
  for (int64_t i = 0; i < n; ++i) next[i] = (1 - z[i]) * candidate[i] + z[i] * h[i];
}

/** Gates in the order i, o, f, c; peepholes i, o, f. */
template <class C>
void Recurrent::Run<C>::lstm_row(const Walk& w, C* gates, int64_t b) const {
  int64_t n = size.hidden;
  C *in = gates, *out = gates + n, *forget = gates + 2 * n, *cell = gates + 3 * n;
  C *c = w.c + b * n, *h = w.next + b * n;
  const C* p = w.peephole;
  for (int64_t i = 0; p && i < n; ++i) {
    in[i] += p[i] * c[i];
    forget[i] += p[2 * n + i] * c[i];
  }
  w.f[0].apply(in, n, op.clip_);
  w.f[0].apply(forget, n, op.clip_);
  w.f[1].apply(cell, n, op.clip_);
  for (int64_t i = 0; i < n; ++i) c[i] = (op.input_forget_ ? 1 - in[i] : forget[i]) * c[i] + in[i] * cell[i];
  for (int64_t i = 0; p && i < n; ++i) out[i] += p[n + i] * c[i];
  w.f[0].apply(out, n, op.clip_);
  std::copy_n(c, n, h);
  w.f[2].apply(h, n);
  for (int64_t i = 0; i < n; ++i) h[i] *= out[i];
}

template <class C>
void Recurrent::Run<C>::end(const Walk& w) const {
  for (int64_t b = 0; b < size.batch; ++b) {
    int64_t at = size.state_row(b, w.direction) * size.hidden;
    if (y_h) std::copy_n(w.h + b * size.hidden, size.hidden, y_h + at);
    if (y_c) std::copy_n(w.c + b * size.hidden, size.hidden, y_c + at);
  }
}

namespace {

int64_t direction_count(const Node& node) { return node.string_or("direction", "forward") == "bidirectional" ? 2 : 1; }

/** Throws unless the tensor is missing or has that shape. */
void require_shape(const Tensor* tensor, const Shape& wanted, const char* what) {
  require(!tensor || tensor->shape() == wanted, ErrorCode::kInvalidArgument, what, " has shape ",
          tensor ? tensor->shape() : Shape(), "; it needs ", wanted);
}

/** The lengths, or NULL where all sequences are full. */
const int32_t* checked_lengths(const Tensor* lengths, const RecurrentSizes& size) {
  if (!lengths) return nullptr;
  require_shape(lengths, Shape{size.batch}, "sequence_lens");
  const int32_t* values = lengths->data<int32_t>();
  bool full = true;
  for (int64_t b = 0; b < size.batch; ++b) {
    require(values[b] >= 0 && values[b] <= size.steps, ErrorCode::kInvalidArgument, "sequence_lens[", b, "] is ",
            values[b], "; it must lie within [0, ", size.steps, "]");
    full = full && values[b] == size.steps;
  }
  return full ? nullptr : values;
}

}  // namespace

Recurrent::Recurrent(const KernelInfo& info, CellKind kind, RecurrentForm form)
    : kind_(kind),
      attentive_(form == RecurrentForm::kAttentive),
      byte_weights_(form == RecurrentForm::kOfBytes),
      directions_(direction_count(info.node())),
      reverse_first_(info.node().string_or("direction", "forward") == "reverse"),
      batch_first_(info.node().int_or("layout", 0) != 0),
      linear_before_reset_(info.node().int_or("linear_before_reset", 0) != 0),
      input_forget_(info.node().int_or("input_forget", 0) != 0),
      clip_(info.node().float_or("clip", 0)),
      activations_(gate_activations(info.node(), directions_,
                                    kind == CellKind::kRnn   ? 1
                                    : kind == CellKind::kGru ? 2
                                                             : 3)) {
  usual_ = has_usual_functions() && !attentive_ && !byte_weights_ && !info.has_input(7);
  if (byte_weights_) {
    for (size_t i : {1, 2}) packed_bytes_[i - 1] = pack_constant_bytes(info, i);
  } else {
    pack_float_weights(info);
  }
}

/** Whether PackedCell computes what the attributes say, without peepholes. */
bool Recurrent::has_usual_functions() const {
  bool lstm = kind_ == CellKind::kLstm && !input_forget_, gru = kind_ == CellKind::kGru && linear_before_reset_;
  auto is = [](const GateActivation& gate, kernels::UnaryOp op) { return gate.plain() && gate.function.op == op; };
  return (lstm || gru) && clip_ == 0 && std::ranges::all_of(activations_, [&](const GateActivations& f) {
           bool usual = is(f[0], kernels::UnaryOp::kSigmoid) && is(f[1], kernels::UnaryOp::kTanh);
           return usual && (gru || is(f[2], kernels::UnaryOp::kTanh));
         });
}

void Recurrent::pack_float_weights(const KernelInfo& info) {
  const Tensor *w = info.weights_input(1), *r = info.weights_input(2);
  if (attentive_ || !w || !r || w->type() == ElementType::kDouble || w->rank() != 3 || r->rank() != 3) return;
  int64_t hidden = r->shape()[2], n = gates() * hidden;
  if (w->shape()[0] != directions_ || w->shape()[1] != n || r->shape() != Shape{directions_, n, hidden}) return;
  if (w->element_count() == 0 || r->element_count() == 0) return;
  int64_t own = kind_ == CellKind::kGru ? 2 * hidden : n;
  for (int64_t d = 0; d < directions_; ++d) {
    if (is_usual_cell(hidden)) {
      packed_.push_back(constant_cell_weights(info, cell(), *w, *r, d));
      continue;
    }
    CellWeights<float> weights{pack_constant(info, *w, d, 0, n), pack_constant(info, *r, d, 0, own)};
    if (own < n) weights.candidate = pack_constant(info, *r, d, own, n - own);
    packed_.push_back(std::move(weights));
  }
}

RecurrentSizes Recurrent::sizes(const KernelContext& context) const {
  const Shape &x = context.input(0).shape(), &w = context.input(1).shape(), &r = context.input(2).shape();
  require(x.rank() == 3 && w.rank() == 3 && r.rank() == 3, ErrorCode::kInvalidArgument, "X is ", x, ", W is ", w,
          ", R is ", r, "; all must have rank 3");
  RecurrentSizes size{x[batch_first_], x[!batch_first_], x[2], r[byte_weights_ ? 1 : 2], directions_, batch_first_};
  int64_t rows = checked_mul(gates(), size.hidden);
  int64_t named = context.node().int_or("hidden_size", size.hidden);
  require(named == size.hidden && size.hidden > 0, ErrorCode::kInvalidArgument, "hidden_size is ", named, " but R is ",
          r, "; its own dimension must be the hidden size");
  if (attentive_) size.attention = memory_sizes(context, directions_, size.batch, size.hidden).state;
  auto weights = [&](int64_t k) { return byte_weights_ ? Shape{directions_, k, rows} : Shape{directions_, rows, k}; };
  require_shape(&context.input(1), weights(checked_add(size.input, size.attention)), "W");
  require_shape(&context.input(2), weights(size.hidden), "R");
  require_shape(context.input_if(3), Shape{directions_, checked_mul(rows, int64_t{2})}, "B");
  Shape state =
      batch_first_ ? Shape{size.batch, directions_, size.hidden} : Shape{directions_, size.batch, size.hidden};
  require_shape(context.input_if(5), state, "initial_h");
  require_shape(context.input_if(6), state, "initial_c");
  require_shape(context.input_if(7), Shape{directions_, 3 * size.hidden}, "P");
  return size;
}

void Recurrent::check_byte_inputs(const KernelContext& context) const {
  for (size_t i : {3, 5, 6, 7, 8, 10}) {
    const Tensor* tensor = i < 8 ? context.input_if(i) : &context.input(i);
    require(!tensor || tensor->type() == ElementType::kFloat, ErrorCode::kInvalidArgument, "input ", i, " holds ",
            name_of(tensor ? tensor->type() : ElementType::kFloat), "; it must hold float");
  }
  for (size_t i : {1, 2}) {
    ElementType type = context.input(i).type();
    require(context.input(7 + 2 * i).type() == type, ErrorCode::kInvalidArgument, "zero points of ", i == 1 ? "W" : "R",
            " hold ", name_of(context.input(7 + 2 * i).type()), "; they must hold ", name_of(type));
  }
}

/** W (input 1) or R (input 2) of direction d, for left operands of up to `rows` rows. */
GateMatrix<float> Recurrent::byte_matrix(KernelContext& context, size_t input, int64_t rows, int64_t d) const {
  const Tensor &tensor = context.input(input), &scale = context.input(6 + 2 * input),
               &zero = context.input(7 + 2 * input);
  int64_t k = tensor.shape()[1], n = tensor.shape()[2];
  for (const Tensor* values : {&scale, &zero}) {
    require(values->shape() == Shape{directions_} || values->shape() == Shape{directions_, n},
            ErrorCode::kInvalidArgument, values == &scale ? "the scale" : "the zero point", " of ",
            input == 1 ? "W" : "R", " has shape ", values->shape(), "; it needs [", directions_, "] or [", directions_,
            ",", n, "]");
  }
  ByteGates gates;
  const auto& constant = packed_bytes_[input - 1];
  gates.packed = constant.empty() ? pack_bytes(context.threads(), tensor, d) : constant[d];
  gates.scale_per_column = scale.rank() == 2, gates.zero_per_column = zero.rank() == 2;
  gates.scales = scale.data<float>() + (gates.scale_per_column ? d * n : d);
  gates.zeros = static_cast<const char*>(zero.raw()) + (gates.zero_per_column ? d * n : d);
  gates.codes = context.scratch<uint8_t>(checked_mul(rows, k)).data();
  gates.sums = context.scratch<int32_t>(checked_mul(rows, n)).data();
  gates.factors = context.scratch<float>(n).data();
  return {nullptr, gates};
}

template <class C>
CellWeights<C> Recurrent::weights(KernelContext& context, const RecurrentSizes& size, int64_t d) const {
  if constexpr (std::is_same_v<C, float>) {
    if (byte_weights_) {
      int64_t rows = checked_mul(size.steps, size.batch);
      return {byte_matrix(context, 1, rows, d), byte_matrix(context, 2, size.batch, d), {}, {}};
    }
    if (!packed_.empty()) return packed_[d];
  }
  int64_t n = gates() * size.hidden, own = kind_ == CellKind::kGru ? 2 * size.hidden : n;
  int64_t columns = size.input + size.attention;
  const C* w = read_input<C>(context, 1) + d * n * columns;
  const C* r = read_input<C>(context, 2) + d * n * size.hidden;
  ThreadPool& pool = context.threads();
  if constexpr (std::is_same_v<C, float>) {
    if (is_usual_cell(size.hidden)) return cell_weights(pool, cell(), size.hidden, w, columns, r);
  }
  CellWeights<C> result{matrix_of(pool, w, n, size.input, columns), matrix_of(pool, r, own, size.hidden, size.hidden)};
  if (own < n) result.candidate = matrix_of(pool, r + own * size.hidden, n - own, size.hidden, size.hidden);
  if (attentive_) result.attention = matrix_of(pool, w + size.input, n, size.attention, columns);
  return result;
}

template <class C>
void Recurrent::run(KernelContext& context) const {
  RecurrentSizes size = sizes(context);
  std::optional<OutputAs<C>> outputs[3];
  C* out[3] = {};
  for (size_t i = 0; i < 3; ++i) {
    if (!context.has_output(i)) continue;
    outputs[i].emplace(context, i);
    out[i] = outputs[i]->data();
  }
  const int32_t* lengths = checked_lengths(context.input_if(4), size);
  if (lengths && out[0]) std::fill_n(out[0], outputs[0]->shape().element_count(), C(0));
  Run<C> run{*this,
             context,
             size,
             read_input<C>(context, 0),
             read_input<C>(context, 3),
             read_input<C>(context, 5),
             read_input<C>(context, 6),
             read_input<C>(context, 7),
             out[0],
             out[1],
             out[2],
             lengths};
  if (size.batch > 0) {
    for (int64_t d = 0; d < directions_; ++d) run.weights.push_back(weights<C>(context, size, d));
    for (int64_t d = 0; attentive_ && d < directions_; ++d) {
      run.attention.emplace_back(context, d, directions_, size.batch, size.hidden);
    }
    run.project();
    C* memory = context.scratch<C>(checked_mul(directions_, run.walk_memory())).data();
    context.threads().parallel_for(directions_, 1, [&](int64_t begin, int64_t end) {
      for (int64_t d = begin; d < end; ++d) run.walk(d, memory + d * run.walk_memory());
    });
  }
  for (auto& output : outputs) {
    if (output) output->finish();
  }
}

KernelReport Recurrent::report(const KernelContext& context) const {
  constexpr const char* kNames[] = {"rnn", "gru", "lstm"};
  bool in_double = context.input(0).type() == ElementType::kDouble;
  RecurrentSizes size = sizes(context);
  std::string_view type = byte_weights_ ? "_int8 " : in_double ? "_f64 " : "_f32 ";
  const char* isa = byte_weights_ ? kernels::byte_isa() : kernels::float_isa();
  return {join(kNames[static_cast<int>(kind_)], type, size.steps, " steps of ", size.batch, "x", size.input, "x",
               size.hidden, directions_ > 1 ? ", both ways" : ""),
          isa};
}

void Recurrent::compute(KernelContext& context) const {
  if (byte_weights_) {
    check_byte_inputs(context);
    return run<float>(context);
  }
  dispatch<kFloat32And64>(compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) { run<C>(context); });
}

}  // namespace ortolan::cpu
