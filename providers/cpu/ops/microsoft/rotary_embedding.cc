// com.microsoft.RotaryEmbedding. Attribute scale has no effect (it is meant for caches made on the way, and these are
// given); with is_packed_batching the sequence may be longer than the caches, which is never refused here.
#include "cpu/rotary.h"

#include <numeric>

#include "runtime/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

class RotaryEmbedding final : public OpKernel {
 public:
  explicit RotaryEmbedding(const KernelInfo& info)
      : heads_(info.node().int_or("num_heads", 0)),
        turned_(info.node().int_or("rotary_embedding_dim", 0)),
        interleaved_(info.node().int_or("interleaved", 0) != 0) {
    require(heads_ >= 0 && turned_ >= 0 && turned_ % 2 == 0, ErrorCode::kInvalidGraph, "num_heads is ", heads_,
            " and rotary_embedding_dim ", turned_, "; neither may be negative, and the second must be even");
  }

  void compute(KernelContext& context) const override {
    const Tensor &x = context.input(0), &cosine = context.input(2), &sine = context.input(3);
    Tensor& y = context.output(0);
    const Shape& cache = cosine.shape();
    require(cache.rank() == 2 && cache == sine.shape(), ErrorCode::kInvalidArgument, "cos_cache has shape ", cache,
            ", sin_cache ", sine.shape(), "; they must be equal, of rank 2");
    RotaryGeometry g = rotary_geometry(x.shape(), heads_of(x.shape(), cache[1]), cache[1], interleaved_);
    int64_t wanted = turned_ ? turned_ : g.head_size;
    require(wanted == 2 * g.pairs, ErrorCode::kInvalidArgument, "caches of shape ", cache, " turn ", 2 * g.pairs,
            " elements of a head; ", wanted, " are to be turned");
    RotaryCaches caches{cosine.raw(), sine.raw(), cosine.type(), cache[0]};
    rotate(&context.threads(), g, caches, rows(context, g), x.type(), x.raw(), y.mutable_raw());
  }

 private:
  /** Without num_heads, the caches say how long a head is. */
  int64_t heads_of(const Shape& x, int64_t pairs) const {
    if (heads_ > 0 || x.rank() != 3) return heads_;
    return pairs > 0 ? x[2] / (2 * pairs) : 0;
  }

  static const int64_t* rows(KernelContext& context, const RotaryGeometry& g) {
    const Tensor& ids = context.input(1);
    Shape tokens{g.batch, g.sequence};
    if (ids.shape() == tokens) return ids.data<int64_t>();
    require(ids.rank() < 2 && ids.element_count() == 1, ErrorCode::kInvalidArgument, "position_ids has shape ",
            ids.shape(), "; it needs one element or shape ", tokens);
    int64_t first = ids.data<int64_t>()[0];
    require(first >= 0 && first <= INT64_MAX - g.sequence, ErrorCode::kInvalidArgument, "the first position is ", first,
            "; it must not be negative");
    auto each = context.scratch<int64_t>(tokens.element_count());
    for (int64_t b = 0; b < g.batch; ++b) {
      std::iota(each.begin() + b * g.sequence, each.begin() + (b + 1) * g.sequence, first);
    }
    return each.data();
  }

  int64_t heads_, turned_;
  bool interleaved_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "RotaryEmbedding", 1, kLatest, make_kernel<RotaryEmbedding>, {}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable rotary_embedding_rows;
constinit const KernelTable rotary_embedding_rows(kRows);

}  // namespace ortolan::cpu::microsoft
