// How work is divided among threads: pure functions of sizes, costs and the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/vectors/lengths.h"

namespace ortolan::cpu::kernels {

constexpr double kLeastTaskNs = 5e3;  // less is not worth a thread
constexpr double kGoodTaskNs = 2e4;   // beside it, claiming a task and the end of a loop cost little

/** Items of a loop that a thread takes at least, where each costs so many nanoseconds. */
constexpr int64_t least_items(double item_ns) {
  return item_ns >= kLeastTaskNs ? 1 : static_cast<int64_t>(kLeastTaskNs / std::max(item_ns, 1e-9)) + 1;
}

/** The same for rows of so many elements. */
constexpr int64_t least_rows(int64_t elements, double element_ns) {
  return least_items(static_cast<double>(elements) * element_ns);
}

/** Work of units in rows and columns, any of which can be done alone. */
struct Grid {
  int64_t rows, columns;  // units, at least one of each
  double unit_ns;
  int64_t highest = INT64_MAX, widest = INT64_MAX;  // units of a task that caches hold
  double task_ns = 1e3;                             // what beginning a task costs
  double row_share = 0.05, column_share = 0.05;     // what bringing a row or a column to a task costs, in units
  int64_t times = 1;                                // such grids, which are divided alike
};

inline double in_units(double ns, const Grid& grid) { return ns / std::max(grid.unit_ns, 1e-9); }

/** Tasks of `height` x `width` units; the last ones of a row or column may be smaller. */
struct GridDivision {
  int64_t height, width;
  int64_t down, across;  // tasks

  int64_t tasks() const { return down * across; }
};

inline double task_ns(const Grid& grid, const GridDivision& d) {
  const auto height = static_cast<double>(d.height), width = static_cast<double>(d.width);
  return (height * width + height * grid.row_share + width * grid.column_share) * grid.unit_ns + grid.task_ns;
}

constexpr double kWaiting = 0.3;  // of a task, for threads that are done at different times

/** What a division costs: the thread that is done last, and a part of a task, since threads are not alike. */
inline double cost_of(const Grid& grid, const GridDivision& d, int degree) {
  const double rounds = static_cast<double>(divide_up(d.tasks() * grid.times, degree));
  const double waiting = degree > 1 ? kWaiting * static_cast<double>(d.height * d.width) * grid.unit_ns : 0;
  return rounds * task_ns(grid, d) + waiting;
}

/** Where a length is divided into parts of at most that size, all of about the same: the size. */
inline int64_t even_part(int64_t length, int64_t most) {
  return divide_up(length, divide_up(length, std::min(length, most)));
}

/** Ways to divide a length evenly, from parts of at most that size to `most` parts, with fewer steps among many. */
struct EvenParts {
  static constexpr int kMostWays = 96;
  int64_t size[kMostWays], number[kMostWays];
  int ways = 0;

  EvenParts(int64_t length, int64_t largest, int64_t most) {
    for (int64_t parts = divide_up(length, std::min(length, largest)); ways < kMostWays;) {
      const int64_t part = divide_up(length, parts), count = divide_up(length, part);
      if (ways > 0 && count > most) break;
      size[ways] = part;
      number[ways++] = count;
      if (part == 1) break;
      parts = std::max(divide_up(length, part - 1), count + count / 16);
    }
  }
};

/** The division that costs least of those whose tasks, unless caches divide them, are worth a thread. `degree` is at
    least 1. */
inline GridDivision divide_grid(const Grid& grid, int degree) {
  const auto with = [&](int64_t height, int64_t width) {
    return GridDivision{height, width, divide_up(grid.rows, height), divide_up(grid.columns, width)};
  };
  GridDivision best = with(even_part(grid.rows, grid.highest), even_part(grid.columns, grid.widest));
  if (degree == 1 || best.height * best.width == 1) return best;
  const int64_t least = least_items(grid.unit_ns), most = std::max(best.tasks(), 16 * degree / grid.times);
  const EvenParts heights(grid.rows, grid.highest, most), widths(grid.columns, grid.widest, most);
  double best_cost = cost_of(grid, best, degree);
  for (int h = 0; h < heights.ways; ++h) {
    for (int w = 0; w < widths.ways && heights.size[h] * widths.size[w] >= least; ++w) {
      const GridDivision d{heights.size[h], widths.size[w], heights.number[h], widths.number[w]};
      if (d.tasks() > most) break;
      const double cost = cost_of(grid, d, degree);
      if (cost >= best_cost) continue;
      best = d;
      best_cost = cost;
    }
  }
  return best;
}

/** Work that reads what each row of units is made from: gathered, transformed or split inputs. */
struct PreparedGrid {
  Grid grid;  // of what is ready
  double prepare_ns;
  int64_t pieces;        // of what a row is made from, each of which can be made ready alone
  int64_t bytes;         // of it
  double beside_ns = 0;  // for what rows of one task make ready beside themselves
  int64_t beside_bytes = 0;
};

/** Each task prepares what it reads, or all is prepared in a loop before theirs. */
struct PreparedDivision {
  GridDivision grid;
  bool together;
  int64_t grain;  // tasks that a thread takes at least
};

inline PreparedDivision divide_prepared(const PreparedGrid& p, int degree) {
  constexpr int64_t kMostBytes = 16 << 20;
  constexpr double kLoopNs = 5e3;
  Grid alone = p.grid;
  alone.row_share += in_units(p.prepare_ns, alone);
  alone.task_ns += p.beside_ns;
  const GridDivision each = divide_grid(alone, degree);
  const GridDivision ready = divide_grid(p.grid, degree);
  const int64_t rows = alone.rows * alone.times;
  if (degree > 1 && rows * p.bytes + ready.down * alone.times * p.beside_bytes <= kMostBytes) {
    const auto pieces = static_cast<double>(p.pieces);
    const double row = p.prepare_ns + p.beside_ns / static_cast<double>(ready.height);
    const double preparing = static_cast<double>(divide_up(rows * p.pieces, degree)) * row / pieces;
    if (kLoopNs + preparing + cost_of(p.grid, ready, degree) < cost_of(alone, each, degree)) {
      return {ready, true, least_items(task_ns(p.grid, ready))};
    }
  }
  return {each, false, least_items(task_ns(alone, each))};
}

}  // namespace ortolan::cpu::kernels
