// 3x3 convolution by Winograd's transforms: tiles of a panel, their products with the weights, transformed back.
#include "cpu/kernels/convolution/winograd_f32.h"

#include <algorithm>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/convolution/conv_division.h"
#include "cpu/kernels/convolution/conv_f32_weights.h"
#include "cpu/kernels/division/threads.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/scratch.h"
#include "cpu/kernels/vectors/unaligned.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int kFilterSide = 4;  // of transformed weights
constexpr int kFilters = kFilterSide * kFilterSide;
constexpr int64_t kLargestDepth = 512;        // input channels: one block of the sums
constexpr int64_t kLargeWeights = 1 << 16;    // input times output channels: more take long to read,
constexpr int64_t kFewestOfLarge = 49;        // which so many outputs of a channel outweigh,
constexpr int64_t kLargestWeights = 1 << 18;  // up to here
constexpr int64_t kFewest = 16;               // channels on either side
constexpr int64_t kFewestStrided = 128;       // outputs of a channel with stride 2: fewer fill panels badly
constexpr int64_t kPlanesAtOnce = 4;  // transformed for all tiles of a panel: what they are stored to stays near
constexpr int64_t kMostTileRuns = 64;
constexpr int64_t kSkew = 16;     // floats of a cache line
constexpr double kFilterNs = 12;  // transforming one

int64_t padded_rows(const ConvGeometry& g, const GemmF32Kernels& kernels) {
  const int64_t tile = kernels.tile_rows;
  return (g.out_channels + tile - 1) / tile * tile;
}

constexpr int64_t kMostTileRows = 8;    // of any instruction set
typedef double Weights[kMostTileRows];  // one of the filters of each row of a tile

// One line of 3x3 filters: what each product of a line of inputs is with.
void transform_line(int64_t stride, const Weights& a, const Weights& b, const Weights& c, Weights (&u)[kFilterSide]) {
  for (int r = 0; r < kMostTileRows; ++r) {
    u[0][r] = a[r];
    u[1][r] = stride == 1 ? (a[r] + b[r] + c[r]) / 2 : a[r] + c[r];
    u[2][r] = stride == 1 ? (a[r] - b[r] + c[r]) / 2 : c[r];
    u[3][r] = stride == 1 ? c[r] : b[r];
  }
}

void transform_filters(int64_t stride, const Weights (&w)[9], Weights (&u)[kFilterSide][kFilterSide]) {
  Weights columns[3][kFilterSide];
  for (int j = 0; j < 3; ++j) transform_line(stride, w[j], w[3 + j], w[6 + j], columns[j]);
  for (int i = 0; i < kFilterSide; ++i) transform_line(stride, columns[0][i], columns[1][i], columns[2][i], u[i]);
}

struct WinogradJob {
  const ConvGeometry& g;
  const float* x;
  const float* weights;
  const GemmF32Kernels& kernels;
  const WinogradTransforms& transforms;
  const ConvEpilogue& epilogue;
  float* y;
  float low, high;
  int64_t tiles_h, tiles_w;
  PanelSplit split;
  int side;  // of a tile
  PanelConv size{g.batch, g.out_channels, g.in_channels, split, kernels.lanes, kernels.tile_rows};
  PreparedDivision division{};
  Scratch<float> transformed{};  // the tiles of all panels of each image, where they are transformed before all else

  // Floats from one position's part of a panel to the next one's: not a whole number of pages, whose lines would all
  // fall into one set of the nearest cache.
  static int64_t step(int64_t lines, int64_t width) { return lines * width + kSkew; }
  int64_t positions() const { return side * side; }
  int64_t tiles_size(int64_t width) const { return positions() * step(g.in_channels, width); }
  int64_t sums_size(int64_t rows, int64_t width) const { return positions() * step(rows, width); }
  // The lines of a tile that meet this line of transformed weights: all that are left meet the last one.
  int lines_end(int filter_line) const { return filter_line == kFilterSide - 1 ? side : filter_line + 1; }
  int64_t last_panel(int64_t group) const {
    return group == division.grid.down - 1 ? split.count() : (group + 1) * division.grid.height;
  }
  float* transformed_at(int64_t image, int64_t panel) const {
    const int64_t columns = image * split.padded() + split.first_column(panel);
    return transformed.data() + positions() * (columns * g.in_channels + (image * split.count() + panel) * kSkew);
  }
};

int64_t find_runs(const WinogradJob& job, int64_t panel, TileRun* runs) {
  const int64_t first = job.split.first_column(panel), count = job.split.columns(panel);
  int64_t found = 0;
  for (int64_t at = 0; at < count;) {
    const int64_t row = (first + at) / job.tiles_w, column = (first + at) % job.tiles_w;
    runs[found] = {at, std::min(count - at, job.tiles_w - column), row, column};
    at += runs[found++].count;
  }
  return found;
}

// Channels [first, last) of a panel.
void transform_panel(const WinogradJob& job, int64_t image, int64_t panel, int64_t first, int64_t last, float* v) {
  TileRun runs[kMostTileRuns];
  const int64_t count = find_runs(job, panel, runs), width = job.split.width(panel);
  const ConvGeometry& g = job.g;
  const WinogradInput in{job.x + image * g.in_channels * g.in[1] * g.in[2],
                         g.in_channels,
                         g.in[1],
                         g.in[2],
                         g.pad_begin[1],
                         g.pad_begin[2],
                         v,
                         WinogradJob::step(g.in_channels, width),
                         width};
  const int64_t columns = job.split.columns(panel);
  for (int64_t position = 0; columns < width && position < job.positions(); ++position) {
    for (int64_t c = first; c < last; ++c) {
      float* at = v + position * in.position_step + c * width;
      std::fill(at + columns, at + width, 0.0f);
    }
  }
  for (int64_t c = first; c < last; c += kPlanesAtOnce) {
    const WinogradInput some = in.planes(c, std::min(kPlanesAtOnce, last - c));
    for (int64_t r = 0; r < count; ++r) job.transforms.input(some, runs[r]);
  }
}

void transform_all(base::ThreadPool* pool, WinogradJob& job, double piece_ns) {
  constexpr int64_t kSlack = 1024;
  const int64_t depth = job.g.in_channels, panels = job.split.count(), pieces = divide_up(depth, kTransformedAtOnce);
  const int64_t image = job.positions() * (job.split.padded() * depth + panels * kSkew);
  job.transformed = Scratch<float>(job.g.batch * image + kSlack);
  base::parallel_for(pool, job.g.batch * panels * pieces, least_items(piece_ns), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % pieces * kTransformedAtOnce, panel = i / pieces % panels, at = i / pieces / panels;
      transform_panel(job, at, panel, first, std::min(first + kTransformedAtOnce, depth),
                      job.transformed_at(at, panel));
    }
  });
}

// One product of one panel for rows [row, row + rows).
void multiply_panel(const WinogradJob& job, int64_t panel, int filter, int position, int64_t row, int64_t rows,
                    const float* v, float* m) {
  const int64_t width = job.split.width(panel), depth = job.g.in_channels;
  GemmBlock g;
  g.k = g.lda = depth;
  g.a = job.weights + (filter * padded_rows(job.g, job.kernels) + row) * depth;
  g.b = v + position * WinogradJob::step(depth, width);
  g.b_step = width;
  g.c = m + position * WinogradJob::step(rows, width);
  g.ldc = width;
  g.rows = rows;
  g.columns = job.split.thin(panel) ? job.split.columns(panel) : width;
  if (job.split.thin(panel)) {
    job.kernels.thin_block_packed_a(g);
  } else {
    job.kernels.block_packed_a(job.split.vectors(panel), g);
  }
}

void finish_panel(const WinogradJob& job, int64_t image, int64_t panel, int64_t row, int64_t rows, const float* m) {
  TileRun runs[kMostTileRuns];
  const int64_t count = find_runs(job, panel, runs), width = job.split.width(panel);
  const int64_t plane = job.g.out[1] * job.g.out[2], at = (image * job.g.out_channels + row) * plane;
  const WinogradOutput out{m,
                           WinogradJob::step(rows, width),
                           width,
                           rows,
                           job.g.out[1],
                           job.g.out[2],
                           job.epilogue.bias == nullptr ? nullptr : job.epilogue.bias + row,
                           job.epilogue.residual == nullptr ? nullptr : job.epilogue.residual + at,
                           job.low,
                           job.high,
                           job.y + at};
  for (int64_t c = 0; c < rows; c += kPlanesAtOnce) {
    const WinogradOutput some = out.planes(c, std::min(kPlanesAtOnce, rows - c));
    for (int64_t r = 0; r < count; ++r) job.transforms.output(some, runs[r]);
  }
}

void run_unit(const WinogradJob& job, int64_t unit) {
  const GridDivision& d = job.division.grid;
  const int64_t band = unit % d.across, group = unit / d.across % d.down, image = unit / d.tasks();
  const int64_t most = d.width * job.size.tile_rows, row = band * most;
  const int64_t rows = std::min(most, job.g.out_channels - row);
  const int64_t first = group * d.height, last = job.last_panel(group);
  const bool together = job.division.together;
  int64_t tiles = 0, sums = 0;
  for (int64_t panel = first; panel < last; ++panel) {
    if (!together) tiles += job.tiles_size(job.split.width(panel));
    sums += job.sums_size(rows, job.split.width(panel));
  }
  const Scratch<float> own_tiles(together ? 0 : tiles + 1024), sums_space(sums);
  float* const v_begin = together ? job.transformed_at(image, first) : own_tiles.data();
  float* const m_begin = sums_space.data();
  const auto each_panel = [&](auto run) {
    float *v = v_begin, *m = m_begin;
    for (int64_t panel = first; panel < last; ++panel) {
      run(panel, v, m);
      v += job.tiles_size(job.split.width(panel));
      m += job.sums_size(rows, job.split.width(panel));
    }
  };
  if (!together) {
    each_panel([&](int64_t panel, float* v, float*) { transform_panel(job, image, panel, 0, job.g.in_channels, v); });
  }
  for (int filter = 0; filter < kFilters; ++filter) {
    const int line = filter / kFilterSide, column = filter % kFilterSide;
    each_panel([&](int64_t panel, float* v, float* m) {
      for (int i = line; i < job.lines_end(line); ++i) {
        for (int j = column; j < job.lines_end(column); ++j) {
          multiply_panel(job, panel, filter, i * job.side + j, row, rows, v, m);
        }
      }
    });
  }
  each_panel([&](int64_t panel, float*, float* m) { finish_panel(job, image, panel, row, rows, m); });
}

}  // namespace

bool suits_winograd(const ConvGeometry& g, int64_t tile_sums, int64_t positions) {
  const bool three_by_three = g.kernel[0] == 1 && g.kernel[1] == 3 && g.kernel[2] == 3;
  for (int64_t dilation : g.dilation) {
    if (dilation != 1) return false;
  }
  const int64_t stride = g.stride[1];
  if (g.stride[0] != 1 || g.stride[2] != stride || stride > 2) return false;
  if (stride == 2 && (g.in_channels < 2 * kFewest || (positions > 0 && positions < kFewestStrided))) return false;
  const bool large = stride == 1 && positions >= kFewestOfLarge;
  return three_by_three && tile_sums >= kEnoughSums && g.groups == 1 && g.in_channels >= kFewest &&
         g.out_channels >= kFewest && g.in_channels <= kLargestDepth &&
         g.in_channels * g.out_channels <= (large ? kLargestWeights : kLargeWeights);
}

int64_t winograd_weights_size(const ConvGeometry& g, const GemmF32Kernels& kernels) {
  return kFilters * padded_rows(g, kernels) * g.in_channels;
}

void transform_winograd_weights(base::ThreadPool* pool, const ConvGeometry& g, const GemmF32Kernels& kernels,
                                const float* weights, float* to) {
  const int64_t tile = kernels.tile_rows, rows = padded_rows(g, kernels), depth = g.in_channels;
  const double tile_ns = static_cast<double>(tile * depth) * kFilterNs;
  base::parallel_for(pool, rows / tile, least_items(tile_ns), [&](int64_t begin, int64_t end) {
    for (int64_t first = begin * tile; first < end * tile; first += tile) {
      const int64_t present = std::min(tile, g.out_channels - first);
      Weights w[9] = {}, u[kFilterSide][kFilterSide];
      for (int64_t c = 0; c < depth; ++c) {
        for (int64_t r = 0; r < present; ++r) {
          for (int i = 0; i < 9; ++i) w[i][r] = read_unaligned(weights + ((first + r) * depth + c) * 9 + i);
        }
        transform_filters(g.stride[1], w, u);
        for (int f = 0; f < kFilters; ++f) {
          float* place = to + (f * rows + first) * depth + c * tile;
          for (int64_t r = 0; r < tile; ++r) place[r] = static_cast<float>(u[f / kFilterSide][f % kFilterSide][r]);
        }
      }
    }
  });
}

void conv_winograd(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const float* weights,
                   const GemmF32Kernels& gemm_kernels, const ConvEpilogue& epilogue, float* y) {
  const int64_t tiles_h = (g.out[1] + 1) / 2, tiles_w = (g.out[2] + 1) / 2;
  const Clamp clamp = clamp_of(epilogue.activation);
  WinogradJob job{g,
                  x,
                  weights,
                  gemm_kernels,
                  kernels().winograd->of_stride[g.stride[1] - 1],
                  epilogue,
                  y,
                  clamp.low,
                  clamp.high,
                  tiles_h,
                  tiles_w,
                  PanelSplit(tiles_h * tiles_w, gemm_kernels, gemm_kernels.lanes / 4),
                  g.stride[1] == 1 ? 4 : 5};
  const PreparedGrid grid = winograd_grid(job.size, job.positions());
  job.division = divide_prepared(grid, threads_of(pool));
  const double piece_ns = grid.prepare_ns / static_cast<double>(grid.pieces);
  if (job.division.together) transform_all(pool, job, piece_ns);
  base::parallel_for(pool, g.batch * job.division.grid.tasks(), job.division.grain, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) run_unit(job, unit);
  });
  if (is_clamp(epilogue.activation.op)) return;
  const int64_t plane = g.out[1] * g.out[2];
  const double plane_ns = static_cast<double>(plane) * kActivationNs;
  base::parallel_for(pool, g.batch * g.out_channels, least_items(plane_ns), [&](int64_t begin, int64_t end) {
    unary(epilogue.activation, y + begin * plane, y + begin * plane, (end - begin) * plane);
  });
}

}  // namespace ortolan::cpu::kernels
