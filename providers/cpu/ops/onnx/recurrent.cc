// RNN, GRU and LSTM; see cpu/recurrent.h.
#include "cpu/recurrent.h"

#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

template <CellKind kind>
std::unique_ptr<OpKernel> make(const KernelInfo& info) {
  return std::make_unique<Recurrent>(info, kind);
}

constexpr KernelRow kRows[] = {
    {"", "RNN", 1, kLatest, make<CellKind::kRnn>, {{0, kFloatTypes}}},
    {"", "GRU", 1, kLatest, make<CellKind::kGru>, {{0, kFloatTypes}}},
    {"", "LSTM", 1, kLatest, make<CellKind::kLstm>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable recurrent_rows;
const KernelTable recurrent_rows(kRows);
}  // namespace ortolan::cpu::onnx
