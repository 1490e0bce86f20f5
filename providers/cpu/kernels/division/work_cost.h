// What the work of kernels costs one core, in nanoseconds, for dividing it among threads; within a factor of two.
#pragma once

namespace ortolan::cpu::kernels {

constexpr double kByteNs = 0.04;  // reading what is not in the nearest caches

/** A multiplication and addition of floats, or of words of bytes, in vectors of so many. */
constexpr double multiply_ns(int lanes) { return 0.18 / lanes; }

/** Copying an element of a matrix to where kernels read it. */
constexpr double kPackNs = 0.2;

/** Copying elements in runs: each element, each run. */
constexpr double kCopyNs = 0.1, kRunNs = 2;

/** Bytes: copying one to where kernels read it, adding one up, one that lies apart from its neighbours in memory; a sum
    of products of them as a byte or a float; a float as one of them. */
constexpr double kPackByteNs = 0.1, kSumByteNs = 0.03, kStrideNs = 1, kRequantizeNs = 0.3, kQuantizeNs = 0.2;

/** On tiles: the product of 16 rows of 32 bfloat16 or 64 bytes and 16 columns of them, an element that is split into
    slices of bfloat16, the end of a block of 32 x 32 sums. */
constexpr double kTileProductNs = 6.6, kTileSplitNs = 0.2, kTileSumsNs = 200;

/** An element of a loop over vectors: little is computed of it; it lies in a row that is passed over several times,
   such as for a softmax; an elementary function; a loop that takes elements one by one, with a branch or an index for
   each; a number that is drawn or hashed; a function of the standard library. */
constexpr double kElementNs = 0.15, kRowElementNs = 0.4, kActivationNs = 0.3, kScalarNs = 1, kHashNs = 2,
                 kFunctionNs = 10;
constexpr double kDoubleTimes = 4;  // what elements cost as doubles

/** A byte that is read and written elsewhere. */
constexpr double kMovedByteNs = 2 * kByteNs;

/** An element of a plane under a tap: multiplied by a weight, or joined with its neighbours. */
constexpr double kDepthwiseTapNs = 0.05, kPooledNs = 0.08;

constexpr double kTextNs = 100;  // a short text that is searched or written

}  // namespace ortolan::cpu::kernels
