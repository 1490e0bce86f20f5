// Convolutions and pools over any number of spatial dimensions, for the ranks that the fast kernels do not take.
#pragma once

#include "cpu/kernels/elementwise/activation.h"
#include "ops/conv_transpose_geometry.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** The spatial dimensions that the kernels of convolution and pooling take; with more, these functions are called. */
inline constexpr size_t kMostKernelSpatial = 3;

/** One window at each position of `grid`, over elements of `area`. */
class WindowsNd {
 public:
  /** `pads` are begin…, end…; those at the end matter to averages that count padding only. */
  WindowsNd(std::vector<int64_t> grid, std::vector<int64_t> area, ops::WindowAttributes window,
            std::vector<int64_t> pads);
  int64_t positions() const { return positions_; }
  int64_t taps() const { return taps_; }
  int64_t plane() const { return plane_; }
  /** The element of the area that tap `tap` meets in each window [first, first + count): kPadding in the padding,
      kBeyond past it. */
  void elements(int64_t tap, int64_t first, int64_t count, int64_t* to) const;
  /** An element's number where the first dimension is the fastest. */
  int64_t column_major(int64_t element) const;

  static constexpr int64_t kPadding = -1, kBeyond = -2;

 private:
  std::vector<int64_t> grid_, area_, pads_;
  ops::WindowAttributes window_;
  int64_t positions_, taps_, plane_;
};

/** Conv with inputs x, weights and bias of the context, into output 0; floating-point types of all kinds. Throws where
    shapes disagree. */
void conv_nd(KernelContext& context, int64_t groups, const kernels::Activation& activation);
/** ConvTranspose likewise, its bias at that input. */
void conv_transpose_nd(KernelContext& context, const ops::ConvTransposeAttributes& attributes, size_t bias,
                       const kernels::Activation& activation);

/** Pools of `planes` planes; contracts as in kernels/convolution/pooling.h. */
template <class T>
void max_pool_nd(ThreadPool& pool, const WindowsNd& windows, int64_t planes, const T* x, T* y, int64_t* indices,
                 bool column_major);
template <class T>
void average_pool_nd(ThreadPool& pool, const WindowsNd& windows, int64_t planes, bool count_pad, const T* x, T* y);
template <class T>
void lp_pool_nd(ThreadPool& pool, const WindowsNd& windows, int64_t planes, double p, const T* x, T* y);

}  // namespace ortolan::cpu
