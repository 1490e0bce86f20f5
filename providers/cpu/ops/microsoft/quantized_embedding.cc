// QEmbedLayerNormalization: rows of bytes are widened as they are added up, then one pass of layer normalisation.
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/convert.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "cpu/quantised/byte_formats.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

/** Input `i` of bytes, with its scale and zero point. */
struct ByteInput {
  ByteInput(const KernelContext& context, size_t i, size_t scale, size_t zero, const char* what)
      : tensor(context.input(i)) {
    bool bytes = tensor.type() == ElementType::kInt8 || tensor.type() == ElementType::kUInt8;
    require(bytes, ErrorCode::kInvalidArgument, what, " holds ", name_of(tensor.type()), "; it must hold bytes");
    format = byte_format(context.input(scale), context.input_if(zero), tensor.type(), what);
  }
  /** Elements [first, first + count) as real values. */
  void widen(int64_t first, int64_t count, float* to) const {
    dispatch<ElementType::kInt8 | ElementType::kUInt8>(tensor.type(), [&]<class T>(TypeTag<T>) {
      kernels::dequantize<T>(tensor.data<T>() + first, count, format.scale, format.zero, to);
    });
  }
  const Tensor& tensor;
  ByteFormat format;
};

/** A table of rows and the indices into it, checked. */
struct ByteEmbedding : ByteInput {
  ByteEmbedding(const ByteInput& input, const Tensor* ids, int64_t hidden, int64_t sequence, const char* what)
      : ByteInput(input), ids(ids) {
    const Shape& shape = tensor.shape();
    require(shape.rank() == 2 && shape[1] == hidden, ErrorCode::kInvalidArgument, what, " has shape ", shape,
            "; its rows need ", hidden, " values");
    require(ids || sequence <= shape[0], ErrorCode::kInvalidArgument, what, " has ", shape[0], " rows for ", sequence,
            " positions");
    if (!ids) return;
    for (int32_t id : ids->span<int32_t>()) {
      require(id >= 0 && id < shape[0], ErrorCode::kInvalidArgument, "index ", id, " is outside ", what, " of ",
              shape[0], " rows");
    }
  }
  /** The row of place i, or of that place in its sequence where there are no indices. */
  void row(int64_t i, int64_t sequence, int64_t hidden, float* to) const {
    widen((ids ? ids->data<int32_t>()[i] : i % sequence) * hidden, hidden, to);
  }
  const Tensor* ids;
};

class QEmbedLayerNormalization final : public OpKernel {
 public:
  explicit QEmbedLayerNormalization(const KernelInfo& info) : epsilon_(info.node().float_or("epsilon", 1e-12f)) {}

  void compute(KernelContext& context) const override {
    const Tensor& ids = context.input(0);
    ByteInput words(context, 2, 8, 13, "word_embedding"), places(context, 3, 9, 14, "position_embedding");
    require(ids.rank() == 2 && words.tensor.rank() == 2, ErrorCode::kInvalidArgument, "input_ids ", ids.shape(),
            " and word_embedding ", words.tensor.shape(), " must have rank 2");
    int64_t sequence = ids.shape()[1], hidden = words.tensor.shape()[1];
    std::vector<ByteEmbedding> parts;
    parts.emplace_back(words, &ids, hidden, sequence, "word_embedding");
    parts.emplace_back(places, nullptr, hidden, sequence, "position_embedding");
    if (const Tensor* segments = context.input_if(1); segments && context.has_input(4)) {
      require(segments->shape() == ids.shape(), ErrorCode::kInvalidArgument, "segment_ids has shape ",
              segments->shape(), "; it needs ", ids.shape());
      ByteInput table(context, 4, 10, 15, "segment_embedding");
      parts.emplace_back(table, segments, hidden, sequence, "segment_embedding");
    }
    kernels::LayerNorm norm;
    norm.rows = ids.element_count(), norm.columns = hidden, norm.epsilon = epsilon_;
    norm.scale = line(context, {context, 5, 11, 16, "gamma"}, hidden);
    norm.bias = line(context, {context, 6, 12, 17, "beta"}, hidden);
    norm.x = sums(context, parts, norm.rows, sequence, hidden);
    norm.y = context.output(0).mutable_data<float>();
    if (norm.rows * hidden > 0) kernels::layer_norm(&context.threads(), norm);
    if (context.has_output(1)) count_mask(context, ids.shape());
  }

 private:
  static const float* line(KernelContext& context, const ByteInput& input, int64_t hidden) {
    require(input.tensor.element_count() == hidden, ErrorCode::kInvalidArgument, "gamma or beta has shape ",
            input.tensor.shape(), "; it needs ", hidden, " elements");
    float* result = context.scratch<float>(hidden).data();
    input.widen(0, hidden, result);
    return result;
  }

  static const float* sums(KernelContext& context, const std::vector<ByteEmbedding>& parts, int64_t rows,
                           int64_t sequence, int64_t hidden) {
    float* total = context.scratch<float>(checked_mul(rows, hidden)).data();
    const int64_t least = kernels::least_rows(std::ssize(parts) * hidden, kernels::kActivationNs);
    context.threads().parallel_for(rows, least, [&](int64_t begin, int64_t end) {
      std::vector<float> part(static_cast<size_t>(hidden));
      for (int64_t i = begin; i < end; ++i) {
        float* to = total + i * hidden;
        parts[0].row(i, sequence, hidden, to);
        for (size_t p = 1; p < parts.size(); ++p) {
          parts[p].row(i, sequence, hidden, part.data());
          for (int64_t j = 0; j < hidden; ++j) to[j] += part[j];
        }
      }
    });
    return total;
  }

  /** Output 1: how many places of each sequence the mask leaves; 0 without a mask. */
  static void count_mask(KernelContext& context, const Shape& shape) {
    const Tensor* mask = context.input_if(7);
    require(!mask || mask->shape() == shape, ErrorCode::kInvalidArgument, "mask has shape ",
            mask ? mask->shape() : Shape(), "; it needs ", shape);
    int32_t* out = context.output(1).mutable_data<int32_t>();
    for (int64_t b = 0; b < shape[0]; ++b) {
      out[b] = 0;
      for (int64_t i = 0; mask && i < shape[1]; ++i) out[b] += mask->data<int32_t>()[b * shape[1] + i] == 1;
    }
  }

  float epsilon_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "QEmbedLayerNormalization", 1, kLatest, make_kernel<QEmbedLayerNormalization>},
};

}  // namespace

extern const KernelTable quantized_embedding_rows;
const KernelTable quantized_embedding_rows(kRows);
}  // namespace ortolan::cpu::microsoft
