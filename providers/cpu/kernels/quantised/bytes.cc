// Spans of bytes: by the instruction set in use.
#include "cpu/kernels/quantised/bytes.h"

#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/quantised/bytes_kernels.h"

namespace ortolan::cpu::kernels {

namespace generic {
extern const BytesKernels kBytes;
}
#if defined(__x86_64__)
namespace avx2 {
extern const BytesKernels kBytes;
}
namespace avx512 {
extern const BytesKernels kBytes;
/** Needs VBMI, which no level of instruction sets promises. */
void map_bytes_vbmi(const uint8_t* table, const uint8_t* x, int64_t n, uint8_t* y);
}  // namespace avx512
#endif

namespace {

const BytesKernels& best() {
#if defined(__x86_64__)
  const base::IsaLevel isa = kernels().isa;
  if (isa >= base::IsaLevel::kAvx512) return avx512::kBytes;
  if (isa >= base::IsaLevel::kAvx2) return avx2::kBytes;
#endif
  return generic::kBytes;
}

}  // namespace

void map_bytes(const uint8_t* table, const uint8_t* x, int64_t n, uint8_t* y) {
#if defined(__x86_64__)
  static const bool vbmi = __builtin_cpu_supports("avx512vbmi") != 0;
  if (vbmi && n >= 64 && kernels().isa >= base::IsaLevel::kAvx512) return avx512::map_bytes_vbmi(table, x, n, y);
#endif
  best().map(table, x, n, y);
}

void add_bytes(const BytePair& pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y) {
  best().add(pair, a, b, n, y);
}

void multiply_bytes(const BytePair& pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y) {
  best().multiply(pair, a, b, n, y);
}

int64_t sum_bytes(const uint8_t* x, int64_t n, bool is_signed) { return best().sum(x, n, is_signed); }

void accumulate_bytes(const uint8_t* x, int64_t n, bool is_signed, int32_t* sums) {
  best().accumulate(x, n, is_signed, sums);
}

int32_t dot_s16(const int16_t* a, const int16_t* b, int64_t n) { return best().dot_s16(a, b, n); }

}  // namespace ortolan::cpu::kernels
