// Attention and rotary embeddings in double.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include "gpu/single_node.h"

namespace ortolan::gpu::test {

/** [batch, heads, rows, size] in double. */
struct Heads {
  int64_t batch, heads, rows, size;
  std::vector<double> values;

  Heads(int64_t batch, int64_t heads, int64_t rows, int64_t size)
      : batch(batch), heads(heads), rows(rows), size(size), values(static_cast<size_t>(batch * heads * rows * size)) {}
  double& at(int64_t b, int64_t h, int64_t r, int64_t e) { return values[((b * heads + h) * rows + r) * size + e]; }
  double at(int64_t b, int64_t h, int64_t r, int64_t e) const {
    return values[((b * heads + h) * rows + r) * size + e];
  }

  static Heads random(int64_t batch, int64_t heads, int64_t rows, int64_t size, unsigned seed) {
    Heads x(batch, heads, rows, size);
    std::vector<float> drawn = random_floats({static_cast<int64_t>(x.values.size())}, seed).floats();
    x.values.assign(drawn.begin(), drawn.end());
    return x;
  }
  Tensor by_head(ElementType type = ElementType::kFloat) const {
    return floats({batch, heads, rows, size}, {values.begin(), values.end()}, type);
  }
  Tensor by_position(ElementType type = ElementType::kFloat) const {
    std::vector<float> result;
    for_each_by_position(
        [&](int64_t b, int64_t h, int64_t r, int64_t e) { result.push_back(static_cast<float>(at(b, h, r, e))); });
    return floats({batch, rows, heads * size}, result, type);
  }
  void for_each_by_position(const std::function<void(int64_t, int64_t, int64_t, int64_t)>& body) const {
    for (int64_t b = 0; b < batch; b++)
      for (int64_t r = 0; r < rows; r++)
        for (int64_t h = 0; h < heads; h++)
          for (int64_t e = 0; e < size; e++) body(b, h, r, e);
  }
  /** These rows, then those of `next`, of each head. */
  Heads then(const Heads& next) const {
    Heads all(batch, heads, rows + next.rows, size);
    all.for_each_by_position([&](int64_t b, int64_t h, int64_t r, int64_t e) {
      all.at(b, h, r, e) = r < rows ? at(b, h, r, e) : next.at(b, h, r - rows, e);
    });
    return all;
  }
};

/** What is added to the score of a query and a key; -infinity hides the key. */
using Rule = std::function<double(int64_t b, int64_t h, int64_t i, int64_t j)>;
inline const Rule kAll = [](int64_t, int64_t, int64_t, int64_t) { return 0.0; };

struct Terms {
  double scale, softcap = 0;
};

inline Heads attention(const Heads& q, const Heads& k, const Heads& v, Terms terms, const Rule& rule) {
  Heads y(q.batch, q.heads, q.rows, v.size);
  for (int64_t n = 0; n < q.batch * q.heads * q.rows; n++) {
    int64_t i = n % q.rows, h = n / q.rows % q.heads, b = n / (q.rows * q.heads), source = h / (q.heads / k.heads);
    double total = 0;
    for (int64_t j = 0; j < k.rows; j++) {
      double s = 0;
      for (int64_t e = 0; e < q.size; e++) s += q.at(b, h, i, e) * k.at(b, source, j, e) * terms.scale;
      if (terms.softcap != 0) s = terms.softcap * std::tanh(s / terms.softcap);
      double weight = std::exp(s + rule(b, h, i, j));
      total += weight;
      for (int64_t e = 0; e < v.size; e++) y.at(b, h, i, e) += weight * v.at(b, source, j, e);
    }
    for (int64_t e = 0; e < v.size && total > 0; e++) y.at(b, h, i, e) /= total;
  }
  return y;
}

inline Rule causal(int64_t first, int64_t window = 1 << 20) {
  return
      [=](int64_t, int64_t, int64_t i, int64_t j) { return j <= first + i && j > first + i - window ? 0 : -INFINITY; };
}

inline double root(int64_t size) { return 1 / std::sqrt(static_cast<double>(size)); }

/** Cosines and sines of rotary embeddings. */
struct Angles {
  Tensor cosine, sine;
  int64_t pairs;
  Angles(int64_t length, int64_t pairs, ElementType type = ElementType::kFloat) : pairs(pairs) {
    std::vector<float> c, s;
    for (int64_t i = 0; i < length * pairs; i++) {
      c.push_back(std::cos(0.1f * static_cast<float>(i)));
      s.push_back(std::sin(0.1f * static_cast<float>(i)));
    }
    cosine = floats({length, pairs}, c, type), sine = floats({length, pairs}, s, type);
  }
  /** x with rows turned by their positions. */
  Heads turn(const Heads& x, bool interleaved, const std::function<int64_t(int64_t b, int64_t r)>& position) const {
    Heads y = x;
    std::vector<float> c = cosine.floats(), s = sine.floats();
    x.for_each_by_position([&](int64_t b, int64_t h, int64_t r, int64_t e) {
      if (e >= pairs) return;
      int64_t i = interleaved ? 2 * e : e, j = interleaved ? 2 * e + 1 : e + pairs, at = position(b, r) * pairs + e;
      y.at(b, h, r, i) = x.at(b, h, r, i) * c[at] - x.at(b, h, r, j) * s[at];
      y.at(b, h, r, j) = x.at(b, h, r, i) * s[at] + x.at(b, h, r, j) * c[at];
    });
    return y;
  }
};

class AttentionOperators : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
  void expect_result(const Tensor& actual, const Tensor& wanted) { expect_near(actual, wanted, 1e-4f, 1e-5f); }
};

}  // namespace ortolan::gpu::test
