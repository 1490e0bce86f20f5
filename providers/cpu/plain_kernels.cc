// Plain loops behind the kernels' interfaces, used where no vector kernel is linked.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/convolution_f64.h"
#include "cpu/kernels/conv_int8.h"
#include "cpu/kernels/pooling.h"
#include "cpu/kernels/recurrent_f32.h"
#include "cpu/kernels/vector_f32.h"

#define ORTOLAN_WEAK __attribute__((weak))

namespace ortolan::cpu::kernels {

struct PackedConvWeights::Storage {
  std::vector<double> weights;
};
ORTOLAN_WEAK PackedConvWeights::PackedConvWeights() = default;
ORTOLAN_WEAK PackedConvWeights::~PackedConvWeights() = default;
ORTOLAN_WEAK PackedConvWeights::PackedConvWeights(PackedConvWeights&&) noexcept = default;
ORTOLAN_WEAK PackedConvWeights& PackedConvWeights::operator=(PackedConvWeights&&) noexcept = default;
ORTOLAN_WEAK PackedConvWeights::PackedConvWeights(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}

namespace {
int64_t volume(const int64_t (&d)[3]) { return d[0] * d[1] * d[2]; }

std::vector<double> doubles(const float* x, int64_t n) {
  return x ? std::vector<double>(x, x + n) : std::vector<double>();
}

void finish(const ConvGeometry& g, const std::vector<double>& sums, const ConvEpilogue& e, float* y) {
  for (size_t i = 0; i < sums.size(); ++i) y[i] = static_cast<float>(sums[i]) + (e.residual ? e.residual[i] : 0);
  unary(e.activation, y, y, sums.size());
}
}  // namespace

ORTOLAN_WEAK PackedConvWeights pack_conv_weights(const ConvGeometry& g, const float* w, const GemmF32Kernels*) {
  auto storage = std::make_unique<PackedConvWeights::Storage>();
  storage->weights = doubles(w, g.out_channels * (g.in_channels / g.groups) * volume(g.kernel));
  return PackedConvWeights(std::move(storage));
}

ORTOLAN_WEAK void conv(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const PackedConvWeights& w,
                       const ConvEpilogue& e, float* y) {
  auto in = doubles(x, g.batch * g.in_channels * volume(g.in));
  auto bias = doubles(e.bias, g.out_channels);
  std::vector<double> out(g.batch * g.out_channels * volume(g.out));
  conv_f64(pool, g, in.data(), w.storage()->weights.data(), e.bias ? bias.data() : nullptr, out.data());
  finish(g, out, e, y);
}

ORTOLAN_WEAK void conv_transpose(base::ThreadPool* pool, const ConvGeometry& g, const float* x, const float* w,
                                 const ConvEpilogue& e, float* y) {
  auto in = doubles(x, g.batch * g.in_channels * volume(g.in));
  auto bias = doubles(e.bias, g.out_channels);
  auto weights = doubles(w, g.in_channels * (g.out_channels / g.groups) * volume(g.kernel));
  std::vector<double> out(g.batch * g.out_channels * volume(g.out));
  conv_transpose_f64(pool, g, in.data(), weights.data(), e.bias ? bias.data() : nullptr, out.data());
  finish(g, out, e, y);
}

namespace {
/** Calls body(output, plane, positions…) for each window; `visit(position)` for each element inside. */
template <class Start, class Visit, class End>
void for_windows(const PoolGeometry& g, Start&& start, Visit&& visit, End&& end) {
  int64_t at = 0, plane = volume(g.in);
  for (int64_t p = 0; p < g.planes; ++p)
    for (int64_t a = 0; a < g.out[0]; ++a)
      for (int64_t b = 0; b < g.out[1]; ++b)
        for (int64_t c = 0; c < g.out[2]; ++c, ++at) {
          start();
          int64_t padded = 0;
          for (int64_t i = 0; i < volume(g.kernel); ++i) {
            int64_t k[3] = {i / (g.kernel[1] * g.kernel[2]), i / g.kernel[2] % g.kernel[1], i % g.kernel[2]};
            int64_t o[3] = {a, b, c}, v[3];
            bool inside = true, counted = true;
            for (int d = 0; d < 3; ++d) {
              v[d] = o[d] * g.stride[d] - g.pad_begin[d] + k[d] * g.dilation[d];
              inside &= v[d] >= 0 && v[d] < g.in[d];
              counted &= v[d] < g.in[d] + g.pad_end[d];
            }
            padded += counted;
            if (inside) visit(p * plane, v);
          }
          end(at, padded);
        }
}
}  // namespace

template <class T>
ORTOLAN_WEAK void max_pool(base::ThreadPool*, const PoolGeometry& g, const T* x, T* y, int64_t* indices,
                           bool column_major) {
  T best;
  int64_t where = 0;
  for_windows(
      g, [&] { best = std::numeric_limits<T>::lowest(), where = 0; },
      [&](int64_t plane, int64_t(&v)[3]) {
        T value = x[plane + (v[0] * g.in[1] + v[1]) * g.in[2] + v[2]];
        if (value > best) {
          best = value;
          where = plane +
                  (column_major ? (v[2] * g.in[1] + v[1]) * g.in[0] + v[0] : (v[0] * g.in[1] + v[1]) * g.in[2] + v[2]);
        }
      },
      [&](int64_t at, int64_t) {
        y[at] = best;
        if (indices) indices[at] = where;
      });
}
template void max_pool(base::ThreadPool*, const PoolGeometry&, const float*, float*, int64_t*, bool);
template void max_pool(base::ThreadPool*, const PoolGeometry&, const double*, double*, int64_t*, bool);
template void max_pool(base::ThreadPool*, const PoolGeometry&, const int8_t*, int8_t*, int64_t*, bool);
template void max_pool(base::ThreadPool*, const PoolGeometry&, const uint8_t*, uint8_t*, int64_t*, bool);

template <class T>
ORTOLAN_WEAK void average_pool(base::ThreadPool*, const PoolGeometry& g, bool count_pad, const T* x, T* y) {
  double sum;
  int64_t count;
  for_windows(
      g, [&] { sum = 0, count = 0; },
      [&](int64_t plane, int64_t(&v)[3]) {
        sum += x[plane + (v[0] * g.in[1] + v[1]) * g.in[2] + v[2]];
        ++count;
      },
      [&](int64_t at, int64_t padded) {
        y[at] = static_cast<T>(sum / std::max<int64_t>(1, count_pad ? padded : count));
      });
}
template void average_pool(base::ThreadPool*, const PoolGeometry&, bool, const float*, float*);
template void average_pool(base::ThreadPool*, const PoolGeometry&, bool, const double*, double*);

template <class T>
ORTOLAN_WEAK void lp_pool(base::ThreadPool*, const PoolGeometry& g, double p, const T* x, T* y) {
  double sum;
  for_windows(
      g, [&] { sum = 0; },
      [&](int64_t plane, int64_t(&v)[3]) {
        sum += std::pow(std::abs(double(x[plane + (v[0] * g.in[1] + v[1]) * g.in[2] + v[2]])), p);
      },
      [&](int64_t at, int64_t) { y[at] = static_cast<T>(std::pow(sum, 1 / p)); });
}
template void lp_pool(base::ThreadPool*, const PoolGeometry&, double, const float*, float*);
template void lp_pool(base::ThreadPool*, const PoolGeometry&, double, const double*, double*);

struct PackedMatrixInt8::Storage {
  int64_t k, n;
  std::vector<int32_t> values;  // [k][n]
};
ORTOLAN_WEAK PackedMatrixInt8::PackedMatrixInt8() = default;
ORTOLAN_WEAK PackedMatrixInt8::~PackedMatrixInt8() = default;
ORTOLAN_WEAK PackedMatrixInt8::PackedMatrixInt8(PackedMatrixInt8&&) noexcept = default;
ORTOLAN_WEAK PackedMatrixInt8& PackedMatrixInt8::operator=(PackedMatrixInt8&&) noexcept = default;
ORTOLAN_WEAK int64_t PackedMatrixInt8::k() const noexcept { return storage_->k; }
ORTOLAN_WEAK int64_t PackedMatrixInt8::n() const noexcept { return storage_->n; }

namespace {
int32_t byte_at(const void* data, bool is_signed, int64_t i) {
  return is_signed ? static_cast<const int8_t*>(data)[i] : static_cast<const uint8_t*>(data)[i];
}
int32_t element(const ByteMatrix& m, int64_t i, int64_t j) {
  return byte_at(m.data, m.is_signed, m.transposed ? j * m.stride + i : i * m.stride + j);
}
}  // namespace

ORTOLAN_WEAK void gemm_int8(base::ThreadPool*, int64_t m, int64_t n, int64_t k, const ByteMatrix& a,
                            const ByteMatrix& b, const ZeroPoints& z, int32_t* c, int64_t ldc, const GemmInt8Kernels*) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      int32_t za = z.a ? byte_at(z.a, a.is_signed, z.a_per_row ? i : 0) : 0;
      int32_t zb = z.b ? byte_at(z.b, b.is_signed, z.b_per_column ? j : 0) : 0;
      int64_t sum = 0;
      for (int64_t p = 0; p < k; ++p) sum += (element(a, i, p) - za) * (element(b, p, j) - zb);
      c[i * ldc + j] = static_cast<int32_t>(sum);
    }
}

template <class T>
ORTOLAN_WEAK void requantize(base::ThreadPool*, int64_t m, int64_t n, const int32_t* c, int64_t ldc,
                             const int32_t* bias, const float* scale, bool per_column, int32_t zero, T* y,
                             int64_t ldy) {
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      float value = std::nearbyint(float(c[i * ldc + j] + (bias ? bias[j] : 0)) * scale[per_column ? j : 0]) + zero;
      y[i * ldy + j] =
          static_cast<T>(std::clamp<float>(value, std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    }
}
template void requantize(base::ThreadPool*, int64_t, int64_t, const int32_t*, int64_t, const int32_t*, const float*,
                         bool, int32_t, int8_t*, int64_t);
template void requantize(base::ThreadPool*, int64_t, int64_t, const int32_t*, int64_t, const int32_t*, const float*,
                         bool, int32_t, uint8_t*, int64_t);

struct PackedConvWeightsInt8::Storage {
  std::vector<double> values;
  bool is_signed;
};
ORTOLAN_WEAK PackedConvWeightsInt8::PackedConvWeightsInt8() = default;
ORTOLAN_WEAK PackedConvWeightsInt8::~PackedConvWeightsInt8() = default;
ORTOLAN_WEAK PackedConvWeightsInt8::PackedConvWeightsInt8(PackedConvWeightsInt8&&) noexcept = default;
ORTOLAN_WEAK PackedConvWeightsInt8& PackedConvWeightsInt8::operator=(PackedConvWeightsInt8&&) noexcept = default;
ORTOLAN_WEAK PackedConvWeightsInt8::PackedConvWeightsInt8(std::unique_ptr<Storage> s) : storage_(std::move(s)) {}

ORTOLAN_WEAK PackedConvWeightsInt8 pack_conv_weights_int8(const ConvGeometry& g, const void* w, bool is_signed,
                                                          const GemmInt8Kernels*) {
  auto storage = std::make_unique<PackedConvWeightsInt8::Storage>();
  storage->is_signed = is_signed;
  int64_t count = g.out_channels * (g.in_channels / g.groups) * volume(g.kernel);
  for (int64_t i = 0; i < count; ++i) storage->values.push_back(byte_at(w, is_signed, i));
  return PackedConvWeightsInt8(std::move(storage));
}

ORTOLAN_WEAK void conv_int8(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& o,
                            const PackedConvWeightsInt8& w, int32_t* y) {
  std::vector<double> in, weights = w.storage()->values, out(g.batch * g.out_channels * volume(g.out));
  for (int64_t i = 0; i < g.batch * g.in_channels * volume(g.in); ++i) {
    in.push_back(byte_at(o.x, o.x_signed, i) - o.x_zero);
  }
  int64_t each = static_cast<int64_t>(weights.size()) / std::max<int64_t>(1, g.out_channels);
  for (size_t i = 0; o.w_zero && i < weights.size(); ++i) {
    weights[i] -= byte_at(o.w_zero, w.storage()->is_signed, o.w_zero_per_channel ? i / each : 0);
  }
  conv_f64(pool, g, in.data(), weights.data(), nullptr, out.data());
  for (size_t i = 0; i < out.size(); ++i) y[i] = static_cast<int32_t>(out[i]);
}

template <class T>
ORTOLAN_WEAK void qlinear_conv(base::ThreadPool* pool, const ConvGeometry& g, const ConvInt8& o,
                               const PackedConvWeightsInt8& w, const int32_t* bias, const float* scale,
                               bool per_channel, int32_t y_zero, T* y) {
  int64_t plane = volume(g.out);
  std::vector<int32_t> sums(g.batch * g.out_channels * plane);
  conv_int8(pool, g, o, w, sums.data());
  for (int64_t r = 0; r < g.batch * g.out_channels; ++r) {
    int64_t channel = r % g.out_channels;
    for (int64_t i = 0; i < plane; ++i) sums[r * plane + i] += bias ? bias[channel] : 0;
    requantize<T>(pool, 1, plane, &sums[r * plane], plane, nullptr, scale + (per_channel ? channel : 0), false, y_zero,
                  y + r * plane, plane);
  }
}
template void qlinear_conv(base::ThreadPool*, const ConvGeometry&, const ConvInt8&, const PackedConvWeightsInt8&,
                           const int32_t*, const float*, bool, int32_t, int8_t*);
template void qlinear_conv(base::ThreadPool*, const ConvGeometry&, const ConvInt8&, const PackedConvWeightsInt8&,
                           const int32_t*, const float*, bool, int32_t, uint8_t*);

}  // namespace ortolan::cpu::kernels
