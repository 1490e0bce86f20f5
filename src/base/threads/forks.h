// Copies of a process.
#pragma once

#include <cstdint>

namespace ortolan::base {

/** Forks between the program's first process and this one. What threads share, and has been made after fewer, is a copy
    here, whose locks and promises are those of threads that are not here. */
uint32_t count_forks() noexcept;

}  // namespace ortolan::base
