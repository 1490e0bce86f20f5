// How much memory the process may use, by what the system says of the machine and of control groups.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ortolan::base {

inline constexpr size_t kNoMemoryLimit = SIZE_MAX;

/** The files that may bound a process whose /proc/self/cgroup holds `groups`: of its group and of each around it, in
    the unified hierarchy (memory.max) and in that of the memory controller (memory.limit_in_bytes). */
std::vector<std::string> memory_limit_files(std::string_view groups);

/** What such a file says; kNoMemoryLimit for "max" and for text that is no number. */
size_t memory_limit_of(std::string_view text);

/** The bytes of the machine's memory by the text of /proc/meminfo; kNoMemoryLimit where it does not say. */
size_t memory_of_machine(std::string_view meminfo);

/** Four fifths of the least of them, so that the rest of the process and of the machine has room; kNoMemoryLimit where
    nothing is known. */
size_t share_of_memory(std::string_view meminfo, std::span<const std::string> limits);

/** The share for this process, as the system said at the first call. */
size_t share_of_memory();

}  // namespace ortolan::base
