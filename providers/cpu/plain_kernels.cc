// Plain loops behind the kernels' interfaces, used where no vector kernel is linked.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cpu/convolution_f64.h"
#include "cpu/kernels/conv_int8.h"

#define ORTOLAN_WEAK __attribute__((weak))

namespace ortolan::cpu::kernels {

namespace {
int64_t volume(const int64_t (&d)[3]) { return d[0] * d[1] * d[2]; }
}  // namespace

struct PackedMatrixInt8::Storage {
  int64_t k, n;
  bool is_signed;
  std::vector<uint8_t> values;  // [k][n]
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

ORTOLAN_WEAK PackedMatrixInt8 pack_b_int8(base::ThreadPool*, int64_t k, int64_t n, const ByteMatrix& b,
                                          const GemmInt8Kernels*) {
  PackedMatrixInt8 result;
  result.storage_ = std::make_unique<PackedMatrixInt8::Storage>();
  result.storage_->k = k, result.storage_->n = n, result.storage_->is_signed = b.is_signed;
  for (int64_t i = 0; i < k * n; ++i) result.storage_->values.push_back(static_cast<uint8_t>(element(b, i / n, i % n)));
  return result;
}

ORTOLAN_WEAK void gemm_int8(base::ThreadPool* pool, int64_t m, const ByteMatrix& a, const PackedMatrixInt8& b,
                            const ZeroPoints& z, int32_t* c, int64_t ldc) {
  const auto& s = *b.storage();
  gemm_int8(pool, m, s.n, s.k, a, ByteMatrix{s.values.data(), s.n, false, s.is_signed}, z, c, ldc, nullptr);
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
