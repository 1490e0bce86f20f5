// Feeds and the order of states.
#include "cpu/generation/feeds.h"

#include <cstring>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"

namespace ortolan::cpu::generation {

Tensor take_rows(KernelContext& context, const Tensor& source, size_t axis, std::span<const int32_t> rows) {
  int64_t have = source.shape()[axis], count = std::ssize(rows);
  bool same = have == count;
  for (int64_t i = 0; i < count && same; ++i) same = rows[i] == i;
  if (same) return source;
  require(bits_of(source.type()) >= 8, ErrorCode::kNotImplemented, "states of type ", name_of(source.type()),
          " cannot be put in another order");
  Shape shape = source.shape();
  shape[axis] = count;
  Tensor result(source.type(), shape, context.services().allocator);
  int64_t outer = shape.count_to(axis);
  auto bytes = static_cast<size_t>(shape.count_from(axis + 1) * (bits_of(source.type()) / 8));
  auto* from = static_cast<const char*>(source.raw());
  auto* to = static_cast<char*>(result.mutable_raw());
  if (bytes == 0) return result;
  const int64_t least = kernels::least_rows(static_cast<int64_t>(bytes), kernels::kMovedByteNs);
  context.threads().parallel_for(outer * count, least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t place = i / count * have + rows[i % count];
      std::memcpy(to + static_cast<size_t>(i) * bytes, from + static_cast<size_t>(place) * bytes, bytes);
    }
  });
  return result;
}

std::vector<int32_t> entries_of_rows(int64_t rows, int64_t copies) {
  std::vector<int32_t> entries(static_cast<size_t>(rows));
  for (int64_t i = 0; i < rows; ++i) entries[i] = static_cast<int32_t>(i / copies);
  return entries;
}

Tensor empty_state(KernelContext& context, const ops::GenerationLayout& layout, int64_t rows) {
  Shape shape = {rows, layout.heads.value(), 0, layout.head_size.value()};
  if (layout.is_gpt()) shape = {2, rows, layout.heads.value(), 0, layout.head_size.value()};
  return Tensor(layout.past_type, shape, context.services().allocator);
}

void require_state(const Tensor& state, const ops::GenerationLayout& layout, int64_t rows, size_t index) {
  const Shape& shape = state.shape();
  size_t skip = layout.is_gpt() ? 1 : 0;
  auto fits = [](int64_t dim, Dim wanted) { return !wanted.known() || wanted.is(dim); };
  bool good = state.type() == layout.past_type && shape.rank() == 4 + skip && (skip == 0 || shape[0] == 2) &&
              shape[skip] == rows && fits(shape[skip + 1], layout.heads) && fits(shape[skip + 3], layout.head_size);
  require(good, ErrorCode::kInvalidGraph, "state ", index, " that the graph gives is ", name_of(state.type()), shape,
          ", but for ", rows, " rows the decoder takes ", name_of(layout.past_type), skip ? "[2,rows," : "[rows,",
          "heads,length,size] as its inputs state them");
}

Tensor column(KernelContext& context, std::span<const int32_t> tokens) {
  Tensor result(ElementType::kInt32, Shape{std::ssize(tokens), 1}, context.services().allocator);
  std::ranges::copy(tokens, result.mutable_data<int32_t>());
  return result;
}

Tensor all_tokens(KernelContext& context, const Sequences& sequences) {
  int64_t length = sequences.length();
  Tensor result(ElementType::kInt32, Shape{sequences.rows(), length}, context.services().allocator);
  for (int64_t row = 0; row < sequences.rows(); ++row) {
    std::ranges::copy(sequences.row(row), result.mutable_data<int32_t>() + row * length);
  }
  return result;
}

}  // namespace ortolan::cpu::generation
