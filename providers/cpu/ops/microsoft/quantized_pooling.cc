// QLinearAveragePool, QLinearGlobalAveragePool, NhwcMaxPool, QLinearReduceMean and ReduceSumInteger.
#include <numeric>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/convolution/pool_geometry.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/layout/transpose.h"
#include "cpu/kernels/quantised/bytes.h"
#include "cpu/kernels/quantised/gemm_int8.h"
#include "cpu/quantised/byte_formats.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

constexpr FormatInputs kFrom{1, 2, "X"}, kTo{3, 4, "Y"};

const uint8_t* bytes_of(const Tensor& tensor) { return static_cast<const uint8_t*>(tensor.raw()); }
uint8_t* bytes_of(Tensor& tensor) { return static_cast<uint8_t*>(tensor.mutable_raw()); }

class QLinearAveragePool final : public OpKernel {
 public:
  explicit QLinearAveragePool(const KernelInfo& info)
      : window_(pool_window(info.node())),
        count_pad_(info.node().int_or("count_include_pad", 0) != 0),
        channels_last_(info.node().int_or("channels_last", 0) != 0) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    ByteFormat from = kFrom.format(context, x.type()), to = kTo.format(context, x.type());
    kernels::PoolGeometry g = pool_geometry(window_, x.shape(), y.shape(), channels_last_);
    if (y.element_count() == 0) return;
    if (!channels_last_) return through_floats(context, g, from, to, x, y);
    kernels::ByteAverage average{from.is_signed, from.zero, to.zero, from.scale / to.scale};
    kernels::average_pool_channels_last(&context.threads(), g, x.shape().back(), count_pad_, average, bytes_of(x),
                                        bytes_of(y));
  }

 private:
  void through_floats(KernelContext& context, const kernels::PoolGeometry& g, const ByteFormat& from,
                      const ByteFormat& to, const Tensor& x, Tensor& y) const {
    float* wide = context.scratch<float>(x.element_count()).data();
    float* means = context.scratch<float>(y.element_count()).data();
    dispatch<ElementType::kInt8 | ElementType::kUInt8>(x.type(), [&]<class T>(TypeTag<T>) {
      const T* in = x.data<T>();
      T* out = y.mutable_data<T>();
      const int64_t least = kernels::least_items(kernels::kElementNs);
      context.threads().parallel_for(x.element_count(), least, [&](int64_t begin, int64_t end) {
        kernels::dequantize<T>(in + begin, end - begin, from.scale, from.zero, wide + begin);
      });
      kernels::average_pool<float>(&context.threads(), g, count_pad_, wide, means);
      context.threads().parallel_for(y.element_count(), least, [&](int64_t begin, int64_t end) {
        kernels::quantize<T>(means + begin, end - begin, to.scale, to.zero, out + begin);
      });
    });
  }

  ops::WindowAttributes window_;
  bool count_pad_, channels_last_;
};

/** Means of rows of `length` bytes. */
void row_means(ThreadPool& threads, const ByteFormat& from, const ByteFormat& to, const uint8_t* x, int64_t rows,
               int64_t length, uint8_t* y) {
  float scale = from.scale / to.scale / static_cast<float>(length);
  ByteFormat units{1, to.zero, to.is_signed};
  threads.parallel_for(rows, kernels::least_rows(length, kernels::kByteNs), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t sum = kernels::sum_bytes(x + i * length, length, from.is_signed) - length * from.zero;
      y[i] = units.byte(static_cast<float>(sum) * scale);
    }
  });
}

constexpr int64_t kSafeRows = 1 << 22;  // sums of so many bytes less their zero points have 32 bits

/** Means over at most kSafeRows rows of `channels` bytes. */
void short_column_means(const ByteFormat& from, const ByteFormat& to, const uint8_t* x, int64_t rows, int64_t channels,
                        uint8_t* y) {
  std::vector<int32_t> sums(channels, static_cast<int32_t>(-rows * from.zero));
  base::TerminatePoll poll;
  for (int64_t i = 0; i < rows; ++i) {
    poll.work(8 + channels / 8);
    kernels::accumulate_bytes(x + i * channels, channels, from.is_signed, sums.data());
  }
  float scale = from.scale / to.scale / static_cast<float>(rows);
  auto finish = [&]<class T>(T* bytes) {
    kernels::requantize<T>(nullptr, 1, channels, sums.data(), channels, nullptr, &scale, false, to.zero, bytes,
                           channels);
  };
  to.is_signed ? finish(reinterpret_cast<int8_t*>(y)) : finish(y);
}

/** The same for any number of rows. Sums of 32 bits are moved to wider ones before they could overflow. */
void column_means(const ByteFormat& from, const ByteFormat& to, const uint8_t* x, int64_t rows, int64_t channels,
                  uint8_t* y) {
  if (rows <= kSafeRows) return short_column_means(from, to, x, rows, channels, y);
  std::vector<int32_t> sums(channels);
  std::vector<int64_t> totals(channels, -rows * from.zero);
  base::TerminatePoll poll;
  for (int64_t row = 0; row < rows; row += kSafeRows) {
    std::fill(sums.begin(), sums.end(), 0);
    int64_t end = std::min(rows, row + kSafeRows);
    for (int64_t i = row; i < end; ++i) {
      poll.work(8 + channels / 8);
      kernels::accumulate_bytes(x + i * channels, channels, from.is_signed, sums.data());
    }
    for (int64_t c = 0; c < channels; ++c) totals[c] += sums[c];
  }
  float scale = from.scale / to.scale / static_cast<float>(rows);
  ByteFormat units{1, to.zero, to.is_signed};
  for (int64_t c = 0; c < channels; ++c) y[c] = units.byte(static_cast<float>(totals[c]) * scale);
}

class QLinearGlobalAveragePool final : public OpKernel {
 public:
  explicit QLinearGlobalAveragePool(const KernelInfo& info)
      : channels_last_(info.node().int_or("channels_last", 0) != 0) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    const Shape& shape = x.shape();
    require(shape.rank() >= 2, ErrorCode::kInvalidArgument, "input ", shape, " must have rank 2 or more");
    ByteFormat from = kFrom.format(context, x.type()), to = kTo.format(context, x.type());
    if (y.element_count() == 0) return;
    require(x.element_count() > 0, ErrorCode::kInvalidArgument, "input ", shape, " has empty planes");
    if (!channels_last_) {
      int64_t planes = shape.count_to(2);
      return row_means(context.threads(), from, to, bytes_of(x), planes, shape.count_from(2), bytes_of(y));
    }
    int64_t channels = shape.back(), rows = x.element_count() / shape[0] / channels;
    const int64_t least = kernels::least_rows(rows * channels, kernels::kElementNs);
    context.threads().parallel_for(shape[0], least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        column_means(from, to, bytes_of(x) + i * rows * channels, rows, channels, bytes_of(y) + i * channels);
      }
    });
  }

 private:
  bool channels_last_;
};

class NhwcMaxPool final : public OpKernel {
 public:
  explicit NhwcMaxPool(const KernelInfo& info) : window_(pool_window(info.node())) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    kernels::PoolGeometry g = pool_geometry(window_, x.shape(), y.shape(), true);
    if (y.element_count() == 0) return;
    dispatch<ElementType::kInt8 | ElementType::kUInt8>(x.type(), [&]<class T>(TypeTag<T>) {
      kernels::max_pool_channels_last<T>(&context.threads(), g, x.shape().back(), x.data<T>(), y.mutable_data<T>());
    });
  }

 private:
  ops::WindowAttributes window_;
};

/** The bytes with the reduced axes moved behind the others, as rows of `length`. */
struct ReducedRows {
  ReducedRows(KernelContext& context, const Tensor& x, const std::vector<int64_t>& axes) : data(bytes_of(x)) {
    const Shape& shape = x.shape();
    std::vector<bool> is_reduced(shape.rank(), axes.empty());
    for (size_t axis : ops::checked_axes(axes, shape.rank())) is_reduced[axis] = true;
    std::vector<int> order(shape.rank());
    std::iota(order.begin(), order.end(), 0);
    std::stable_partition(order.begin(), order.end(), [&](int axis) { return !is_reduced[axis]; });
    for (size_t i = 0; i < shape.rank(); ++i) (is_reduced[i] ? length : rows) *= shape[i];
    if (std::is_sorted(order.begin(), order.end()) || x.element_count() == 0) return;
    uint8_t* moved = context.scratch<uint8_t>(x.element_count()).data();
    kernels::transpose(&context.threads(), 1, static_cast<int>(shape.rank()), shape.data(), order.data(), data, moved);
    data = moved;
  }
  const uint8_t* data;
  int64_t rows = 1, length = 1;
};

class QLinearReduceMean final : public OpKernel {
 public:
  explicit QLinearReduceMean(const KernelInfo& info) : axes_(info.node().ints("axes")) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    Tensor& y = context.output(0);
    ByteFormat from = kFrom.format(context, x.type()), to = kTo.format(context, x.type());
    ReducedRows rows(context, x, axes_);
    if (y.element_count() == 0) return;
    row_means(context.threads(), from, to, rows.data, rows.rows, rows.length, bytes_of(y));
  }

 private:
  std::vector<int64_t> axes_;
};

class ReduceSumInteger final : public OpKernel {
 public:
  explicit ReduceSumInteger(const KernelInfo& info) : axes_(info.node().ints("axes")) {}

  void compute(KernelContext& context) const override {
    const Tensor& x = context.input(0);
    ReducedRows rows(context, x, axes_);
    auto* y = static_cast<uint32_t*>(context.output(0).mutable_raw());
    context.threads().parallel_for(
        rows.rows, kernels::least_rows(rows.length, kernels::kByteNs), [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; ++i) {
            y[i] =
                static_cast<uint32_t>(kernels::sum_bytes(rows.data + i * rows.length, rows.length, is_signed_byte(x)));
          }
        });
  }

 private:
  std::vector<int64_t> axes_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "QLinearAveragePool", 1, kLatest, make_kernel<QLinearAveragePool>},
    {"com.microsoft", "QLinearGlobalAveragePool", 1, kLatest, make_kernel<QLinearGlobalAveragePool>},
    {"com.microsoft", "NhwcMaxPool", 1, kLatest, make_kernel<NhwcMaxPool>},
    {"com.microsoft", "QLinearReduceMean", 1, kLatest, make_kernel<QLinearReduceMean>},
    {"com.microsoft", "ReduceSumInteger", 1, kLatest, make_kernel<ReduceSumInteger>},
};

}  // namespace

extern const KernelTable quantized_pooling_rows;
const KernelTable quantized_pooling_rows(kRows);
}  // namespace ortolan::cpu::microsoft
