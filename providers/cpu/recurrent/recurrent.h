// What RNN, GRU, LSTM and AttnLSTM share: sizes, weights, the projection of all inputs at once, and the walk over the
// steps.
#pragma once

#include <atomic>
#include <optional>

#include "cpu/recurrent/gate_activation.h"
#include "cpu/recurrent/recurrent_weights.h"

namespace ortolan::cpu {

class JointWalks;
class WalkMemory;

enum class CellKind : uint8_t { kRnn, kGru, kLstm };

/** The sizes of one run. */
struct RecurrentSizes {
  int64_t steps, batch, input, hidden;
  int64_t directions;
  bool batch_first;
  int64_t attention = 0;  // elements of a sequence's attention state, which joins the input; AttnLSTM only
  /** The row of step t and sequence b in [steps, batch] or [batch, steps]. */
  int64_t row(int64_t t, int64_t b) const { return batch_first ? b * steps + t : t * batch + b; }
  /** The same for rows of Y, which hold all directions. */
  int64_t y_row(int64_t t, int64_t b, int64_t d) const {
    return batch_first ? (b * steps + t) * directions + d : (t * directions + d) * batch + b;
  }
  int64_t state_row(int64_t b, int64_t d) const { return batch_first ? b * directions + d : d * batch + b; }
};

/** kAttentive is AttnLSTM, whose weights are packed in each run. kOfBytes (LSTM of floats): W and R are
    [directions, k, 4 * hidden] of bytes, and inputs 8 to 11 their scales and zero points: W_scale, W_zero_point,
   R_scale, R_zero_point, one a direction or one a direction and column. */
enum class RecurrentForm : uint8_t { kPlain, kAttentive, kOfBytes };

/** RNN, GRU or LSTM for all floating-point types. Constant fp32 and 16-bit weights, and bytes, are packed once. */
class Recurrent final : public OpKernel {
 public:
  Recurrent(const KernelInfo& info, CellKind kind, RecurrentForm form = RecurrentForm::kPlain);
  void compute(KernelContext& context) const override;
  KernelReport report(const KernelContext& context) const override;
  ConstantUse constant_use(size_t i) const override {
    bool packed = (i == 1 || i == 2) && !(packed_.empty() && packed_bytes_[i - 1].empty());
    return packed ? ConstantUse::kNothing : ConstantUse::kElements;
  }

 private:
  template <class C>
  struct Run;
  template <class C>
  void run(KernelContext& context) const;
  RecurrentSizes sizes(const KernelContext& context) const;
  template <class C>
  CellWeights<C> weights(KernelContext& context, const RecurrentSizes& sizes, int64_t direction) const;
  void pack_float_weights(const KernelInfo& info);
  bool has_usual_functions() const;
  /** Whether directions are PackedCells. */
  bool is_usual_cell(int64_t hidden) const { return usual_ && kernels::CellOrder::takes(hidden); }
  kernels::Cell cell() const { return kind_ == CellKind::kLstm ? kernels::Cell::kLstm : kernels::Cell::kGru; }
  GateMatrix<float> byte_matrix(KernelContext& context, size_t input, int64_t rows, int64_t direction) const;
  void check_byte_inputs(const KernelContext& context) const;
  int64_t gates() const { return kind_ == CellKind::kLstm ? 4 : kind_ == CellKind::kGru ? 3 : 1; }

  CellKind kind_;
  bool attentive_, byte_weights_;
  int64_t directions_;
  bool reverse_first_;  // direction 0 runs backwards
  bool batch_first_, linear_before_reset_, input_forget_;
  float clip_;
  bool usual_ = false;
  std::vector<GateActivations> activations_;
  std::vector<CellWeights<float>> packed_;    // of each direction, where W and R are constant
  std::vector<PackedBytes> packed_bytes_[2];  // of W and of R: of each direction, where constant
  std::shared_ptr<WalkMemory> walk_memory_;
  mutable std::atomic<int> awake_{0};                     // runs that are here and do not sleep
  std::vector<std::shared_ptr<JointWalks>> joint_walks_;  // of each direction, where packed_ has cells
};

}  // namespace ortolan::cpu
