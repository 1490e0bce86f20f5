// RNN, GRU, LSTM and com.microsoft's AttnLSTM and DynamicQuantizeLSTM; see cpu/recurrent/recurrent.h.
#include "cpu/recurrent/recurrent.h"

#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

template <CellKind kind>
std::unique_ptr<OpKernel> make(const KernelInfo& info) {
  return std::make_unique<Recurrent>(info, kind);
}

template <RecurrentForm form>
std::unique_ptr<OpKernel> make_lstm(const KernelInfo& info) {
  return std::make_unique<Recurrent>(info, CellKind::kLstm, form);
}

constexpr KernelRow kRows[] = {
    {"", "RNN", 1, kLatest, make<CellKind::kRnn>, {{0, kFloatTypes}}},
    {"", "GRU", 1, kLatest, make<CellKind::kGru>, {{0, kFloatTypes}}},
    {"", "LSTM", 1, kLatest, make<CellKind::kLstm>, {{0, kFloatTypes}}},
    {"com.microsoft", "AttnLSTM", 1, kLatest, make_lstm<RecurrentForm::kAttentive>, {{0, kFloatTypes}}},
    {"com.microsoft", "DynamicQuantizeLSTM", 1, kLatest, make_lstm<RecurrentForm::kOfBytes>},
};

}  // namespace

extern const KernelTable recurrent_rows;
const KernelTable recurrent_rows(kRows);
}  // namespace ortolan::cpu::onnx
