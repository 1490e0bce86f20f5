// com.microsoft.SparseAttention: grouped attention over the blocks of keys that a layout in compressed rows names.
#include <algorithm>
#include <limits>

#include "cpu/attention/attention_inputs.h"
#include "cpu/attention/grouped_attention.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

enum Input : size_t { kPastKey = 3, kRowIndices = 5, kColumnIndices, kTotal, kLengths, kCosines, kSines };

/** The layouts, one for heads h with h % count == its number. Indices are checked where they are used. */
struct Layouts {
  const int32_t *rows, *columns;
  int64_t count, blocks, most_columns, block_size;

  /** Takes all keys but those of named blocks away from a query at `position`. */
  void apply(int64_t head, int64_t position, int64_t first, std::span<float> scores) const;
};

void Layouts::apply(int64_t head, int64_t position, int64_t first, std::span<float> scores) const {
  int64_t layout = head % count, row = position / block_size;
  if (row >= blocks) return;
  const int32_t* ends = rows + layout * (blocks + 1) + row;
  int64_t begin = std::clamp<int64_t>(ends[0], 0, most_columns), end = std::clamp<int64_t>(ends[1], 0, most_columns);
  if (end - begin == row + 1) return;  // all blocks up to the query's
  int64_t last = first + static_cast<int64_t>(scores.size());
  for (int64_t block = first / block_size; block * block_size < last; ++block) {
    const int32_t* named = columns + layout * most_columns;
    if (begin < end && std::find(named + begin, named + end, block) != named + end) continue;
    int64_t low = std::max(block * block_size, first), high = std::min((block + 1) * block_size, last);
    std::fill(scores.begin() + (low - first), scores.begin() + (high - first), -std::numeric_limits<float>::infinity());
  }
}

class SparseAttention final : public OpKernel {
 public:
  explicit SparseAttention(const KernelInfo& info)
      : attributes_(info.node()), block_size_(info.node().int_of("sparse_block_size")) {
    require(info.input_type(0).element != ElementType::kDouble, ErrorCode::kNotImplemented,
            "SparseAttention of double is not supported; use float");
  }
  void compute(KernelContext& context) const override;

 private:
  Layouts layouts(const KernelContext& context, int64_t heads, int64_t total) const;

  GroupedAttributes attributes_;
  int64_t block_size_;
};

Layouts SparseAttention::layouts(const KernelContext& context, int64_t heads, int64_t total) const {
  const Tensor &rows = context.input(kRowIndices), &columns = context.input(kColumnIndices);
  const Shape &r = rows.shape(), &c = columns.shape();
  bool fits = r.rank() == 2 && c.rank() == 2 && r[0] > 0 && r[0] == c[0] && r[1] > 1 && heads % r[0] == 0;
  require(fits, ErrorCode::kInvalidArgument, "block_row_indices and block_col_indices have shapes ", r, " and ", c,
          "; they need [layouts,blocks+1] and [layouts,most], with layouts that divide ", heads, " heads");
  require(total <= checked_mul(r[1] - 1, block_size_), ErrorCode::kInvalidArgument, "total_sequence_length is ", total,
          ", but the layouts have ", r[1] - 1, " blocks of ", block_size_, " keys");
  return {rows.data<int32_t>(), columns.data<int32_t>(), r[0], r[1] - 1, c[1], block_size_};
}

void SparseAttention::compute(KernelContext& context) const {
  AttentionPlan p = grouped_plan(context, attributes_);
  require(p.keys == p.queries, ErrorCode::kInvalidArgument, "the key has ", p.keys,
          " rows; it needs those of the query, ", p.queries);
  int64_t room = context.input(kPastKey).shape()[2];
  int64_t total = int32_scalar(context.input(kTotal), "total_sequence_length");
  require(total >= p.queries && total <= room, ErrorCode::kInvalidArgument, "total_sequence_length is ", total,
          "; with ", p.queries, " new rows and a cache of ", room, " it must be ", p.queries, " to ", room);
  Layouts layouts = this->layouts(context, p.heads, total);
  bool first = total == p.queries;
  GroupedLengths lengths =
      grouped_lengths(context, context.input(kLengths), 0, p.queries, total, first, "key_total_sequence_lengths");
  if (attributes_.rotary) {
    auto positions = context.scratch<int64_t>(checked_mul(p.batch, p.queries));
    for (size_t n = 0; n < positions.size(); ++n) {
      positions[n] = lengths.past[n / p.queries] + static_cast<int64_t>(n) % p.queries;
    }
    turn(context, p, attributes_, context.input_if(kCosines), context.input_if(kSines), positions.data());
  }
  GroupedCache cache;
  cache.capacity = room, cache.keys = total;
  join_grouped_cache(context, p, lengths, cache);
  p.positions = lengths.past.data(), p.lengths = lengths.total.data();
  p.right = 0;
  auto keep_blocks = [&](int64_t batch, int64_t head, int64_t query, int64_t begin, std::span<float> scores) {
    layouts.apply(head, lengths.past[batch] + query, begin, scores);
  };
  EditScores<float> edit(keep_blocks);
  p.edit = &edit;
  Tensor& y = context.output(0);
  p.out = rows_by_position(y.raw(), y.type(), p.heads, p.queries, p.head);
  attend(context, p);
}

constexpr KernelRow kRows[] = {{"com.microsoft",
                                "SparseAttention",
                                1,
                                kLatest,
                                make_kernel<SparseAttention>,
                                {{0, kHalfTypes | ElementType::kFloat}}}};

}  // namespace

extern const KernelTable sparse_attention_rows;
constinit const KernelTable sparse_attention_rows(kRows);

}  // namespace ortolan::cpu::microsoft
