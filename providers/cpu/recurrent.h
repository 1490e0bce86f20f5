// What RNN, GRU, LSTM and AttnLSTM share: sizes, weights, the projection of all inputs at once, and the walk over the
// steps.
#pragma once

#include <optional>

#include "cpu/gate_activation.h"
#include "cpu/kernels/gemm_int8.h"
#include "cpu/packed_weights.h"

namespace ortolan::cpu {

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

/** A right operand of bytes. The left one is quantised on the way, with scale and zero point of its own each time. */
struct ByteGates {
  std::shared_ptr<const kernels::PackedMatrixInt8> packed;
  const float* scales = nullptr;  // one, or one a column
  const void* zeros = nullptr;    // the same, of the bytes' type
  bool scale_per_column = false, zero_per_column = false;
  uint8_t* codes = nullptr;  // memory for the left operand
  int32_t* sums = nullptr;   // and for the products
  float* factors = nullptr;  // and for a factor a column
};

/** A right operand, given as [n, k] or, not transposed, as [k, n]. fp32 is packed; or it holds bytes. */
template <class C>
struct GateMatrix;
template <>
struct GateMatrix<float> {
  std::shared_ptr<const kernels::PackedMatrix> packed;
  std::optional<ByteGates> bytes = std::nullopt;
};
template <>
struct GateMatrix<double> {
  const double* data = nullptr;
  int64_t n = 0, k = 0;
  int64_t row = 0;  // elements between rows
  bool transposed = true;
};
/** c[m, n] = a[m, k] * matrix (+ c) (+ bias, one a column, may be NULL). `order` is advice. */
void gate_product(ThreadPool& pool, int64_t m, const float* a, const GateMatrix<float>& matrix, float* c, int64_t ldc,
                  bool accumulate, const float* bias = nullptr,
                  kernels::PanelOrder order = kernels::PanelOrder::kForward);
void gate_product(ThreadPool& pool, int64_t m, const double* a, const GateMatrix<double>& matrix, double* c,
                  int64_t ldc, bool accumulate, const double* bias = nullptr,
                  kernels::PanelOrder order = kernels::PanelOrder::kForward);

/** The weights of one direction. GRU keeps the rows of its candidate apart, AttnLSTM the columns of its attention. */
template <class C>
struct CellWeights {
  GateMatrix<C> input, recurrent, candidate, attention;
};

using PackedBytes = std::shared_ptr<const kernels::PackedMatrixInt8>;

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
  GateMatrix<float> byte_matrix(KernelContext& context, size_t input, int64_t rows, int64_t direction) const;
  void check_byte_inputs(const KernelContext& context) const;
  int64_t gates() const { return kind_ == CellKind::kLstm ? 4 : kind_ == CellKind::kGru ? 3 : 1; }

  CellKind kind_;
  bool attentive_, byte_weights_;
  int64_t directions_;
  bool reverse_first_;  // direction 0 runs backwards
  bool batch_first_, linear_before_reset_, input_forget_;
  float clip_;
  std::vector<GateActivations> activations_;
  std::vector<CellWeights<float>> packed_;    // of each direction, where W and R are constant
  std::vector<PackedBytes> packed_bytes_[2];  // of W and of R: of each direction, where constant
};

}  // namespace ortolan::cpu
