// No kernel touches anything outside its operands, on any instruction set: operands lie at the edge of their memory.
#include "cpu/kernels/convolution/conv_f32.h"
#include "cpu/kernels/convolution/pooling.h"
#include "cpu/kernels/convolution_int8/conv_int8.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/kernels/layout/transpose.h"
#include "cpu/kernels/products/gemm_f32.h"
#include "cpu/kernels/quantised/gemm_int8.h"
#include "cpu/kernels/recurrent/recurrent_f32.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "cpu/kernels/rows/reduce_f32.h"
#include "guarded.h"
#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

class Bounds : public IsaTest {
 protected:
  template <class T = float>
  Guarded<T> span(int64_t n, Edge edge) {
    std::vector<T> values(n);
    for (T& v : values) v = static_cast<T>(integer(0, 100));
    return Guarded<T>(values, edge);
  }
};

constexpr Edge kEdges[] = {Edge::kEnd, Edge::kBegin};

TEST_P(Bounds, VectorsAndRows) {
  for (Edge edge : kEdges) {
    for (int64_t n = 1; n < 70; n += n < 36 ? 1 : 7) {
      auto a = span(n, edge), b = span(n, edge), y = span(n, edge);
      for (int op = 0; op < static_cast<int>(UnaryOp::kCount); ++op) {
        unary({static_cast<UnaryOp>(op), 1, 2}, a.get(), y.get(), n);
      }
      for (int op = 0; op < static_cast<int>(BinaryOp::kCount); ++op) {
        binary(static_cast<BinaryOp>(op), a.get(), b.get(), y.get(), n);
        binary(static_cast<BinaryOp>(op), a.get(), 2.0f, y.get(), n);
      }
      scale_shift(a.get(), 2, 3, y.get(), n);
      accumulate_scaled(a.get(), 2, y.get(), n);
      multiply_add(a.get(), b.get(), y.get(), y.get(), n);
      auto pairs = span(2 * n, edge);
      rotate_halves(pairs.get(), a.get(), b.get(), n, pairs.get());
      rotate_pairs(pairs.get(), a.get(), b.get(), n, pairs.get());
      auto state = span(2 * n, edge), two = span(2, edge);
      update_state(state.get(), 2, n, two.get(), two.get(), a.get(), two.get(), y.get());
      weighted_rows(state.get(), 2, n, two.get(), y.get());
      for (int op = 0; op < static_cast<int>(ReduceOp::kCount); ++op) reduce(static_cast<ReduceOp>(op), a.get(), n);
      dot(a.get(), b.get(), n);
      auto x = span(3 * n, edge), z = span(3 * n, edge);
      for (int64_t inner : {int64_t{1}, int64_t{3}, n}) {
        softmax(nullptr, x.get(), 3 * n / (inner == 3 ? 3 : n), inner == 1 ? n : 1, inner == 1 ? 1 : inner, true,
                z.get());
      }
      softmax(nullptr, x.get(), 1, 3, n, false, z.get());
      softmax_row(a.get(), 2, b.get(), n, y.get());
      reduce_axis(nullptr, ReduceOp::kMax, x.get(), 1, 3, n, y.get());
      LayerNorm norm;
      norm.rows = 3, norm.columns = n, norm.x = x.get(), norm.scale = a.get(), norm.bias = b.get(), norm.y = z.get();
      norm.skip = x.get(), norm.skip_bias = a.get();
      layer_norm(nullptr, norm);
      auto rows = span(5 * n, edge), scaled = span(5 * n, edge), five = span(5, edge), sums = span(5, edge);
      LayerNorm plain;
      plain.rows = 5, plain.columns = n, plain.x = plain.y = rows.get(), plain.scale = a.get(), plain.bias = b.get();
      plain.mean = five.get(), plain.inverse_std = sums.get();
      layer_norm(nullptr, plain);
      weigh_rows(rows.get(), 5, n, scaled.get(), n, five.get(), sums.get());
      scale_rows(rows.get(), 5, n, five.get(), scaled.get(), n);
    }
  }
}

TEST_P(Bounds, Conversions) {
  for (Edge edge : kEdges) {
    for (int64_t n = 1; n < 40; ++n) {
      auto x = span(n, edge);
      auto h = span<uint16_t>(n, edge);
      auto u = span<uint8_t>(n, edge);
      auto s = span<int8_t>(n, edge);
      auto c = span<int32_t>(n, edge);
      float low, high;
      float_to_half(x.get(), h.get(), n);
      half_to_float(h.get(), x.get(), n);
      quantize(x.get(), n, 1, 3, u.get());
      quantize(x.get(), n, 1, 3, s.get());
      dequantize(u.get(), n, 1, 3, x.get());
      dequantize(s.get(), n, 1, 3, x.get());
      min_max(x.get(), n, &low, &high);
      requantize(nullptr, 1, n, c.get(), n, c.get(), x.get(), true, 0, u.get(), n);
    }
  }
}

TEST_P(Bounds, Products) {
  for (int round = 0; round < 150; ++round) {
    const Edge edge = kEdges[round % 2];
    const int64_t m = integer(1, 40), n = integer(1, 70), k = integer(1, round % 5 ? 40 : 300);
    const bool trans_a = integer(0, 1), trans_b = integer(0, 1);
    auto a = span(m * k, edge), b = span(k * n, edge), c = span(m * n, edge), bias = span(n, edge);
    Epilogue e;
    e.beta = static_cast<float>(integer(0, 1));
    e.bias_kind = BiasKind::kColumn;
    e.bias = bias.get();
    gemm(nullptr, m, n, k, a.get(), trans_a ? m : k, trans_a, b.get(), trans_b ? k : n, trans_b, c.get(), n, e);
    const PackedMatrix packed = pack_b(nullptr, k, n, b.get(), trans_b ? k : n, trans_b);
    gemm(nullptr, m, a.get(), trans_a ? m : k, trans_a, packed, c.get(), n, e);
    auto bytes_a = span<uint8_t>(m * k, edge), bytes_b = span<uint8_t>(k * n, edge);
    auto sums = span<int32_t>(m * n, edge);
    gemm_int8(nullptr, m, {bytes_a.get(), trans_a ? m : k, trans_a, integer(0, 1) == 1},
              {k, n, {bytes_b.get(), trans_b ? k : n, trans_b, integer(0, 1) == 1}}, {}, sums.get(), n);
    const PackedMatrixInt8 packed_bytes = pack_b_int8(nullptr, k, n, {bytes_b.get(), trans_b ? k : n, trans_b, false});
    const SumEpilogue floats{bias.get(), true, bias.get(), c.get(), n, {UnaryOp::kGelu}};
    auto y = span(m * n, edge);
    gemm_int8_to_float(nullptr, m, {bytes_a.get(), trans_a ? m : k, trans_a, false}, packed_bytes, {}, floats, y.get(),
                       n);
  }
}

TEST_P(Bounds, PointwiseConvolutions) {
  for (int64_t size = 1; size < 240; ++size) {
    const Edge edge = kEdges[size % 2];
    ConvGeometry g;
    g.in_channels = integer(1, 9), g.out_channels = integer(1, 20);
    g.in[2] = g.out[2] = size / 2 + 1;
    auto x = span(g.in_channels * g.in[2], edge), y = span(g.out_channels * g.in[2], edge);
    auto w = span(g.in_channels * g.out_channels, edge), residual = span(g.out_channels * g.in[2], edge);
    conv(nullptr, g, x.get(), pack_conv_weights(nullptr, g, w.get()), {nullptr, residual.get(), {}}, y.get());
  }
}

TEST_P(Bounds, DepthwiseConvolutions) {
  for (int round = 0; round < 80; ++round) {
    const Edge edge = kEdges[round % 2];
    ConvGeometry g;
    g.groups = g.in_channels = g.out_channels = 2;
    const int64_t kernel = round % 4 < 2 ? 3 : 5, stride = integer(1, 2);
    for (int a = 1; a < 3; ++a) {
      g.kernel[a] = kernel, g.stride[a] = stride;
      g.pad_begin[a] = integer(0, 4);
      g.in[a] = kernel + integer(0, 40);
      g.out[a] = (g.in[a] + g.pad_begin[a] + integer(0, 4) - kernel) / stride + 1;
    }
    auto x = span(2 * g.in[1] * g.in[2], edge), w = span(2 * kernel * kernel, edge);
    auto y = span(2 * g.out[1] * g.out[2], edge), residual = span(2 * g.out[1] * g.out[2], edge);
    conv(nullptr, g, x.get(), pack_conv_weights(nullptr, g, w.get()), {nullptr, residual.get(), {UnaryOp::kRelu}},
         y.get());
  }
}

TEST_P(Bounds, Convolutions) {
  for (int round = 0; round < 120; ++round) {
    const Edge edge = kEdges[round % 2];
    ConvGeometry g;
    g.groups = round % 3 == 0 ? integer(2, 6) : 1;
    const bool winograd = round % 3 == 1;
    g.in_channels = winograd ? 32 : g.groups * (round % 2 ? 1 : integer(1, 9));
    g.out_channels = winograd ? 33 : g.groups * integer(1, 20);
    for (int a = 1; a < 3; ++a) {
      g.kernel[a] = winograd ? 3 : integer(1, 4);
      g.stride[a] = winograd ? 1 + round / 3 % 2 : integer(1, 3);
      g.pad_begin[a] = integer(0, 2);
      g.in[a] = g.kernel[a] + integer(0, 20);
      g.out[a] = (g.in[a] + g.pad_begin[a] + integer(0, 2) - g.kernel[a]) / g.stride[a] + 1;
    }
    const int64_t weights = g.out_channels * (g.in_channels / g.groups) * g.kernel[1] * g.kernel[2];
    const int64_t in = g.in_channels * g.in[1] * g.in[2], out = g.out_channels * g.out[1] * g.out[2];
    auto x = span(in, edge), w = span(weights, edge), y = span(out, edge), bias = span(g.out_channels, edge);
    auto residual = span(out, edge);
    conv(nullptr, g, x.get(), pack_conv_weights(nullptr, g, w.get()), {bias.get(), residual.get(), {UnaryOp::kRelu}},
         y.get());
    auto bytes_x = span<uint8_t>(in, edge), bytes_w = span<uint8_t>(weights, edge), bytes_y = span<uint8_t>(out, edge);
    const float scale = 0.01f;
    qlinear_conv(nullptr, g, {bytes_x.get(), false, 3, nullptr, false},
                 pack_conv_weights_int8(g, bytes_w.get(), round % 2 == 0), nullptr, &scale, false, 1, bytes_y.get());
    PoolGeometry p;
    p.planes = 2;
    for (int a = 1; a < 3; ++a) {
      p.in[a] = g.in[a], p.kernel[a] = g.kernel[a], p.stride[a] = g.stride[a];
      p.out[a] = (p.in[a] - p.kernel[a]) / p.stride[a] + 1;
    }
    auto pool_x = span(2 * p.in[1] * p.in[2], edge), pool_y = span(2 * p.out[1] * p.out[2], edge);
    max_pool<float>(nullptr, p, pool_x.get(), pool_y.get(), nullptr, false);
    average_pool<float>(nullptr, p, true, pool_x.get(), pool_y.get());
  }
}

TEST_P(Bounds, Transpositions) {
  for (int round = 0; round < 60; ++round) {
    const Edge edge = kEdges[round % 2];
    const int64_t dims[] = {integer(1, 5), integer(1, 40), integer(1, 40)};
    const int perms[][3] = {{0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {2, 0, 1}};
    const int64_t count = dims[0] * dims[1] * dims[2];
    auto x = span(count, edge), y = span(count, edge);
    auto u = span<uint8_t>(count, edge), v = span<uint8_t>(count, edge);
    transpose(nullptr, 4, 3, dims, perms[round % 4], x.get(), y.get());
    transpose(nullptr, 1, 3, dims, perms[round % 4], u.get(), v.get());
  }
}

ORTOLAN_FOR_EACH_ISA(Bounds);

}  // namespace
}  // namespace ortolan::cpu::kernels
