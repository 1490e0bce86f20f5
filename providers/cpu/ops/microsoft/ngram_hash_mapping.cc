// NGramHashMapping: products wrap around in the tensors' own type.
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

class NGramHashMapping final : public OpKernel {
 public:
  explicit NGramHashMapping(const KernelInfo& info)
      : most_(info.node().int_of("max_ngram_size")),
        heads_(info.node().int_of("n_head_per_ngram")),
        pad_(info.node().int_of("pad_id")) {}

  void compute(KernelContext& context) const override {
    if (context.input(0).type() == ElementType::kInt32) return run<int32_t>(context);
    run<int64_t>(context);
  }

 private:
  template <class T>
  void run(KernelContext& context) const {
    const Tensor& ids = context.input(0);
    const Shape& shape = ids.shape();
    const Tensor& sizes = context.input(2);
    require(shape.rank() == 2, ErrorCode::kInvalidArgument, "input_ids has shape ", shape, "; it needs rank 2");
    require_shape(context.input(1), Shape{most_}, "multipliers");
    require_shape(sizes, Shape{(most_ - 1) * heads_}, "vocab_sizes");
    for (T size : sizes.span<T>()) {
      require(size > 0, ErrorCode::kInvalidArgument, "vocab_sizes holds ", size, "; sizes must be positive");
    }
    int64_t batch = shape[0], tokens = shape[1], carried = most_ - 1, width = carried + tokens;
    std::span<T> whole = with_history<T>(context, batch, tokens);
    T* hashes = context.output(0).mutable_data<T>();
    const T *factors = context.input(1).data<T>(), *limits = sizes.data<T>();
    const int64_t least = kernels::least_rows(carried * heads_, kernels::kScalarNs);
    context.threads().parallel_for(batch * tokens, least, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const T* token = whole.data() + i / tokens * width + carried + i % tokens;
        hash(token, factors, limits, hashes + i * carried * heads_);
      }
    });
    if (!context.has_output(1)) return;
    T* present = context.output(1).mutable_data<T>();
    for (int64_t b = 0; b < batch; ++b) std::copy_n(whole.data() + b * width + tokens, carried, present + b * carried);
  }

  /** The tokens of each sequence behind the ones that came before. */
  template <class T>
  std::span<T> with_history(KernelContext& context, int64_t batch, int64_t tokens) const {
    int64_t carried = most_ - 1, width = checked_add(carried, tokens);
    const Tensor* past = context.input_if(3);
    if (past) require_shape(*past, Shape{batch, carried}, "past_ids");
    std::span<T> whole = context.scratch<T>(checked_mul(batch, width));
    for (int64_t b = 0; b < batch; ++b) {
      T* row = whole.data() + b * width;
      std::fill_n(row, carried, static_cast<T>(pad_));
      if (past) std::copy_n(past->data<T>() + b * carried, carried, row);
      std::copy_n(context.input(0).data<T>() + b * tokens, tokens, row + carried);
    }
    return whole;
  }

  template <class T>
  void hash(const T* token, const T* factors, const T* limits, T* to) const {
    using Word = std::make_unsigned_t<T>;
    auto mixed = static_cast<Word>(static_cast<Word>(token[0]) * static_cast<Word>(factors[0]));
    for (int64_t n = 1; n < most_; ++n) {
      mixed ^= static_cast<Word>(static_cast<Word>(token[-n]) * static_cast<Word>(factors[n]));
      for (int64_t h = 0; h < heads_; ++h) {
        T rest = static_cast<T>(static_cast<T>(mixed) % *limits);
        *to++ = rest < 0 ? static_cast<T>(rest + *limits) : rest;
        ++limits;
      }
    }
  }

  static void require_shape(const Tensor& tensor, const Shape& wanted, const char* what) {
    require(tensor.shape() == wanted, ErrorCode::kInvalidArgument, what, " has shape ", tensor.shape(), "; it needs ",
            wanted);
  }

  int64_t most_, heads_, pad_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "NGramHashMapping", 1, kLatest, make_kernel<NGramHashMapping>},
};

}  // namespace

extern const KernelTable ngram_hash_mapping_rows;
constinit const KernelTable ngram_hash_mapping_rows(kRows);
}  // namespace ortolan::cpu::microsoft
