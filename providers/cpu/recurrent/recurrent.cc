// RNN, GRU, LSTM and AttnLSTM: attributes, checks of shapes, weights.
#include "cpu/recurrent/recurrent.h"

#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/instruction_sets.h"
#include "cpu/quantised/byte_tensors.h"
#include "cpu/recurrent/recurrent_run.h"

namespace ortolan::cpu {
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
                                                             : 3)),
      walk_memory_(std::make_shared<WalkMemory>()) {
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
      joint_walks_.push_back(std::make_shared<JointWalks>(packed_.back().cell, awake_));
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
  gates.packed = constant.empty()
                     ? std::make_shared<const kernels::PackedMatrixInt8>(pack_bytes(context.threads(), tensor, d))
                     : constant[d];
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
    run.run();
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
  dispatch<kFloat32And64>(float_compute_type(context.input(0).type()), [&]<class C>(TypeTag<C>) { run<C>(context); });
}

}  // namespace ortolan::cpu
