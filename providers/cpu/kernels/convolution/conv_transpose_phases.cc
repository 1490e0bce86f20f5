// fp32 transposed convolution by phases: results a whole number of strides apart are a convolution of stride 1.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/memory/packed_parts.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/convolution/conv_transpose_f32.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/vectors/lengths.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kMostPhases = 64;
constexpr int64_t kFewestInputs = 8;  // that are worth packed weights

/** The taps of one dimension that the results of a phase meet: first, first + step, and so on. A phase is told by its
    `residue`: the place of its results before padding is cut, modulo the stride. */
struct PhaseTaps {
  int64_t first = 0, count = 0, step = 1;
  int64_t dilation = 1;  // inputs from one met tap to the next
};

PhaseTaps taps_of(const ConvGeometry& g, int axis, int64_t residue) {
  const int64_t stride = g.stride[axis], dilation = g.dilation[axis], common = std::gcd(stride, dilation);
  PhaseTaps taps{0, 0, stride / common, dilation / common};
  while (taps.first < taps.step && taps.first < g.kernel[axis] && (taps.first * dilation - residue) % stride != 0) {
    ++taps.first;
  }
  const bool any = taps.first < taps.step && taps.first < g.kernel[axis];
  if (any) taps.count = (g.kernel[axis] - taps.first - 1) / taps.step + 1;
  return taps;
}

/** A phase's results along one dimension: every stride-th from `first` on. */
struct PhaseResults {
  PhaseTaps taps;
  int64_t residue, first, count;
  int64_t pad;  // of the convolution, before the input
};

PhaseResults results_of(const ConvGeometry& g, int axis, int64_t first) {
  const int64_t stride = g.stride[axis], place = first + g.pad_begin[axis];
  PhaseResults r{taps_of(g, axis, place % stride), place % stride, first, 0, 0};
  r.count = first < g.out[axis] ? (g.out[axis] - 1 - first) / stride + 1 : 0;
  const int64_t newest = (place - r.taps.first * g.dilation[axis]) / stride;  // input that the first result meets first
  r.pad = (r.taps.count - 1) * r.taps.dilation - newest;
  return r;
}

/** Number of inputs that the phase's results meet along one dimension, padding left out. */
int64_t meetings(const ConvGeometry& g, int axis, const PhaseResults& r) {
  int64_t found = 0;
  for (int64_t t = 0; t < r.taps.count; ++t) {
    const int64_t before = r.pad - t * r.taps.dilation;  // results before the one that meets input 0
    found += std::max<int64_t>(0, std::min(r.count, g.in[axis] + before) - std::max<int64_t>(0, before));
  }
  return found;
}

bool axis_suits_phases(const ConvGeometry& g, int axis, double* useful) {
  int64_t met = 0, all = 0;
  for (int64_t first = 0; first < g.stride[axis]; ++first) {
    const PhaseResults r = results_of(g, axis, first);
    if (r.count == 0 || r.taps.count == 0) continue;
    if (r.pad < 0) return false;
    met += meetings(g, axis, r);
    all += r.count * r.taps.count;
  }
  *useful *= all == 0 ? 0 : static_cast<double>(met) / static_cast<double>(all);
  return true;
}

/** The convolution of one phase, as far as weights know it. */
ConvGeometry phase_weights(const ConvGeometry& g, const PhaseTaps (&taps)[3]) {
  ConvGeometry phase;
  phase.groups = g.groups;
  phase.in_channels = g.in_channels;
  phase.out_channels = g.out_channels;
  for (int a = 0; a < 3; ++a) {
    phase.kernel[a] = taps[a].count;
    phase.dilation[a] = taps[a].dilation;
  }
  return phase;
}

/** Weights [out][in/group][taps of the phase, last to first]. */
void pick_taps(const ConvGeometry& g, const PhaseTaps (&taps)[3], int64_t out_channel, const float* weights,
               float* to) {
  const int64_t depth = g.in_channels / g.groups, channels = g.out_channels / g.groups;
  const int64_t group = out_channel / channels, all_taps = volume(g.kernel);
  const auto tap = [&taps](int axis, int64_t i) { return taps[axis].first + i * taps[axis].step; };
  for (int64_t c = 0; c < depth; ++c) {
    const float* from = weights + ((group * depth + c) * channels + out_channel % channels) * all_taps;
    for (int64_t d = taps[0].count - 1; d >= 0; --d) {
      for (int64_t h = taps[1].count - 1; h >= 0; --h) {
        const float* row = from + (tap(0, d) * g.kernel[1] + tap(1, h)) * g.kernel[2];
        for (int64_t w = taps[2].count - 1; w >= 0; --w) *to++ = read_unaligned(row + tap(2, w));
      }
    }
  }
}

PackedConvWeights pack_phase(base::ThreadPool* pool, const ConvGeometry& g, const PhaseTaps (&taps)[3],
                             const float* weights, const ConvPacking& packing) {
  const ConvGeometry phase = phase_weights(g, taps);
  const int64_t size = g.in_channels / g.groups * volume(phase.kernel);
  if (size * g.out_channels == 0) return {};
  if (base::parts_are_kept()) return pack_conv_weights(pool, phase, weights, packing);  // which reads no weights
  AlignedBuffer picked(static_cast<size_t>(g.out_channels * size) * sizeof(float));
  base::parallel_for(pool, g.out_channels, least_rows(size, kPackNs), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) pick_taps(g, taps, i, weights, picked.as<float>() + i * size);
  });
  return pack_conv_weights(pool, phase, picked.as<float>(), packing);
}

/** What is left of each sum where no tap is met. */
void fill_untouched(int64_t planes, const ConvGeometry& g, const ConvEpilogue& epilogue, int64_t plane, float* y) {
  for (int64_t p = 0; p < planes; ++p) {
    std::fill_n(y + p * plane, plane, epilogue.bias != nullptr ? epilogue.bias[p % g.out_channels] : 0.0f);
  }
  unary(epilogue.activation, y, y, planes * plane);
}

/** Phases that share all but the last dimension, computed side by side and then laid between each other. */
class PhaseRow {
 public:
  PhaseRow(const ConvGeometry& g, int64_t first_slice, int64_t first_row)
      : g_(g), slices_(results_of(g, 0, first_slice)), rows_(results_of(g, 1, first_row)) {}

  void compute(base::ThreadPool* pool, const float* x, const std::vector<PackedConvWeights>& weights,
               const ConvEpilogue& epilogue, float* buffer) {
    for (int64_t first = 0; first < g_.stride[2]; ++first) {
      const PhaseResults columns = results_of(g_, 2, first);
      phases_.push_back({buffer, columns.count});
      const int64_t plane = slices_.count * rows_.count * columns.count;
      if (plane > 0) convolve(pool, x, weights, columns, epilogue, buffer);
      buffer += g_.batch * g_.out_channels * plane;
    }
  }

  void lay_out(base::ThreadPool* pool, float* y) const {
    const int64_t rows = g_.batch * g_.out_channels * slices_.count * rows_.count;
    base::parallel_for(pool, rows, least_rows(g_.out[2], kPackNs), [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) lay_out_row(row, y);
    });
  }

 private:
  struct Computed {
    const float* values;
    int64_t row;  // elements of a row
  };

  void convolve(base::ThreadPool* pool, const float* x, const std::vector<PackedConvWeights>& weights,
                const PhaseResults& columns, const ConvEpilogue& epilogue, float* to) const {
    const PhaseResults* results[3] = {&slices_, &rows_, &columns};
    const PackedConvWeights& packed =
        weights[(slices_.residue * g_.stride[1] + rows_.residue) * g_.stride[2] + columns.residue];
    const int64_t plane = slices_.count * rows_.count * columns.count;
    if (packed.empty()) return fill_untouched(g_.batch * g_.out_channels, g_, epilogue, plane, to);
    ConvGeometry phase = phase_weights(g_, {slices_.taps, rows_.taps, columns.taps});
    phase.batch = g_.batch;
    for (int a = 0; a < 3; ++a) {
      base::require(results[a]->pad >= 0, base::ErrorCode::kNotImplemented, "transposed convolution: pads that cut ",
                    -results[a]->pad, " inputs need weights that are not packed");
      phase.in[a] = g_.in[a];
      phase.out[a] = results[a]->count;
      phase.pad_begin[a] = results[a]->pad;
    }
    conv(pool, phase, x, packed, epilogue, to);
  }

  void lay_out_row(int64_t row, float* y) const {
    const int64_t rows = rows_.count, slices = slices_.count;
    const int64_t h = rows_.first + row % rows * g_.stride[1], d = slices_.first + row / rows % slices * g_.stride[0];
    float* to = y + ((row / (rows * slices) * g_.out[0] + d) * g_.out[1] + h) * g_.out[2];
    if (phases_.size() == 2) return lay_out_pairs(row, to);
    for (size_t p = 0; p < phases_.size(); ++p) {
      const float* from = phases_[p].values + row * phases_[p].row;
      for (int64_t i = 0; i < phases_[p].row; ++i) to[i * g_.stride[2] + p] = from[i];
    }
  }

  void lay_out_pairs(int64_t row, float* to) const {
    const float *even = phases_[0].values + row * phases_[0].row, *odd = phases_[1].values + row * phases_[1].row;
    for (int64_t i = 0; i < phases_[1].row; ++i) {
      to[2 * i] = even[i];
      to[2 * i + 1] = odd[i];
    }
    if (phases_[0].row > phases_[1].row) to[2 * phases_[1].row] = even[phases_[1].row];
  }

  const ConvGeometry& g_;
  PhaseResults slices_, rows_;
  std::vector<Computed> phases_;
};

}  // namespace

bool suits_phases(const ConvGeometry& g) {
  for (int64_t stride : g.stride) {
    if (stride > kMostPhases) return false;
  }
  if (volume(g.stride) > kMostPhases || volume(g.in) < kFewestInputs) return false;
  double useful = 1;
  for (int a = 0; a < 3; ++a) {
    if (!axis_suits_phases(g, a, &useful)) return false;
  }
  return useful >= 0.5;
}

const char* PackedTransposedWeights::method() const noexcept {
  const auto met = std::find_if(phases_.begin(), phases_.end(), [](const auto& phase) { return !phase.empty(); });
  return met == phases_.end() ? "direct" : met->method();
}

const char* PackedTransposedWeights::isa() const noexcept {
  const auto met = std::find_if(phases_.begin(), phases_.end(), [](const auto& phase) { return !phase.empty(); });
  return met == phases_.end() ? "" : met->isa();
}

PackedTransposedWeights pack_conv_transpose_weights(base::ThreadPool* pool, const ConvGeometry& g, const float* weights,
                                                    const ConvPacking& packing) {
  PackedTransposedWeights packed;
  for (int64_t d = 0; d < g.stride[0]; ++d) {
    for (int64_t h = 0; h < g.stride[1]; ++h) {
      for (int64_t w = 0; w < g.stride[2]; ++w) {
        const PhaseTaps taps[3] = {taps_of(g, 0, d), taps_of(g, 1, h), taps_of(g, 2, w)};
        packed.phases_.push_back(pack_phase(pool, g, taps, weights, packing));
      }
    }
  }
  return packed;
}

void conv_transpose(base::ThreadPool* pool, const ConvGeometry& g, const float* x,
                    const PackedTransposedWeights& weights, const ConvEpilogue& epilogue, float* y) {
  if (g.batch * g.out_channels * volume(g.out) == 0) return;
  const bool single = volume(g.stride) == 1;
  const int64_t widest = (g.out[0] / g.stride[0] + 1) * (g.out[1] / g.stride[1] + 1) * g.out[2];
  AlignedBuffer side_by_side(single ? 0 : static_cast<size_t>(g.batch * g.out_channels * widest) * sizeof(float));
  for (int64_t d = 0; d < g.stride[0]; ++d) {
    for (int64_t h = 0; h < g.stride[1]; ++h) {
      PhaseRow row(g, d, h);
      row.compute(pool, x, weights.phases_, epilogue, single ? y : side_by_side.as<float>());
      if (!single) row.lay_out(pool, y);
    }
  }
}

}  // namespace ortolan::cpu::kernels
