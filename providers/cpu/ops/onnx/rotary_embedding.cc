// RotaryEmbedding: one row of the caches for each token, or rows that position_ids names.
#include "cpu/attention/rotary.h"

#include <numeric>

#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

class RotaryEmbedding final : public OpKernel {
 public:
  explicit RotaryEmbedding(const KernelInfo& info)
      : heads_(info.node().int_or("num_heads", 0)),
        turned_(info.node().int_or("rotary_embedding_dim", 0)),
        interleaved_(info.node().int_or("interleaved", 0) != 0) {
    require(turned_ >= 0 && turned_ % 2 == 0, ErrorCode::kInvalidGraph, "rotary_embedding_dim is ", turned_,
            "; it must be even and not negative");
  }

  void compute(KernelContext& context) const override {
    const Tensor &x = context.input(0), &cosine = context.input(1), &sine = context.input(2);
    Tensor& y = context.output(0);
    const Shape& cache = cosine.shape();
    require(cache == sine.shape(), ErrorCode::kInvalidArgument, "cos_cache has shape ", cache, ", sin_cache ",
            sine.shape(), "; they must be equal");
    const Tensor* ids = context.input_if(3);
    require(cache.rank() == (ids ? 2u : 3u), ErrorCode::kInvalidArgument, "cos_cache has shape ", cache,
            "; it needs rank 2 with position_ids and 3 without");
    RotaryGeometry g = rotary_geometry(x.shape(), heads_, cache[cache.rank() - 1], interleaved_);
    int64_t wanted = turned_ ? turned_ : g.head_size;
    require(wanted == 2 * g.pairs, ErrorCode::kInvalidArgument, "caches of shape ", cache, " turn ", 2 * g.pairs,
            " elements of a head; ", wanted, " are to be turned");
    Shape tokens{g.batch, g.sequence};
    const Shape& given = ids ? ids->shape() : cache;
    require(given.rank() >= 2 && given[0] == g.batch && given[1] == g.sequence, ErrorCode::kInvalidArgument,
            ids ? "position_ids has shape " : "cos_cache has shape ", given, "; it must begin with ", tokens);
    RotaryCaches caches{cosine.raw(), sine.raw(), cosine.type(), cache.count_to(cache.rank() - 1)};
    rotate(&context.threads(), g, caches, rows(context, ids, tokens), x.type(), x.raw(), y.mutable_raw());
  }

 private:
  static const int64_t* rows(KernelContext& context, const Tensor* ids, const Shape& tokens) {
    if (ids) return ids->data<int64_t>();
    auto each = context.scratch<int64_t>(tokens.element_count());
    std::iota(each.begin(), each.end(), int64_t{0});
    return each.data();
  }

  int64_t heads_, turned_;
  bool interleaved_;
};

constexpr KernelRow kRows[] = {
    {"", "RotaryEmbedding", 23, kLatest, make_kernel<RotaryEmbedding>, {}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable rotary_embedding_rows;
constinit const KernelTable rotary_embedding_rows(kRows);

}  // namespace ortolan::cpu::onnx
