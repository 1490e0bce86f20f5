// WordConvEmbedding: the embedded characters of all words lie one behind the other, so their windows are the rows of
// one matrix (rows overlap), and one product serves all words; windows that reach into the next word are left unread.
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/elementwise/vector_f32.h"
#include "cpu/products/packed_weights.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

struct Sizes {
  int64_t words, length, filters, window, size, characters;
};

class WordConvEmbedding final : public OpKernel {
 public:
  explicit WordConvEmbedding(const KernelInfo& info) {
    const Tensor* weights = info.weights_input(1);
    if (!weights || weights->rank() != 4 || weights->element_count() == 0) return;
    packed_ = pack_once(info, *weights, "word_conv", [](ThreadPool& threads, const Tensor& w) {
      int64_t filters = w.shape()[0], k = w.shape().count_from(1);
      Tensor floats = floats_to_pack(is_aligned(w.type(), w.raw()) ? w : clone(w));
      return kernels::pack_b(&threads, k, filters, floats.data<float>(), k, true);
    });
  }
  ConstantUse constant_use(size_t i) const override {
    return i == 1 && packed_ ? ConstantUse::kNothing : ConstantUse::kElements;
  }

  void compute(KernelContext& context) const override {
    Sizes s = sizes(context);
    OutputAs<float> y(context, 0);
    std::vector<int64_t> lengths = word_lengths(context.input(0), s);
    // Rows of the matrix of windows; the last window of the last word ends where the characters end.
    int64_t rows = s.words * s.length - s.window + 1;
    if (s.words > 0 && s.filters > 0) {
      const float* characters = embed(context, s, lengths);
      float* sums = context.scratch<float>(checked_mul(rows, s.filters)).data();
      multiply(context, s, rows, characters, sums);
      const int64_t least = kernels::least_rows(s.length * s.filters, kernels::kActivationNs);
      context.threads().parallel_for(s.words, least, [&](int64_t begin, int64_t end) {
        for (int64_t w = begin; w < end; ++w) {
          pool(s, lengths[static_cast<size_t>(w)], sums + w * s.length * s.filters, y.data() + w * s.filters);
        }
      });
    }
    y.finish();
  }

 private:
  static Sizes sizes(const KernelContext& context) {
    const Shape &words = context.input(0).shape(), &w = context.input(1).shape(), &c = context.input(3).shape();
    require(words.rank() == 2 && w.rank() == 4 && c.rank() == 2, ErrorCode::kInvalidArgument, "the sequence ", words,
            ", W ", w, " and C ", c, " must have ranks 2, 4 and 2");
    Sizes s{words[0], words[1], w[0], w[2], w[3], c[0]};
    require(w[1] == 1 && s.size == c[1], ErrorCode::kInvalidArgument, "W ", w, " does not fit C ", c,
            "; it must be [filters, 1, window, ", c[1], "]");
    require(s.window > 0 && s.window <= s.length, ErrorCode::kInvalidArgument, "the window of ", s.window,
            " characters does not fit words of ", s.length);
    require(context.input(2).element_count() == s.filters, ErrorCode::kInvalidArgument, "B has shape ",
            context.input(2).shape(), "; it needs one value for each of the ", s.filters, " filters");
    return s;
  }

  /** How many characters of each word count: the positive ones, at least a window; 0 where the first is none. */
  static std::vector<int64_t> word_lengths(const Tensor& words, const Sizes& s) {
    std::vector<int64_t> lengths(static_cast<size_t>(s.words));
    const int32_t* ids = words.data<int32_t>();
    for (int64_t& length : lengths) {
      if (ids[0] > 0)
        length = std::max<int64_t>(std::count_if(ids, ids + s.length, [](int32_t id) { return id > 0; }), s.window);
      ids += s.length;
    }
    return lengths;
  }

  static const float* embed(KernelContext& context, const Sizes& s, const std::vector<int64_t>& lengths) {
    const int32_t* ids = context.input(0).data<int32_t>();
    const float* table = read_input<float>(context, 3);
    float* rows = context.scratch<float>(checked_mul(checked_mul(s.words, s.length), s.size)).data();
    for (int64_t w = 0; w < s.words; ++w) {
      int64_t used = lengths[static_cast<size_t>(w)];
      for (int64_t i = w * s.length; i < w * s.length + used; ++i) {
        require(ids[i] >= 0 && ids[i] < s.characters, ErrorCode::kInvalidArgument, "character ", ids[i], " of word ", w,
                " is outside the table of ", s.characters);
        std::copy_n(table + ids[i] * s.size, s.size, rows + i * s.size);
      }
      std::fill_n(rows + (w * s.length + used) * s.size, (s.length - used) * s.size, 0.0f);
    }
    return rows;
  }

  void multiply(KernelContext& context, const Sizes& s, int64_t rows, const float* characters, float* sums) const {
    kernels::Epilogue epilogue;
    epilogue.bias = read_input<float>(context, 2);
    epilogue.bias_kind = kernels::BiasKind::kColumn;
    int64_t k = s.window * s.size;
    if (packed_) {
      kernels::gemm(&context.threads(), rows, characters, s.size, false, *packed_, sums, s.filters, epilogue);
    } else {
      kernels::gemm(&context.threads(), rows, s.filters, k, characters, s.size, false, read_input<float>(context, 1), k,
                    true, sums, s.filters, epilogue);
    }
  }

  /** tanh of the greatest sums of a word's windows: tanh keeps their order. A word of no characters gives zeros. */
  static void pool(const Sizes& s, int64_t length, const float* sums, float* y) {
    if (length == 0) {
      std::fill_n(y, s.filters, 0.0f);
      return;
    }
    std::copy_n(sums, s.filters, y);
    for (int64_t i = 1; i <= length - s.window; ++i) {
      kernels::binary(kernels::BinaryOp::kMax, y, sums + i * s.filters, y, s.filters);
    }
    kernels::unary({kernels::UnaryOp::kTanh}, y, y, s.filters);
  }

  std::shared_ptr<const kernels::PackedMatrix> packed_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft",
     "WordConvEmbedding",
     1,
     kLatest,
     make_kernel<WordConvEmbedding>,
     {{1, kHalfTypes | ElementType::kFloat}}},
};

}  // namespace

extern const KernelTable word_conv_embedding_rows;
const KernelTable word_conv_embedding_rows(kRows);
}  // namespace ortolan::cpu::microsoft
