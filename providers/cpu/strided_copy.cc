// Copies between two buffers that are walked with different strides.
#include "cpu/strided_copy.h"

#include <cstring>

#include "base/thread_pool.h"

namespace ortolan::cpu {
namespace {

constexpr int64_t kGrainBytes = 64 << 10;  // what one thread should move at least
constexpr int64_t kTile = 16;              // elements along each side of a tile of a transposition

/** Drops dimensions of one step and joins neighbours that both sides walk evenly. False when there is nothing. */
bool simplify(StridedWalk& walk) {
  size_t kept = 0;
  for (size_t i = 0; i < walk.sizes.size(); ++i) {
    int64_t size = walk.sizes[i], from = walk.from[i], to = walk.to[i];
    if (size <= 0) return false;
    if (size == 1) continue;
    bool even = kept > 0 && walk.from[kept - 1] == from * size && walk.to[kept - 1] == to * size;
    if (even) size *= walk.sizes[--kept];
    walk.sizes[kept] = size;
    walk.from[kept] = from;
    walk.to[kept++] = to;
  }
  walk.sizes.resize(kept);
  walk.from.resize(kept);
  walk.to.resize(kept);
  if (kept == 0) walk.add(1, 1, 1);
  return true;
}

/** Visits the outer dimensions [0, rank) one position after the other, keeping both offsets. */
class Odometer {
 public:
  Odometer(const StridedWalk& walk, size_t rank, int64_t position) : walk_(walk), at_(rank) {
    for (size_t i = rank; i-- > 0; position /= walk.sizes[i]) {
      at_[i] = position % walk.sizes[i];
      from += at_[i] * walk.from[i];
      to += at_[i] * walk.to[i];
    }
  }
  void next() {
    for (size_t i = at_.size(); i-- > 0;) {
      from += walk_.from[i];
      to += walk_.to[i];
      if (++at_[i] < walk_.sizes[i]) return;
      from -= walk_.from[i] * walk_.sizes[i];
      to -= walk_.to[i] * walk_.sizes[i];
      at_[i] = 0;
    }
  }
  int64_t from = 0, to = 0;

 private:
  const StridedWalk& walk_;
  Dims at_;
};

template <class E>
void copy_line(const E* from, int64_t from_step, E* to, int64_t to_step, int64_t count) {
  if (from_step == 1 && to_step == 1) {
    if constexpr (std::is_trivially_copyable_v<E>) {
      if (count * static_cast<int64_t>(sizeof(E)) >= 64) {
        std::memcpy(to, from, static_cast<size_t>(count) * sizeof(E));
        return;
      }
    }
    for (int64_t i = 0; i < count; ++i) to[i] = from[i];
  } else if (from_step == 0 && to_step == 1) {
    std::fill(to, to + count, *from);
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
  }
}

/** The elements [begin, end) of the walk, line by line. */
template <class E>
void copy_lines(const StridedWalk& walk, const E* from, E* to, int64_t begin, int64_t end) {
  size_t last = walk.sizes.size() - 1;
  int64_t length = walk.sizes[last];
  Odometer outer(walk, last, begin / length);
  for (int64_t at = begin % length, left = end - begin; left > 0; at = 0, outer.next()) {
    int64_t count = std::min(left, length - at);
    copy_line(from + outer.from + at * walk.from[last], walk.from[last], to + outer.to + at * walk.to[last],
              walk.to[last], count);
    left -= count;
  }
}

/** A rows × columns tile; the source runs on along rows, the target along columns. */
template <class E>
void transpose_tile(const E* from, int64_t from_stride, E* to, int64_t to_stride, int64_t rows, int64_t columns) {
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[r * to_stride + c] = from[c * from_stride + r];
  }
}

#if defined(__SSE2__)
/** Four by four: the inner step of transposing 32-bit elements. */
inline void transpose_4x4(const uint32_t* from, int64_t from_stride, uint32_t* to, int64_t to_stride) {
  using Four [[gnu::vector_size(16)]] = uint32_t;
  Four in[4];
  for (int i = 0; i < 4; ++i) std::memcpy(&in[i], from + i * from_stride, sizeof(Four));
  Four low01 = __builtin_shufflevector(in[0], in[1], 0, 4, 1, 5),
       low23 = __builtin_shufflevector(in[2], in[3], 0, 4, 1, 5);
  Four high01 = __builtin_shufflevector(in[0], in[1], 2, 6, 3, 7),
       high23 = __builtin_shufflevector(in[2], in[3], 2, 6, 3, 7);
  Four out[4] = {__builtin_shufflevector(low01, low23, 0, 1, 4, 5), __builtin_shufflevector(low01, low23, 2, 3, 6, 7),
                 __builtin_shufflevector(high01, high23, 0, 1, 4, 5),
                 __builtin_shufflevector(high01, high23, 2, 3, 6, 7)};
  for (int i = 0; i < 4; ++i) std::memcpy(to + i * to_stride, &out[i], sizeof(Four));
}

template <>
void transpose_tile<uint32_t>(const uint32_t* from, int64_t from_stride, uint32_t* to, int64_t to_stride, int64_t rows,
                              int64_t columns) {
  int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (int64_t r = 0; r < whole_rows; r += 4) {
    for (int64_t c = 0; c < whole_columns; c += 4) {
      transpose_4x4(from + c * from_stride + r, from_stride, to + r * to_stride + c, to_stride);
    }
  }
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = r < whole_rows ? whole_columns : 0; c < columns; ++c) {
      to[r * to_stride + c] = from[c * from_stride + r];
    }
  }
}
#endif

/** The second-to-last dimension is the source's fastest, the last one the target's: tiles keep both in the cache. */
template <class E>
void copy_transposed(ThreadPool& threads, const StridedWalk& walk, const E* from, E* to) {
  size_t last = walk.sizes.size() - 1;
  int64_t rows = walk.sizes[last - 1], columns = walk.sizes[last];
  int64_t strips = (rows + kTile - 1) / kTile, outer = 1;
  for (size_t i = 0; i + 2 < walk.sizes.size(); ++i) outer *= walk.sizes[i];
  int64_t strip_bytes = kTile * columns * static_cast<int64_t>(sizeof(E));
  threads.parallel_for(outer * strips, 1 + kGrainBytes / strip_bytes, [&](int64_t begin, int64_t end) {
    Odometer position(walk, last - 1, begin / strips);
    for (int64_t i = begin; i < end; ++i) {
      int64_t row = i % strips * kTile;
      const E* source = from + position.from + row;
      E* target = to + position.to + row * walk.to[last - 1];
      for (int64_t column = 0; column < columns; column += kTile) {
        transpose_tile(source + column * walk.from[last], walk.from[last], target + column, walk.to[last - 1],
                       std::min(kTile, rows - row), std::min(kTile, columns - column));
      }
      if (i % strips == strips - 1) position.next();
    }
  });
}

/** Puts the source's fastest dimension next to the last where that makes a transposition of it. */
bool is_transposition(StridedWalk& walk) {
  size_t rank = walk.sizes.size();
  if (rank < 2 || walk.to[rank - 1] != 1 || walk.from[rank - 1] == 1 || walk.from[rank - 1] == 0) return false;
  for (size_t i = 0; i + 1 < rank; ++i) {
    if (walk.from[i] != 1 || walk.sizes[i] < 4 || walk.sizes[rank - 1] < 4) continue;
    for (Dims* list : {&walk.sizes, &walk.from, &walk.to}) {
      std::rotate(list->begin() + i, list->begin() + i + 1, list->end() - 1);
    }
    return true;
  }
  return false;
}

template <class E>
void copy_walk(ThreadPool& threads, StridedWalk& walk, const E* from, E* to) {
  if (is_transposition(walk)) return copy_transposed(threads, walk, from, to);
  int64_t count = 1;
  for (int64_t size : walk.sizes) count *= size;
  threads.parallel_for(count, kGrainBytes / static_cast<int64_t>(sizeof(E)),
                       [&](int64_t begin, int64_t end) { copy_lines(walk, from, to, begin, end); });
}

}  // namespace

Dims row_strides(const Shape& shape) {
  Dims strides(shape.rank());
  uint64_t stride = 1;  // may wrap where there are no elements
  for (size_t i = shape.rank(); i-- > 0;) {
    strides[i] = static_cast<int64_t>(stride);
    stride *= static_cast<uint64_t>(std::max<int64_t>(shape[i], 1));
  }
  return strides;
}

void strided_copy(ThreadPool& threads, ElementType type, StridedWalk walk, const void* from, void* to) {
  if (!simplify(walk)) return;
  dispatch_moved(
      type, [&]<class E>(TypeTag<E>) { copy_walk(threads, walk, static_cast<const E*>(from), static_cast<E*>(to)); });
}

const void* element_at(ElementType type, const void* data, int64_t offset) {
  return static_cast<const char*>(data) + offset * (bits_of(type) / 8);
}

void* element_at(ElementType type, void* data, int64_t offset) {
  return static_cast<char*>(data) + offset * (bits_of(type) / 8);
}

Tensor widened(const Tensor& packed) {
  Tensor wide(ElementType::kInt8, packed.shape());
  auto codes = wide.mutable_span<int8_t>();
  for (size_t i = 0; i < codes.size(); ++i) {
    codes[i] = static_cast<int8_t>(unpack_element(packed.type(), packed.raw(), static_cast<int64_t>(i)));
  }
  return wide;
}

void pack_into(const Tensor& wide, Tensor& packed) {
  if (packed.byte_count() > 0) std::memset(packed.mutable_raw(), 0, packed.byte_count());
  auto codes = wide.span<int8_t>();
  for (size_t i = 0; i < codes.size(); ++i) {
    pack_element(packed.type(), packed.mutable_raw(), static_cast<int64_t>(i), codes[i]);
  }
}

}  // namespace ortolan::cpu
