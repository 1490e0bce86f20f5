// Packing of narrow weights, and the order that groups of elements ask for.
#include "cpu/quantised/nbits_weights.h"

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/products/packed_form.h"

namespace ortolan::cpu {
namespace {

constexpr int64_t kLargest = int64_t{1} << 40;

/** Shape `rows` x `columns`, or all of it in one dimension. */
void require_rows(const Tensor& tensor, const char* what, int64_t rows, int64_t columns) {
  const Shape& shape = tensor.shape();
  bool fits = shape == Shape{rows, columns} || shape == Shape{rows * columns};
  require(fits, ErrorCode::kInvalidArgument, what, " has shape ", shape, "; it needs [", rows, ",", columns, "] or [",
          rows * columns, "]");
}

void check_tensors(const NBitsFormat& f, const NBitsTensors& t) {
  Shape wanted{f.n, f.blocks(), f.block * f.bits / 8};
  require(t.data->shape() == wanted, ErrorCode::kInvalidArgument, "B has shape ", t.data->shape(), "; ", f.n,
          " columns of ", f.k, " elements of ", f.bits, " bits in blocks of ", f.block, " need ", wanted);
  require_rows(*t.scales, "scales", f.n, f.blocks());
  if (t.zeros && t.zeros->type() == ElementType::kUInt8) {
    require_rows(*t.zeros, "zero_points", f.n, (f.blocks() * f.bits + 7) / 8);
  } else if (t.zeros) {
    require_rows(*t.zeros, "zero_points", f.n, f.blocks());
  }
  if (!t.groups) return;
  const Shape& groups = t.groups->shape();
  require(groups == Shape{f.k} || groups == Shape{f.blocks() * f.block}, ErrorCode::kInvalidArgument,
          "g_idx has shape ", groups, "; it needs [", f.k, "]");
  for (int64_t i = 0; i < f.k; ++i) {
    int32_t group = t.groups->data<int32_t>()[i];
    require(group >= 0 && group < f.blocks(), ErrorCode::kInvalidArgument, "g_idx[", i, "] is ", group,
            ", outside [0, ", f.blocks() - 1, "]");
  }
}

/** Elements of the same group side by side, each group filled up to whole blocks with -1; and the group of each block.
 */
struct GroupedOrder {
  std::vector<int32_t> elements, blocks;
  GroupedOrder(const NBitsFormat& f, const int32_t* groups) {
    std::vector<std::vector<int32_t>> members(static_cast<size_t>(f.blocks()));
    for (int64_t i = 0; i < f.k; ++i) members[groups[i]].push_back(static_cast<int32_t>(i));
    for (size_t g = 0; g < members.size(); ++g) {
      elements.insert(elements.end(), members[g].begin(), members[g].end());
      size_t whole = (elements.size() + f.block - 1) / f.block * f.block;
      elements.resize(whole, -1);
      blocks.resize(whole / f.block, static_cast<int32_t>(g));
    }
  }
};

std::vector<uint8_t> reorder_rows(const NBitsFormat& f, const uint8_t* data, const std::vector<int32_t>& order) {
  int64_t per_byte = 8 / f.bits, bytes = static_cast<int64_t>(order.size()) / per_byte;
  std::vector<uint8_t> result(static_cast<size_t>(f.n * bytes));
  base::TerminatePoll poll;
  for (int64_t n = 0; n < f.n; ++n) {
    poll.work(2 * std::ssize(order));
    const uint8_t* row = data + n * f.row_bytes();
    uint8_t* to = result.data() + n * bytes;
    for (size_t i = 0; i < order.size(); ++i) {
      int64_t k = order[i];
      if (k < 0) continue;
      int q = row[k / per_byte] >> (k % per_byte * f.bits) & ((1 << f.bits) - 1);
      to[i / per_byte] = static_cast<uint8_t>(to[i / per_byte] | q << (i % per_byte * f.bits));
    }
  }
  return result;
}

/** values[n][blocks] with the blocks chosen in that order. */
template <class T>
std::vector<T> choose_blocks(const NBitsFormat& f, const T* values, const std::vector<int32_t>& blocks) {
  std::vector<T> result;
  if (!values) return result;
  base::TerminatePoll poll;
  for (int64_t n = 0; n < f.n; ++n) {
    poll.work(std::ssize(blocks));
    for (int32_t b : blocks) result.push_back(values[n * f.blocks() + b]);
  }
  return result;
}

/** Where the elements of that format lie. */
kernels::NBitsSource elements_of(const NBitsFormat& f, const Tensor& data) {
  kernels::NBitsSource source{f.bits, f.n, f.k, f.block};
  source.data = static_cast<const uint8_t*>(data.raw()), source.row_bytes = f.row_bytes();
  return source;
}

std::shared_ptr<const kernels::AlignedBuffer> shared_words(const KernelInfo& info, const Tensor& data,
                                                           const NBitsFormat& format) {
  auto pack = [](ThreadPool& threads, const Tensor& elements, const NBitsFormat& f) {
    return std::move(*kernels::pack_nbits_words(&threads, elements_of(f, elements)));
  };
  return pack_once(info, data, "nbits", pack, format);
}

}  // namespace

void check_format(const NBitsFormat& f) {
  require(f.bits == 2 || f.bits == 4 || f.bits == 8, ErrorCode::kInvalidGraph, "bits is ", f.bits,
          "; it must be 2, 4 or 8");
  require(f.block >= 16 && (f.block & (f.block - 1)) == 0, ErrorCode::kInvalidGraph, "block_size is ", f.block,
          "; it must be a power of two and at least 16");
  bool sizes = f.n > 0 && f.k > 0 && f.n <= kLargest && f.k <= INT32_MAX && f.block <= INT32_MAX;
  require(sizes, ErrorCode::kInvalidGraph, "K is ", f.k, " and N is ", f.n,
          "; both must be positive and within what memory can hold");
}

std::vector<uint8_t> unpack_bytes(const uint8_t* data, int64_t rows, int64_t columns, int bits) {
  int64_t per_byte = 8 / bits, row_bytes = (columns + per_byte - 1) / per_byte;
  std::vector<uint8_t> result(static_cast<size_t>(rows * columns));
  base::TerminatePoll poll;
  for (int64_t r = 0; r < rows; ++r) {
    poll.work(columns);
    for (int64_t c = 0; c < columns; ++c) {
      int q = data[r * row_bytes + c / per_byte] >> (c % per_byte * bits) & ((1 << bits) - 1);
      result[r * columns + c] = static_cast<uint8_t>(q);
    }
  }
  return result;
}

NBitsOperand::NBitsOperand(ThreadPool& threads, const NBitsFormat& f, const NBitsTensors& t, const KernelInfo* info)
    : k_(f.k) {
  check_tensors(f, t);
  Tensor scales = to_float_tensor(*t.scales), zero_values;
  std::vector<uint8_t> zeros;
  kernels::NBitsSource source = elements_of(f, *t.data);
  source.scales = scales.data<float>();
  if (t.zeros && t.zeros->type() == ElementType::kUInt8) {
    zeros = unpack_bytes(static_cast<const uint8_t*>(t.zeros->raw()), f.n, f.blocks(), f.bits);
    source.zeros = zeros.data();
  } else if (t.zeros) {
    zero_values = to_float_tensor(*t.zeros);
    source.zero_values = zero_values.data<float>();
  }
  if (!t.groups) {
    matrix_ = kernels::pack_nbits(&threads, source, info ? shared_words(*info, *t.data, f) : nullptr);
    return;
  }
  GroupedOrder order(f, t.groups->data<int32_t>());
  std::vector<uint8_t> rows = reorder_rows(f, source.data, order.elements);
  std::vector<float> own_scales = choose_blocks(f, source.scales, order.blocks);
  std::vector<uint8_t> own_zeros = choose_blocks(f, source.zeros, order.blocks);
  std::vector<float> own_values = choose_blocks(f, source.zero_values, order.blocks);
  source.k = static_cast<int64_t>(order.elements.size());
  source.data = rows.data(), source.row_bytes = source.k * f.bits / 8, source.scales = own_scales.data();
  if (source.zeros) source.zeros = own_zeros.data();
  if (source.zero_values) source.zero_values = own_values.data();
  matrix_ = kernels::pack_nbits(&threads, source);
  order_ = std::move(order.elements);
}

void NBitsOperand::multiply(KernelContext& context, int64_t m, const float* a, const float* bias, bool bytes,
                            float* c) const {
  if (!order_.empty()) {
    auto count = static_cast<int64_t>(order_.size());
    float* gathered = context.scratch<float>(checked_mul(m, count)).data();
    base::TerminatePoll poll;
    for (int64_t r = 0; r < m; ++r) {
      poll.work(count);
      for (int64_t i = 0; i < count; ++i) gathered[r * count + i] = order_[i] < 0 ? 0 : a[r * k_ + order_[i]];
    }
    a = gathered;
  }
  kernels::matmul_nbits(&context.threads(), m, a, matrix_.k, matrix_, c, matrix_.n, bias, bytes);
}

}  // namespace ortolan::cpu
