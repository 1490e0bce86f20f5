// Measuring one model in two libraries: each in fresh processes for the start, both in one process for the runs.
#pragma once

#include <string>
#include <vector>

#include "common/compare_values.h"
#include "model.h"

namespace ortolan::bench {

struct Effort {
  int starts = 5;        // fresh processes per library
  int rounds = 11;       // of alternating runs
  double seconds = 2;    // of runs per library and thread count, about
  double timeout = 600;  // of one measuring process
  int level = 99;
  int neighbours = 0;  // processes that compute beside the runs
};

// What one library needed in fresh processes; medians, milliseconds.
struct Start {
  double create = 0, first_run = 0;
  double peak_bytes = 0;
  std::string error;  // why nothing was measured
};

struct Quartiles {
  double low = 0, median = 0, high = 0;
};
Quartiles quartiles(std::vector<double> numbers);

// Runs of both libraries in turn.
struct Runs {
  int threads = 1;
  double a = 0, b = 0;  // median run, milliseconds
  Quartiles ratio;      // a / b over the rounds
};

struct Comparison {
  std::string label;
  Start a, b;
  std::vector<Runs> runs;
  tools::Distance distance;
  std::string error;  // why the runs were not measured
};

Comparison compare(const Model& model, const Side& a, const Side& b, const std::vector<int>& threads,
                   const Effort& effort);

}  // namespace ortolan::bench
