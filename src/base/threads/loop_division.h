// How a loop of a thread pool is divided.
#pragma once

#include <algorithm>
#include <cstdint>

namespace ortolan::base {

struct LoopDivision {
  int64_t chunk = 1;  // items that a thread claims at a time where nobody may ask for the loop's end
  int helpers = 0;    // threads beside the caller
};

/** The size of chunks of at least `least` items, of which none but a small remainder of many is left for the last. */
inline int64_t even_chunk(int64_t count, int64_t least) {
  constexpr int64_t kMany = 8;
  const int64_t whole = std::max<int64_t>(1, count / least);
  return whole < kMany || least >= kMany ? (count - 1) / whole + 1 : least;
}

/** For `count` items, of which a thread takes `grain` at least, in a pool of `degree` threads on so many processors.
    There are eight chunks for each thread that can be at work at once, or as many as the grain allows; threads beyond
    the processors would only take them from each other. */
inline LoopDivision division_of(int64_t count, int64_t grain, int degree, int processors) {
  constexpr int64_t kChunksPerThread = 8;
  const int at_once = std::clamp(processors, 1, std::max(degree, 1));
  LoopDivision division;
  division.chunk = even_chunk(count, std::max({grain, int64_t{1}, count / (at_once * kChunksPerThread)}));
  division.helpers = static_cast<int>(std::clamp<int64_t>((count - 1) / division.chunk, 0, at_once - 1));
  return division;
}

/** Where a part of a loop ends that is divided among `threads` in proportion, if `so_far` of them have this part and
   those before it: at a whole number of chunks, so that only the loop's last range is shorter than others. */
inline int64_t part_end(int64_t count, int64_t chunk, int so_far, int threads) {
  if (so_far >= threads) return count;
  const int64_t chunks = (count - 1) / chunk + 1;
  return std::min(count, (chunks / threads * so_far + chunks % threads * so_far / threads) * chunk);
}

}  // namespace ortolan::base
