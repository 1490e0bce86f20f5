// SkipLayerNormalization, SkipSimplifiedLayerNormalization, SimplifiedLayerNormalization and EmbedLayerNormalization:
// one pass over fp32 rows. 16-bit floats compute in float; double, which the first three have, in plain loops.
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/elements/row_normalization.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

void require_count(const Tensor* tensor, int64_t count, const char* what) {
  require(!tensor || tensor->element_count() == count, ErrorCode::kInvalidArgument, what, " has shape ",
          tensor ? tensor->shape() : Shape(), "; it needs ", count, " elements");
}

/** One row in double, as kernels::layer_norm does it in float: `sum` becomes x + skip + skip_bias; the addends may be
    NULL. */
struct DoubleRow {
  int64_t columns;
  const double *scale, *bias, *skip_bias;
  double epsilon;
  bool rms;

  void normalize(const double* x, const double* skip, double* sum, double* y, float* mean_out,
                 float* inverse_out) const {
    double total = 0, squares = 0;
    for (int64_t i = 0; i < columns; ++i) {
      sum[i] = x[i] + (skip ? skip[i] : 0) + (skip_bias ? skip_bias[i] : 0);
      total += sum[i];
    }
    double mean = rms ? 0 : total / static_cast<double>(columns);
    for (int64_t i = 0; i < columns; ++i) squares += (sum[i] - mean) * (sum[i] - mean);
    double inverse = 1 / std::sqrt(squares / static_cast<double>(columns) + epsilon);
    for (int64_t i = 0; i < columns; ++i) y[i] = (sum[i] - mean) * inverse * scale[i] + (bias ? bias[i] : 0);
    if (mean_out) *mean_out = static_cast<float>(mean);
    if (inverse_out) *inverse_out = static_cast<float>(inverse);
  }
};

/** True where `part`, without leading dimensions of 1, is the end of `whole`. */
bool repeats(const Shape& part, const Shape& whole) {
  size_t lead = 0;
  while (lead < part.rank() && part[lead] == 1 &&
         (part.rank() - lead > whole.rank() || whole[whole.rank() - part.rank() + lead] != 1))
    ++lead;
  size_t kept = part.rank() - lead;
  return kept > 0 && kept <= whole.rank() && std::equal(part.begin() + lead, part.end(), whole.end() - kept);
}

class SkipNormalization : public OpKernel {
 public:
  SkipNormalization(const KernelInfo& info, bool rms) : epsilon_(info.node().float_or("epsilon", 1e-12f)), rms_(rms) {}

  /** Inputs: x, skip, scale, then bias of the result (not RMS), bias of the sum. */
  void compute(KernelContext& context) const override {
    const Shape& shape = context.input(0).shape();
    const Shape& skip = context.input(1).shape();
    require(shape.rank() >= 2, ErrorCode::kInvalidArgument, "input ", shape, " must have rank 2 or 3");
    size_t sum_bias = rms_ ? 3 : 4;
    kernels::LayerNorm norm;
    norm.columns = shape.back();
    norm.rows = shape.count_to(shape.rank() - 1);
    norm.skip_rows = skip.rank() == 0 ? 0 : skip.count_to(skip.rank() - 1);
    bool fits = skip.rank() >= 2 && repeats(skip, shape);
    require(fits, ErrorCode::kInvalidArgument, "skip has shape ", skip, ", which does not broadcast to ", shape);
    require_count(&context.input(2), norm.columns, "gamma");
    if (!rms_) require_count(context.input_if(3), norm.columns, "beta");
    require_count(context.input_if(sum_bias), norm.columns, "bias");
    if (context.input(0).type() == ElementType::kDouble) return compute_double(context, norm);
    norm.x = read_input<float>(context, 0);
    norm.skip = read_input<float>(context, 1);
    norm.scale = read_input<float>(context, 2);
    norm.bias = rms_ ? nullptr : read_input<float>(context, 3);
    norm.skip_bias = read_input<float>(context, sum_bias);
    norm.epsilon = epsilon_, norm.rms = rms_;
    auto y = OutputAs<float>::optional(context, 0), mean = OutputAs<float>::optional(context, 1);
    auto inverse = OutputAs<float>::optional(context, 2), sum = OutputAs<float>::optional(context, 3);
    norm.y = y.data(), norm.mean = mean.data(), norm.inverse_std = inverse.data(), norm.sum = sum.data();
    norm.columns > 0 ? kernels::layer_norm(&context.threads(), norm) : no_moments(norm);
    for (OutputAs<float>* output : {&y, &mean, &inverse, &sum}) output->finish();
  }

 private:
  void compute_double(KernelContext& context, const kernels::LayerNorm& sizes) const {
    int64_t columns = sizes.columns, skip_rows = sizes.skip_rows;
    DoubleRow row{columns,
                  read_input<double>(context, 2),
                  rms_ ? nullptr : read_input<double>(context, 3),
                  read_input<double>(context, rms_ ? 3 : 4),
                  epsilon_,
                  rms_};
    const double *x = read_input<double>(context, 0), *skip = read_input<double>(context, 1);
    auto y = OutputAs<double>::optional(context, 0), sum = OutputAs<double>::optional(context, 3);
    auto mean = OutputAs<float>::optional(context, 1), inverse = OutputAs<float>::optional(context, 2);
    double* sums = sum.data() ? sum.data() : context.scratch<double>(sizes.rows * columns).data();
    double* result = y.data() ? y.data() : context.scratch<double>(sizes.rows * columns).data();
    const int64_t least = kernels::least_rows(columns, kernels::kScalarNs);
    context.threads().parallel_for(sizes.rows, least, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        row.normalize(x + r * columns, skip + r % skip_rows * columns, sums + r * columns, result + r * columns,
                      mean.data() ? mean.data() + r : nullptr, inverse.data() ? inverse.data() + r : nullptr);
      }
    });
  }

  float epsilon_;
  bool rms_;
};

class SkipLayerNormalization final : public SkipNormalization {
 public:
  explicit SkipLayerNormalization(const KernelInfo& info) : SkipNormalization(info, false) {}
};
class SkipSimplifiedLayerNormalization final : public SkipNormalization {
 public:
  explicit SkipSimplifiedLayerNormalization(const KernelInfo& info) : SkipNormalization(info, true) {}
};

class SimplifiedLayerNormalization final : public OpKernel {
 public:
  explicit SimplifiedLayerNormalization(const KernelInfo& info)
      : axis_(info.node().int_or("axis", -1)), epsilon_(info.node().float_or("epsilon", 1e-5f)) {}

  void compute(KernelContext& context) const override {
    const Shape& shape = context.input(0).shape();
    size_t axis = checked_axis(axis_, shape.rank());
    kernels::LayerNorm norm;
    norm.rows = shape.count_to(axis), norm.columns = shape.count_from(axis);
    require_count(&context.input(1), norm.columns, "scale");
    if (context.input(0).type() == ElementType::kDouble) return compute_double(context, norm.rows, norm.columns);
    norm.x = read_input<float>(context, 0), norm.scale = read_input<float>(context, 1);
    norm.epsilon = epsilon_, norm.rms = true;
    auto y = OutputAs<float>::optional(context, 0), inverse = OutputAs<float>::optional(context, 1);
    norm.y = y.data(), norm.inverse_std = inverse.data();
    norm.columns > 0 ? kernels::layer_norm(&context.threads(), norm) : no_moments(norm);
    y.finish();
    inverse.finish();
  }

 private:
  void compute_double(KernelContext& context, int64_t rows, int64_t columns) const {
    DoubleRow row{columns, read_input<double>(context, 1), nullptr, nullptr, epsilon_, true};
    const double* x = read_input<double>(context, 0);
    OutputAs<double> y(context, 0);
    auto inverse = OutputAs<float>::optional(context, 1);
    double* sums = context.scratch<double>(checked_mul(rows, columns)).data();
    const int64_t least = kernels::least_rows(columns, kernels::kScalarNs);
    context.threads().parallel_for(rows, least, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin, at = begin * columns; r < end; ++r, at += columns) {
        row.normalize(x + at, nullptr, sums + at, y.data() + at, nullptr,
                      inverse.data() ? inverse.data() + r : nullptr);
      }
    });
    y.finish();
    inverse.finish();
  }

  int64_t axis_;
  float epsilon_;
};

/** A table of rows and the indices into it, checked. */
struct Embedding {
  const float* rows = nullptr;
  const int32_t* ids = nullptr;
  int64_t period = 1;  // ids repeat after so many

  Embedding() = default;
  Embedding(KernelContext& context, size_t table, const Tensor& indices, int64_t hidden, const char* what) {
    const Shape& shape = context.input(table).shape();
    require(shape.rank() == 2 && shape[1] == hidden, ErrorCode::kInvalidArgument, what, " has shape ", shape,
            "; its rows need ", hidden, " values");
    for (int32_t id : indices.span<int32_t>()) {
      require(id >= 0 && id < shape[0], ErrorCode::kInvalidArgument, "index ", id, " is outside ", what, " of ",
              shape[0], " rows");
    }
    rows = read_input<float>(context, table);
    ids = indices.data<int32_t>();
    period = std::max<int64_t>(indices.element_count(), 1);
  }
  const float* row(int64_t i, int64_t hidden) const { return rows + ids[i % period] * hidden; }
};

class EmbedLayerNormalization final : public OpKernel {
 public:
  explicit EmbedLayerNormalization(const KernelInfo& info) : epsilon_(info.node().float_or("epsilon", 1e-12f)) {}

  void compute(KernelContext& context) const override {
    const Tensor& ids = context.input(0);
    const Shape& table = context.input(2).shape();
    require(ids.rank() == 2 && table.rank() == 2, ErrorCode::kInvalidArgument, "input_ids ", ids.shape(),
            " and word_embedding ", table, " must have rank 2");
    int64_t batch = ids.shape()[0], sequence = ids.shape()[1], hidden = table[1];
    for (size_t i : {5, 6}) require_count(&context.input(i), hidden, i == 5 ? "gamma" : "beta");
    Tensor positions = this->positions(context, batch, sequence);
    Embedding words(context, 2, ids, hidden, "word_embedding");
    Embedding places(context, 3, positions, hidden, "position_embedding"), segments;
    if (context.has_input(1) && context.has_input(4)) {
      require(context.input(1).shape() == ids.shape(), ErrorCode::kInvalidArgument, "segment_ids has shape ",
              context.input(1).shape(), "; it needs ", ids.shape());
      segments = Embedding(context, 4, context.input(1), hidden, "segment_embedding");
    }
    OutputAs<float> y(context, 0);
    auto sum = OutputAs<float>::optional(context, 2);
    int64_t rows = batch * sequence;
    float* total = sum.data() ? sum.data() : context.scratch<float>(checked_mul(rows, hidden)).data();
    const int64_t least = kernels::least_rows(hidden, kernels::kRowElementNs);
    context.threads().parallel_for(rows, least, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const float *word = words.row(r, hidden), *place = places.row(r, hidden);
        const float* segment = segments.ids ? segments.row(r, hidden) : nullptr;
        float* out = total + r * hidden;
        for (int64_t i = 0; i < hidden; ++i) out[i] = word[i] + place[i];
        for (int64_t i = 0; segment && i < hidden; ++i) out[i] += segment[i];
      }
    });
    kernels::LayerNorm norm;
    norm.rows = rows, norm.columns = hidden, norm.x = total, norm.y = y.data(), norm.epsilon = epsilon_;
    norm.scale = read_input<float>(context, 5), norm.bias = read_input<float>(context, 6);
    if (rows * hidden > 0) kernels::layer_norm(&context.threads(), norm);
    y.finish();
    sum.finish();
    if (context.has_output(1)) count_mask(context, batch, sequence);
  }

 private:
  /** Input 8, one row for all sequences or one each; else 0, 1, 2, … */
  static Tensor positions(KernelContext& context, int64_t batch, int64_t sequence) {
    if (const Tensor* given = context.input_if(8)) {
      int64_t count = given->element_count();
      require(count == sequence || count == checked_mul(batch, sequence), ErrorCode::kInvalidArgument,
              "position_ids has shape ", given->shape(), "; it needs [1,", sequence, "] or [", batch, ",", sequence,
              "]");
      return *given;
    }
    Tensor result(ElementType::kInt32, Shape{sequence});
    for (int64_t i = 0; i < sequence; ++i) result.mutable_data<int32_t>()[i] = checked_cast<int32_t>(i);
    return result;
  }

  /** Output 1: how many places of each sequence the mask leaves; 0 without a mask. */
  static void count_mask(KernelContext& context, int64_t batch, int64_t sequence) {
    const Tensor* mask = context.input_if(7);
    require_count(mask, batch * sequence, "mask");
    int32_t* out = context.output(1).mutable_data<int32_t>();
    for (int64_t b = 0; b < batch; ++b) {
      int32_t count = 0;
      for (int64_t i = 0; mask && i < sequence; ++i) count += mask->data<int32_t>()[b * sequence + i] == 1;
      out[b] = count;
    }
  }

  float epsilon_;
};

constexpr TypeSet kTypes = kHalfTypes | ElementType::kFloat;

constexpr KernelRow kRows[] = {
    {"com.microsoft", "SkipLayerNormalization", 1, kLatest, make_kernel<SkipLayerNormalization>, {{0, kFloatTypes}}},
    {"com.microsoft",
     "SkipSimplifiedLayerNormalization",
     1,
     kLatest,
     make_kernel<SkipSimplifiedLayerNormalization>,
     {{0, kFloatTypes}}},
    {"com.microsoft", "EmbedLayerNormalization", 1, kLatest, make_kernel<EmbedLayerNormalization>, {{2, kTypes}}},
    {"", "SimplifiedLayerNormalization", 1, kLatest, make_kernel<SimplifiedLayerNormalization>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable skip_layer_normalization_rows;
const KernelTable skip_layer_normalization_rows(kRows);
}  // namespace ortolan::cpu::microsoft
