// Bahdanau's attention over a memory, which AttnLSTM runs between its steps.
#pragma once

#include "cpu/recurrent/recurrent.h"

namespace ortolan::cpu {

/** The sizes that inputs 8 to 13 of AttnLSTM (QW, MW, V, M, memory_seq_lens, AW) agree on. */
struct MemorySizes {
  int64_t steps, depth;  // of M
  int64_t width;         // of keys and queries
  int64_t state;         // what one sequence's attention state holds: AW's columns, or depth without AW
};
/** Checks their shapes; throws with the shape found and the one needed. */
MemorySizes memory_sizes(const KernelContext& context, int64_t directions, int64_t batch, int64_t hidden);

/** One direction's attention. The context of a sequence is the mean of its memory's rows, weighted by the softmax of
    V . tanh(M*MW + h*QW); the state is [h, context] * AW, or the context alone where AW is left out. */
template <class C>
class MemoryAttention {
 public:
  /** Takes all memory it needs from `context`; throws for lengths outside [1, memory steps]. */
  MemoryAttention(KernelContext& context, int64_t direction, int64_t directions, int64_t batch, int64_t hidden);
  /** [batch, sizes().state]; zero before the first attend(). */
  const C* state() const { return state_; }
  const MemorySizes& sizes() const { return sizes_; }
  /** Renews the state from hidden states [batch, hidden]. */
  void attend(const C* hidden);

 private:
  void read_lengths(const Tensor* lengths);
  void attend_row(int64_t b);

  ThreadPool& pool_;
  MemorySizes sizes_;
  int64_t batch_;
  const C *memory_, *vector_;
  GateMatrix<C> query_, from_hidden_, from_context_;
  bool layer_;  // whether AW is given
  std::vector<int64_t> lengths_;
  C *keys_, *queries_, *context_, *state_, *scores_, *mixed_;
};

}  // namespace ortolan::cpu
