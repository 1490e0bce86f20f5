// Attention in plain loops and double precision, to compare operators with.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "ops/op_test.h"

namespace ortolan::test {

/** Sizes and rules of one attention; q is [batch, heads, queries, size], k and v [batch, kv_heads, keys, …]. */
struct PlainAttention {
  int64_t batch = 1, heads = 1, kv_heads = 1, queries = 1, keys = 1, size = 1, value_size = 1;
  std::vector<double> q, k, v;
  double scale = 0, softcap = 0;                                           // scale 0: 1/sqrt(size)
  std::function<double(int64_t b, int64_t h, int64_t i, int64_t j)> bias;  // added to a score
  std::function<bool(int64_t b, int64_t i, int64_t j)> seen;               // which keys there are for a query
  std::function<double(int64_t h)> sink;                                   // a score without a value

  std::vector<double> scaled, capped, biased, probabilities, out;  // [batch, heads, queries, keys or value_size]

  void run() {
    if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(size));
    for (int64_t b = 0; b < batch; ++b) {
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t i = 0; i < queries; ++i) run_row(b, h, i);
      }
    }
  }
  /** `out` as [batch, queries, heads * value_size]. */
  std::vector<double> out_by_position() const {
    std::vector<double> result(out.size());
    for (int64_t n = 0; n < static_cast<int64_t>(out.size()); ++n) {
      int64_t x = n % value_size, i = n / value_size % queries, h = n / (value_size * queries) % heads;
      int64_t b = n / (value_size * queries * heads);
      result[((b * queries + i) * heads + h) * value_size + x] = out[n];
    }
    return result;
  }

 private:
  void run_row(int64_t b, int64_t h, int64_t i) {
    const double never = -std::numeric_limits<double>::infinity();
    int64_t kv = b * kv_heads + h / (heads / kv_heads), query = (b * heads + h) * queries + i;
    std::vector<double> row(keys);
    double highest = sink ? sink(h) : never, total = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t x = 0; x < size; ++x) score += q[query * size + x] * k[(kv * keys + j) * size + x];
      scaled.push_back(score *= scale);
      capped.push_back(score = softcap > 0 ? std::tanh(score / softcap) * softcap : score);
      if (bias) score += bias(b, h, i, j);
      biased.push_back(row[j] = !seen || seen(b, i, j) ? score : never);
      highest = std::max(highest, row[j]);
    }
    if (sink) total = std::exp(sink(h) - highest);
    for (double& score : row) total += score = highest == never || score == never ? 0 : std::exp(score - highest);
    for (double& score : row) probabilities.push_back(score = total == 0 ? 0 : score / total);
    for (int64_t x = 0; x < value_size; ++x) {
      double sum = 0;
      for (int64_t j = 0; j < keys; ++j) sum += row[j] * v[(kv * keys + j) * value_size + x];
      out.push_back(sum);
    }
  }
};

/** [batch, rows, heads * size] turned into [batch, heads, rows, size]. */
inline std::vector<double> by_head(const std::vector<double>& x, int64_t heads, int64_t rows, int64_t size) {
  std::vector<double> result(x.size());
  for (int64_t n = 0; n < static_cast<int64_t>(x.size()); ++n) {
    int64_t e = n % size, h = n / size % heads, i = n / (size * heads) % rows, b = n / (size * heads * rows);
    result[((b * heads + h) * rows + i) * size + e] = x[n];
  }
  return result;
}

/** Rows of [groups, a, size] and [groups, b, size] one after the other. */
inline std::vector<double> joined(const std::vector<double>& first, const std::vector<double>& second, int64_t groups) {
  std::vector<double> result;
  if (groups == 0) return result;
  int64_t a = static_cast<int64_t>(first.size()) / groups, b = static_cast<int64_t>(second.size()) / groups;
  for (int64_t g = 0; g < groups; ++g) {
    result.insert(result.end(), first.begin() + g * a, first.begin() + (g + 1) * a);
    result.insert(result.end(), second.begin() + g * b, second.begin() + (g + 1) * b);
  }
  return result;
}

}  // namespace ortolan::test
