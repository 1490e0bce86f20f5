// How work is divided among threads: pure functions of sizes, costs and the number of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "cpu/kernels/lengths.h"

namespace ortolan::cpu::kernels {

constexpr double kLeastTaskNs = 5e3;  // less is not worth a thread
constexpr double kGoodTaskNs = 2e4;   // beside it, claiming a task and the end of a loop cost little

/** Items of a loop that a thread takes at least, where each costs so many nanoseconds. */
inline int64_t least_items(double item_ns) {
  return item_ns >= kLeastTaskNs ? 1 : static_cast<int64_t>(kLeastTaskNs / std::max(item_ns, 1e-9)) + 1;
}

/** Work of units in rows and columns, any of which can be done alone. */
struct Grid {
  int64_t rows, columns;  // units, at least one of each
  double unit_ns;
  int64_t highest = INT64_MAX, widest = INT64_MAX;  // units of a task that caches hold
  double task_ns = 1e3;                             // what beginning a task costs
  double row_share = 0.05, column_share = 0.05;     // what bringing a row or a column to a task costs, in units
};

/** Tasks of `height` x `width` units; the last ones of a row or column may be smaller. */
struct GridDivision {
  int64_t height, width;
  int64_t down, across;  // tasks

  int64_t tasks() const { return down * across; }
};

/** What a division costs: the thread that is done last, what its tasks read, and a part of a task, since threads are
    not alike. */
inline double cost_of(const Grid& grid, const GridDivision& d, int degree) {
  constexpr double kWaiting = 0.3;
  const auto height = static_cast<double>(d.height), width = static_cast<double>(d.width);
  const double task = height * width * grid.unit_ns;
  return static_cast<double>(divide_up(d.tasks(), degree)) *
             (task * (1 + grid.row_share / width + grid.column_share / height) + grid.task_ns) +
         (degree > 1 ? kWaiting * task : 0);
}

/** Where a length is divided into parts of at most that size, all of about the same: the size. */
inline int64_t even_part(int64_t length, int64_t most) {
  return divide_up(length, divide_up(length, std::min(length, most)));
}

/** The same for the next smaller parts of which there are more; `part` is at least 2. */
inline int64_t shorter_part(int64_t length, int64_t part) {
  return even_part(length, std::max<int64_t>(1, (length - 1) / divide_up(length, part)));
}

/** The division that costs least of those whose tasks, unless caches divide them, are worth a thread. `degree` is at
    least 1. */
inline GridDivision divide_grid(const Grid& grid, int degree) {
  const int64_t most_tasks = int64_t{16} * degree, least = least_items(grid.unit_ns);
  const auto with = [&](int64_t height, int64_t width) {
    return GridDivision{height, width, divide_up(grid.rows, height), divide_up(grid.columns, width)};
  };
  const int64_t highest = even_part(grid.rows, grid.highest), widest = even_part(grid.columns, grid.widest);
  GridDivision best = with(highest, widest);
  double best_cost = cost_of(grid, best, degree);
  for (int64_t height = highest; degree > 1; height = shorter_part(grid.rows, height)) {
    for (int64_t width = widest; height * width >= least; width = shorter_part(grid.columns, width)) {
      const GridDivision d = with(height, width);
      if (d.tasks() > most_tasks && best.tasks() <= most_tasks) break;
      const double cost = cost_of(grid, d, degree);
      if (cost < best_cost) {
        best = d;
        best_cost = cost;
      }
      if (width == 1) break;
    }
    if (height == 1 || divide_up(grid.rows, height) > most_tasks) break;
  }
  return best;
}

}  // namespace ortolan::cpu::kernels
