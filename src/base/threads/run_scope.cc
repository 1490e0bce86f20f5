// The scope of the calling thread, and how its arithmetic treats denormals.
#include "base/threads/run_scope.h"

#include <cstdint>
#include <utility>

#include "base/error.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ortolan::base {
namespace {

/** Read at every node: in the few bytes that each thread has for libraries, where no call is needed to find it. */
[[gnu::tls_model("initial-exec")]] constinit thread_local struct {
  RunScope scope;
  uint64_t looks = 0;
} t_state;

#if defined(__x86_64__)
constexpr uint64_t kFlush = 0x8040;  // FTZ and DAZ of MXCSR
uint64_t control_word() noexcept { return _mm_getcsr(); }
void set_control_word(uint64_t word) noexcept { _mm_setcsr(static_cast<unsigned>(word)); }
#elif defined(__aarch64__)
constexpr uint64_t kFlush = uint64_t{1} << 24;  // FZ of FPCR
uint64_t control_word() noexcept {
  uint64_t word;
  asm volatile("mrs %0, fpcr" : "=r"(word));
  return word;
}
void set_control_word(uint64_t word) noexcept { asm volatile("msr fpcr, %0" : : "r"(word)); }
#else
constexpr uint64_t kFlush = 0;  // unknown: denormals stay
uint64_t control_word() noexcept { return 0; }
void set_control_word(uint64_t) noexcept {}
#endif

bool flushes(uint64_t word) { return kFlush != 0 && (word & kFlush) == kFlush; }

/** Writes the control word, which stops the processor for a moment, only where that changes something. */
void set_flush_bits(uint64_t word, uint64_t bits) noexcept {
  if ((word & kFlush) != bits) set_control_word((word & ~kFlush) | bits);
}

}  // namespace

const RunScope& run_scope() noexcept { return t_state.scope; }

RunScope lasting_run_scope() noexcept {
  RunScope lasting = t_state.scope;
  lasting.terminate = nullptr;
  lasting.memory = nullptr;
  lasting.strings = nullptr;
  return lasting;
}

bool terminate_asked() noexcept { return terminate_asked(t_state.scope.terminate); }

bool terminate_asked(const std::atomic<bool>* terminate) noexcept {
  ++t_state.looks;
  return terminate != nullptr && terminate->load(std::memory_order_relaxed);
}

void check_terminate() {
  if (terminate_asked()) fail_terminated();
}

void fail_terminated() { fail(ErrorCode::kFail, "the run was stopped because terminate is set in its run options"); }

uint64_t terminate_looks() noexcept { return t_state.looks; }

bool denormals_are_zero() noexcept { return flushes(control_word()); }

bool can_flush_denormals() noexcept { return kFlush != 0; }

ScopedRunScope::ScopedRunScope(const RunScope& scope) noexcept : before_(std::exchange(t_state.scope, scope)) {
  const uint64_t word = control_word();
  flush_bits_before_ = word & kFlush;
  if (flushes(word) != scope.denormals_are_zero) set_flush_bits(word, scope.denormals_are_zero ? kFlush : 0);
}

ScopedRunScope::~ScopedRunScope() {
  set_flush_bits(control_word(), flush_bits_before_);
  t_state.scope = before_;
}

}  // namespace ortolan::base
