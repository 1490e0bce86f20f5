// 3x3 convolution by F(2x2, 3x3): transformed tiles of a panel, sixteen products with the weights, transformed back.
#include "cpu/kernels/winograd_f32.h"

#include <algorithm>

#include "base/thread_pool.h"
#include "cpu/kernels/aligned_buffer.h"
#include "cpu/kernels/conv_f32_weights.h"
#include "cpu/kernels/gemm_f32_kernels.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/unaligned.h"
#include "cpu/kernels/vector_f32.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int kPositions = 16;
constexpr int64_t kLargestDepth = 256;      // input channels: one block of the sums
constexpr int64_t kLargestWeights = 65536;  // input times output channels: more is bound by reading them
constexpr int64_t kFewest = 16;             // channels on either side
constexpr int64_t kPanelFloats = 64 << 10;  // transformed tiles at once
constexpr int64_t kMaxRuns = 64;
constexpr int64_t kSkew = 16;  // floats of a cache line
constexpr double kGrainFlops = 4e5;
constexpr int64_t kFiltersAtOnce = 2048;  // worth a thread

int64_t padded_rows(const ConvGeometry& g, const GemmF32Kernels& kernels) {
  const int64_t tile = kernels.tile_rows;
  return (g.out_channels + tile - 1) / tile * tile;
}

// G * w * G^T for one 3x3 filter.
void transform_filter(const float* w, double (&u)[kPositions]) {
  double half[4][3];
  for (int j = 0; j < 3; ++j) {
    const double a = read_unaligned(w + j), b = read_unaligned(w + 3 + j), c = read_unaligned(w + 6 + j);
    half[0][j] = a;
    half[1][j] = (a + b + c) / 2;
    half[2][j] = (a - b + c) / 2;
    half[3][j] = c;
  }
  for (int i = 0; i < 4; ++i) {
    const double a = half[i][0], b = half[i][1], c = half[i][2];
    u[4 * i] = a;
    u[4 * i + 1] = (a + b + c) / 2;
    u[4 * i + 2] = (a - b + c) / 2;
    u[4 * i + 3] = c;
  }
}

struct Job {
  const ConvGeometry& g;
  const float* x;
  const float* weights;
  const GemmF32Kernels& kernels;
  const WinogradKernels& transforms;
  const ConvEpilogue& epilogue;
  float* y;
  float low, high;
  int64_t tiles_h, tiles_w;
  PanelSplit split;
  int64_t panels_per_group, groups, rows_per_band, bands;

  int64_t units() const { return g.batch * groups * bands; }
  // Floats from one position's part of a panel to the next one's: not a whole number of pages, whose lines would all
  // fall into one set of the nearest cache.
  static int64_t step(int64_t lines, int64_t width) { return lines * width + kSkew; }
  int64_t tiles_size(int64_t width) const { return kPositions * step(g.in_channels, width); }
  int64_t sums_size(int64_t rows, int64_t width) const { return kPositions * step(rows, width); }
  int64_t last_panel(int64_t group) const {
    return group == groups - 1 ? split.count() : (group + 1) * panels_per_group;
  }
};

int64_t find_runs(const Job& job, int64_t panel, TileRun* runs) {
  const int64_t first = job.split.first_column(panel), count = job.split.columns(panel);
  int64_t found = 0;
  for (int64_t at = 0; at < count;) {
    const int64_t row = (first + at) / job.tiles_w, column = (first + at) % job.tiles_w;
    runs[found] = {at, std::min(count - at, job.tiles_w - column), row, column};
    at += runs[found++].count;
  }
  return found;
}

void transform_panel(const Job& job, int64_t image, int64_t panel, float* v) {
  TileRun runs[kMaxRuns];
  const int64_t count = find_runs(job, panel, runs), width = job.split.width(panel);
  const ConvGeometry& g = job.g;
  const WinogradInput in{job.x + image * g.in_channels * g.in[1] * g.in[2],
                         g.in_channels,
                         g.in[1],
                         g.in[2],
                         g.pad_begin[1],
                         g.pad_begin[2],
                         v,
                         Job::step(g.in_channels, width),
                         width};
  const int64_t columns = job.split.columns(panel);
  if (columns < width) {
    for (int64_t line = 0; line < kPositions * g.in_channels; ++line) {
      float* at = v + line / g.in_channels * in.position_step + line % g.in_channels * width;
      std::fill(at + columns, at + width, 0.0f);
    }
  }
  for (int64_t r = 0; r < count; ++r) job.transforms.input(in, runs[r]);
}

// The sixteen products of one panel for rows [row, row + rows).
void multiply_panel(const Job& job, int64_t panel, int position, int64_t row, int64_t rows, const float* v, float* m) {
  const int64_t width = job.split.width(panel), depth = job.g.in_channels;
  GemmBlock g;
  g.k = g.lda = depth;
  g.a = job.weights + (position * padded_rows(job.g, job.kernels) + row) * depth;
  g.b = v + position * Job::step(depth, width);
  g.b_step = width;
  g.c = m + position * Job::step(rows, width);
  g.ldc = width;
  g.rows = rows;
  g.columns = job.split.thin(panel) ? job.split.columns(panel) : width;
  if (job.split.thin(panel)) {
    job.kernels.thin_block_packed_a(g);
  } else {
    job.kernels.block_packed_a(job.split.vectors(panel), g);
  }
}

void finish_panel(const Job& job, int64_t image, int64_t panel, int64_t row, int64_t rows, const float* m) {
  TileRun runs[kMaxRuns];
  const int64_t count = find_runs(job, panel, runs), width = job.split.width(panel);
  const int64_t plane = job.g.out[1] * job.g.out[2], at = (image * job.g.out_channels + row) * plane;
  const WinogradOutput out{m,
                           Job::step(rows, width),
                           width,
                           rows,
                           job.g.out[1],
                           job.g.out[2],
                           job.epilogue.bias == nullptr ? nullptr : job.epilogue.bias + row,
                           job.epilogue.residual == nullptr ? nullptr : job.epilogue.residual + at,
                           job.low,
                           job.high,
                           job.y + at};
  for (int64_t r = 0; r < count; ++r) job.transforms.output(out, runs[r]);
}

void run_unit(const Job& job, int64_t unit) {
  const int64_t band = unit % job.bands, group = unit / job.bands % job.groups, image = unit / job.bands / job.groups;
  const int64_t row = band * job.rows_per_band, rows = std::min(job.rows_per_band, job.g.out_channels - row);
  const int64_t first = group * job.panels_per_group, last = job.last_panel(group);
  int64_t tiles = 0, sums = 0;
  for (int64_t panel = first; panel < last; ++panel) {
    tiles += job.tiles_size(job.split.width(panel));
    sums += job.sums_size(rows, job.split.width(panel));
  }
  float* const v_begin = thread_scratch<float>(Scratch::kColumns, tiles + 1024);
  float* const m_begin = thread_scratch<float>(Scratch::kTile, sums);
  const auto each_panel = [&](auto run) {
    float *v = v_begin, *m = m_begin;
    for (int64_t panel = first; panel < last; ++panel) {
      run(panel, v, m);
      v += job.tiles_size(job.split.width(panel));
      m += job.sums_size(rows, job.split.width(panel));
    }
  };
  each_panel([&](int64_t panel, float* v, float*) { transform_panel(job, image, panel, v); });
  for (int position = 0; position < kPositions; ++position) {
    each_panel([&](int64_t panel, float* v, float* m) { multiply_panel(job, panel, position, row, rows, v, m); });
  }
  each_panel([&](int64_t panel, float*, float* m) { finish_panel(job, image, panel, row, rows, m); });
}

// Groups of panels whose transformed tiles fit the cache, a thin panel with the one before it; bands of rows where
// there are too few groups for the threads.
void divide(Job& job, int degree) {
  const int64_t whole = job.split.count() - (job.split.thin(job.split.count() - 1) ? 1 : 0);
  const int64_t fit = kPanelFloats / (kPositions * job.g.in_channels * job.split.width(0));
  job.panels_per_group = std::clamp<int64_t>(fit, 1, whole);
  job.groups = (whole + job.panels_per_group - 1) / job.panels_per_group;
  job.rows_per_band = job.g.out_channels;
  job.bands = 1;
  const int64_t tile = job.kernels.tile_rows;
  while (degree > 1 && job.units() < 4 * degree && job.rows_per_band > 8 * tile) {
    job.rows_per_band = (job.rows_per_band / 2 + tile - 1) / tile * tile;
    job.bands = (job.g.out_channels + job.rows_per_band - 1) / job.rows_per_band;
  }
}

}  // namespace

bool suits_winograd(const ConvGeometry& g, int lanes) {
  const bool three_by_three = g.kernel[0] == 1 && g.kernel[1] == 3 && g.kernel[2] == 3;
  for (int a = 0; a < 3; ++a) {
    if (g.stride[a] != 1 || g.dilation[a] != 1) return false;
  }
  return three_by_three && lanes >= 8 && g.groups == 1 && g.in_channels >= kFewest && g.out_channels >= kFewest &&
         g.in_channels <= kLargestDepth && g.in_channels * g.out_channels <= kLargestWeights;
}

int64_t winograd_weights_size(const ConvGeometry& g, const GemmF32Kernels& kernels) {
  return kPositions * padded_rows(g, kernels) * g.in_channels;
}

void transform_winograd_weights(base::ThreadPool* pool, const ConvGeometry& g, const GemmF32Kernels& kernels,
                                const float* weights, float* to) {
  const int64_t tile = kernels.tile_rows, rows = padded_rows(g, kernels), depth = g.in_channels;
  base::parallel_for(pool, rows / tile, kFiltersAtOnce / (tile * depth) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin * tile; first < end * tile; first += tile) {
      const int64_t present = std::min(tile, g.out_channels - first);
      for (int64_t c = 0; c < depth; ++c) {
        float* place = to + first * depth + c * tile;
        for (int64_t r = 0; r < tile; ++r) {
          double u[kPositions] = {};
          if (r < present) transform_filter(weights + ((first + r) * depth + c) * 9, u);
          for (int p = 0; p < kPositions; ++p) place[p * rows * depth + r] = static_cast<float>(u[p]);
        }
      }
    }
  });
}

void conv_winograd(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const float* weights,
                   const GemmF32Kernels& gemm_kernels, const ConvEpilogue& epilogue, float* y) {
  const int64_t tiles_h = (g.out[1] + 1) / 2, tiles_w = (g.out[2] + 1) / 2;
  const Clamp clamp = clamp_of(epilogue.activation);
  Job job{g,
          x,
          weights,
          gemm_kernels,
          *kernels().winograd,
          epilogue,
          y,
          clamp.low,
          clamp.high,
          tiles_h,
          tiles_w,
          PanelSplit(tiles_h * tiles_w, gemm_kernels, gemm_kernels.lanes / 4),
          0,
          0,
          0,
          0};
  divide(job, pool == nullptr ? 1 : pool->degree());
  const double flops = 8.0 * static_cast<double>(tiles_h * tiles_w * g.batch) *
                       static_cast<double>(kPositions / 4 * g.in_channels * g.out_channels) /
                       static_cast<double>(job.units());
  base::parallel_for(pool, job.units(), static_cast<int64_t>(kGrainFlops / (flops + 1)) + 1,
                     [&job](int64_t begin, int64_t end) {
                       for (int64_t unit = begin; unit < end; ++unit) run_unit(job, unit);
                     });
  if (is_clamp(epilogue.activation.op)) return;
  const int64_t plane = g.out[1] * g.out[2];
  base::parallel_for(pool, g.batch * g.out_channels, 16384 / plane + 1, [&](int64_t begin, int64_t end) {
    unary(epilogue.activation, y + begin * plane, y + begin * plane, (end - begin) * plane);
  });
}

}  // namespace ortolan::cpu::kernels
