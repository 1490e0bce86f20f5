// com.microsoft.RotaryEmbedding and MRotaryEmbedding. Attribute scale has no effect (it is meant for caches made on the
// way, and these are given); with is_packed_batching the sequence may be longer than the caches, which is never refused
// here.
#include "cpu/attention/rotary.h"

#include <cstring>
#include <numeric>

#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

class RotaryEmbedding : public OpKernel {
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
    turn(context, g, caches, x, y);
  }

 protected:
  virtual void turn(KernelContext& context, const RotaryGeometry& g, const RotaryCaches& caches, const Tensor& x,
                    Tensor& y) const {
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

/** Makes caches of a row for each token, out of the rows of its three positions. */
class MRotaryEmbedding final : public RotaryEmbedding {
 public:
  explicit MRotaryEmbedding(const KernelInfo& info)
      : RotaryEmbedding(info),
        sections_(info.node().ints("mrope_section")),
        interleaved_sections_(info.node().int_or("mrope_layout", 0) == 1) {
    int64_t layout = info.node().int_or("mrope_layout", 0);
    require(layout == 0 || layout == 1, ErrorCode::kInvalidGraph, "mrope_layout is ", layout, "; it must be 0 or 1");
    require(sections_.size() == 3, ErrorCode::kInvalidGraph, "mrope_section has ", sections_.size(),
            " values; it needs three");
    for (int64_t section : sections_) {
      require(section >= 0 && section <= INT32_MAX, ErrorCode::kInvalidGraph, "mrope_section holds ", section,
              "; sections must not be negative");
    }
  }

 private:
  void turn(KernelContext& context, const RotaryGeometry& g, const RotaryCaches& caches, const Tensor& x,
            Tensor& y) const override {
    int64_t sum = sections_[0] + sections_[1] + sections_[2], tokens = g.batch * g.sequence;
    require(sum == g.pairs, ErrorCode::kInvalidArgument, "the sections have ", sum, " columns, the caches ", g.pairs);
    const Tensor& ids = context.input(1);
    require((ids.shape() == Shape{3, g.batch, g.sequence}), ErrorCode::kInvalidArgument, "position_ids has shape ",
            ids.shape(), "; it needs ", Shape{3, g.batch, g.sequence});
    for (int64_t id : ids.span<int64_t>()) {
      require(id >= 0 && id < caches.rows, ErrorCode::kInvalidArgument, "position ", id, " lies outside the ",
              caches.rows, " rows of cos_cache; positions must be within it");
    }
    int64_t size = bits_of(caches.type) / 8, bytes = checked_mul(checked_mul(tokens, g.pairs), size);
    char *cosine = context.scratch<char>(bytes).data(), *sine = context.scratch<char>(bytes).data();
    auto rows = context.scratch<int64_t>(tokens);
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<int> streams = streams_of(g.pairs);
    for (int64_t t = 0; t < tokens; ++t) {
      for (int64_t i = 0; i < g.pairs; ++i) {
        int64_t from = ids.data<int64_t>()[streams[static_cast<size_t>(i)] * tokens + t] * g.pairs + i;
        int64_t to = t * g.pairs + i;
        std::memcpy(cosine + to * size, static_cast<const char*>(caches.cosine) + from * size,
                    static_cast<size_t>(size));
        std::memcpy(sine + to * size, static_cast<const char*>(caches.sine) + from * size, static_cast<size_t>(size));
      }
    }
    rotate(&context.threads(), g, {cosine, sine, caches.type, tokens}, rows.data(), x.type(), x.raw(), y.mutable_raw());
  }

  /** Which of the three positions each column belongs to: sections one behind the other or, interleaved, every third
      column from 1 to height and from 2 to width, as far as their sections go. */
  std::vector<int> streams_of(int64_t pairs) const {
    std::vector<int> streams(static_cast<size_t>(pairs), 0);
    for (int64_t i = 0; i < pairs; ++i) {
      int stream = i < sections_[0] ? 0 : i < sections_[0] + sections_[1] ? 1 : 2;
      if (interleaved_sections_) stream = i < 3 * sections_[static_cast<size_t>(i % 3)] ? static_cast<int>(i % 3) : 0;
      streams[static_cast<size_t>(i)] = stream;
    }
    return streams;
  }

  std::vector<int64_t> sections_;
  bool interleaved_sections_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "MRotaryEmbedding", 1, kLatest, make_kernel<MRotaryEmbedding>, {}, Reuse::kInPlace},
    {"com.microsoft", "RotaryEmbedding", 1, kLatest, make_kernel<RotaryEmbedding>, {}, Reuse::kInPlace},
};

}  // namespace

extern const KernelTable rotary_embedding_rows;
constinit const KernelTable rotary_embedding_rows(kRows);

}  // namespace ortolan::cpu::microsoft
