// What one instruction set provides for fp32 convolution, beside the product itself. Internal to the kernels.
#pragma once

#include <cstdint>

#include "cpu/kernels/convolution/conv_f32.h"

namespace ortolan::cpu::kernels {

/** Output positions of one panel that lie in one output row: `count` of them, from column `at` of the panel. */
struct ColumnRun {
  int64_t at, count;
  int64_t out[3];  // the first one's output index
};

constexpr int64_t kMostRuns = 64;  // of a panel, which is narrower

/** Writes the runs of outputs [first, first + count), one for each output row they touch; returns how many. */
int64_t find_runs(const ConvGeometry& g, int64_t first, int64_t count, ColumnRun* runs);

/**
 * A plane with its padding written out and its rows and columns sorted by their remainder by the strides, so that every
 * tap reads consecutive elements: output (h, w) meets tap t at x[h*row + w + offsets[t]]. Reading a whole vector past
 * the last element needed stays inside the buffer.
 */
struct DepthwisePlane {
  const float* x;
  int64_t row;
  const float* taps;
  const int64_t* offsets;
  int64_t tap_count;
  int64_t out_h, out_w;
  float bias;
  const float* residual;  // out_h x out_w, or nullptr
  float low, high;        // clamp of the result
  float* y;
  float* scratch;  // out_h*row + 64 floats
};

/** A plane as it lies in memory, for square weights that step alike both ways without dilation. */
struct DirectPlane {
  const float* x;
  int64_t in_h, in_w;
  int64_t pad_h, pad_w;
  const float* taps;
  int64_t out_h, out_w;
  float bias;
  const float* residual;  // out_h x out_w, or nullptr
  float low, high;        // clamp of the result
  float* y;
};
using DepthwiseDirect = void (*)(const DirectPlane& plane);

/** Throws base::Error where writing out the padding would make an input plane absurdly larger. */
void check_padding(const ConvGeometry& geometry);

/** How one input plane becomes that form. The constructor throws as check_padding does. */
class DepthwiseLayout {
 public:
  static constexpr int64_t kSlack = 64;
  explicit DepthwiseLayout(const ConvGeometry& g);
  /** Floats of the sorted plane, slack included. All of them are zero before the first plane is spread. */
  int64_t size() const { return phases_ * plane_ + kSlack; }
  int64_t row() const { return row_; }
  int64_t scratch(const ConvGeometry& g) const { return g.out[1] * row_ + kSlack; }
  /** Where each tap's input lies, kernel[1]*kernel[2] of them. */
  void offsets(const ConvGeometry& g, int64_t* to) const;
  int64_t plane() const { return plane_; }

 private:
  int64_t phases_, plane_, row_;
};

struct ConvF32Kernels {
  /**
   * Writes rows [0, channels*taps) of a panel: row (channel, tap) holds, for each output of `runs`, the input element
   * that the tap meets, or 0 in the padding. x points at the first channel's plane. Columns past the last run become 0.
   */
  void (*gather_panel)(const ConvGeometry& geometry, const float* x, int64_t channels, const ColumnRun* runs,
                       int64_t run_count, int64_t columns, int64_t width, float* panel);
  void (*depthwise)(const DepthwisePlane& plane);
  /** Copies one plane of the geometry's input into its sorted form; the padding's places are not written. */
  void (*spread_plane)(const ConvGeometry& geometry, const float* x, int64_t plane, int64_t row, float* to);
  /** What computes planes of weights size x size and this step from the input itself; nullptr where nothing does. */
  DepthwiseDirect (*direct_depthwise)(int64_t size, int64_t step);
};

}  // namespace ortolan::cpu::kernels
