// Whether the memory of a process stays level.
#include "level.h"

#include <malloc.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

namespace soak {
namespace {

constexpr size_t kFewest = 8;
constexpr size_t kTolerated = size_t{24} << 20;
constexpr double kToleratedShare = 0.05;

std::string megabytes(size_t bytes) { return std::to_string(bytes >> 20) + " MB"; }

}  // namespace

size_t resident_bytes() {
  malloc_trim(0);
  size_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

size_t Level::middle_of(size_t quarter) const {
  const size_t begin = sizes_.size() * quarter / 4, end = std::max(begin + 1, sizes_.size() * (quarter + 1) / 4);
  std::vector<size_t> part(sizes_.begin() + static_cast<ptrdiff_t>(begin),
                           sizes_.begin() + static_cast<ptrdiff_t>(end));
  std::ranges::nth_element(part, part.begin() + static_cast<ptrdiff_t>(part.size() / 2));
  return part[part.size() / 2];
}

bool Level::holds() const {
  if (sizes_.size() < kFewest) return true;
  const size_t early = middle_of(1), late = middle_of(3);
  return late <= early + std::max(kTolerated, static_cast<size_t>(static_cast<double>(early) * kToleratedShare));
}

std::string Level::text() const {
  if (sizes_.empty()) return "no sizes";
  if (sizes_.size() < kFewest) return megabytes(sizes_.back()) + " now";
  return megabytes(sizes_.front()) + " first, " + megabytes(middle_of(1)) + " in the second quarter, " +
         megabytes(middle_of(3)) + " in the last, " + megabytes(*std::ranges::max_element(sizes_)) + " at most";
}

}  // namespace soak
