// What a thread does between two looks at memory that another thread is about to change.
#pragma once

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace ortolan::base {

inline void pause_cpu() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace ortolan::base
