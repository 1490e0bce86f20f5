// Transposition and strided copies: axes are merged first, then the innermost two decide how elements move.
#include "cpu/kernels/layout/transpose.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/layout/move_kernels.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kLeastBytes = least_items(kMovedByteNs);
constexpr int64_t kTile = 32;

struct Axis {
  int64_t size, from, to;  // strides in bytes
};

// A copy as a nest of axes, outermost first. Axes of size 1 are gone; neighbours that step alike are one.
struct Nest {
  Axis axes[kMaxCopyRank + 1];
  int rank = 0;

  void add(Axis axis) {
    if (axis.size == 1) return;
    if (rank > 0) {
      Axis& outer = axes[rank - 1];
      if (outer.from == axis.from * axis.size && outer.to == axis.to * axis.size) {
        outer = {outer.size * axis.size, axis.from, axis.to};
        return;
      }
    }
    axes[rank++] = axis;
  }
};

/** Where the planes of a nest begin, one after the other; the first `rank` axes count them. */
class Walk {
 public:
  Walk(const Nest& nest, int rank, int64_t first) : nest_(nest), rank_(rank) {
    for (int i = rank - 1; i >= 0; --i) {
      index_[i] = first % nest.axes[i].size;
      first /= nest.axes[i].size;
      from += index_[i] * nest.axes[i].from;
      to += index_[i] * nest.axes[i].to;
    }
  }

  void step() {
    for (int i = rank_ - 1; i >= 0; --i) {
      const Axis& axis = nest_.axes[i];
      from += axis.from;
      to += axis.to;
      if (++index_[i] < axis.size) return;
      index_[i] = 0;
      from -= axis.size * axis.from;
      to -= axis.size * axis.to;
    }
  }

  int64_t from = 0, to = 0;

 private:
  const Nest& nest_;
  int rank_;
  int64_t index_[kMaxCopyRank + 1];
};

template <int kBytes>
struct Bytes {
  char bytes[kBytes];
};

template <class T>
void copy_row(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t count) {
  if (from_step == 0 && to_step == sizeof(T)) {
    T value;
    std::memcpy(&value, from, sizeof(T));
    for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * sizeof(T), &value, sizeof(T));
    return;
  }
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * from_step, sizeof(T));
    std::memcpy(to + i * to_step, &value, sizeof(T));
  }
}

// A plane of rows x columns elements in small squares, so that both sides stay in the first-level cache.
template <class T>
void copy_plane(const char* from, const Axis& rows, const Axis& columns, char* to) {
  for (int64_t r = 0; r < rows.size; r += kTile) {
    const int64_t r_end = std::min(rows.size, r + kTile);
    for (int64_t c = 0; c < columns.size; c += kTile) {
      const int64_t count = std::min(kTile, columns.size - c);
      for (int64_t i = r; i < r_end; ++i) {
        copy_row<T>(from + i * rows.from + c * columns.from, columns.from, to + i * rows.to + c * columns.to,
                    columns.to, count);
      }
    }
  }
}

void copy_plane_bytes(const char* from, const Axis& rows, const Axis& columns, char* to, int64_t size) {
  for (int64_t r = 0; r < rows.size; ++r) {
    for (int64_t c = 0; c < columns.size; ++c) {
      std::memcpy(to + r * rows.to + c * columns.to, from + r * rows.from + c * columns.from, size);
    }
  }
}

/** Rows of sizeof(Part) to 2*sizeof(Part) bytes: the first and the last part, which may overlap. */
template <class Part>
void copy_short_rows(const char* from, const Axis& rows, char* to, int64_t bytes) {
  const int64_t second = bytes - static_cast<int64_t>(sizeof(Part));
  for (int64_t r = 0; r < rows.size; ++r, from += rows.from, to += rows.to) {
    Part first, last;
    std::memcpy(&first, from, sizeof(Part));
    std::memcpy(&last, from + second, sizeof(Part));
    std::memcpy(to, &first, sizeof(Part));
    std::memcpy(to + second, &last, sizeof(Part));
  }
}

void copy_rows(const char* from, const Axis& rows, char* to, int64_t bytes) {
  if (bytes == 1) return copy_short_rows<Bytes<1>>(from, rows, to, bytes);
  if (bytes < 4) return copy_short_rows<Bytes<2>>(from, rows, to, bytes);
  if (bytes < 8) return copy_short_rows<Bytes<4>>(from, rows, to, bytes);
  if (bytes < 16) return copy_short_rows<Bytes<8>>(from, rows, to, bytes);
  if (bytes < 32) return copy_short_rows<Bytes<16>>(from, rows, to, bytes);
  if (bytes < 64) return copy_short_rows<Bytes<32>>(from, rows, to, bytes);
  if (bytes <= 128) return copy_short_rows<Bytes<64>>(from, rows, to, bytes);
  for (int64_t r = 0; r < rows.size; ++r) std::memcpy(to + r * rows.to, from + r * rows.from, bytes);
}

/** The kernel of a plane that is a plain transposition, if there is one. */
TransposePlane transposition(const Axis& rows, const Axis& columns, int64_t size) {
  const bool plain = rows.from == size && columns.to == size && rows.to > 0 && columns.from > 0;
  if (!plain) return nullptr;
  for (int log = 0; log < 4; ++log) {
    if (size == int64_t{1} << log) return kernels().move->transpose[log];
  }
  return nullptr;
}

void copy_inner(const char* from, const Axis& rows, const Axis& columns, char* to, int64_t size) {
  if (columns.from == size && columns.to == size) return copy_rows(from, rows, to, columns.size * size);
  if (const TransposePlane transpose = transposition(rows, columns, size)) {
    return transpose(from, columns.from / size, columns.size, rows.size, to, rows.to / size);
  }
  switch (size) {
    case 1:
      return copy_plane<uint8_t>(from, rows, columns, to);
    case 2:
      return copy_plane<uint16_t>(from, rows, columns, to);
    case 4:
      return copy_plane<uint32_t>(from, rows, columns, to);
    case 8:
      return copy_plane<uint64_t>(from, rows, columns, to);
    case 16:
      return copy_plane<Bytes<16>>(from, rows, columns, to);
    default:
      return copy_plane_bytes(from, rows, columns, to, size);
  }
}

// Chooses the row axis among those outside the innermost: the one that is contiguous on the other side, if any.
void choose_rows(Nest& nest, int64_t size) {
  const Axis& columns = nest.axes[nest.rank - 1];
  const bool to_side = columns.to == size;
  int chosen = nest.rank - 2;
  for (int i = 0; i < nest.rank - 1; ++i) {
    if ((to_side ? nest.axes[i].from : nest.axes[i].to) == size) chosen = i;
  }
  const Axis rows = nest.axes[chosen];
  for (int i = chosen; i < nest.rank - 2; ++i) nest.axes[i] = nest.axes[i + 1];
  nest.axes[nest.rank - 2] = rows;
}

/** What one thread takes at a time: a band of the rows of a plane or, where they are few and long, of their columns. */
struct Bands {
  Axis rows, columns;
  bool across = false;
  int64_t count = 1;

  Bands(const Axis& plane_rows, const Axis& plane_columns, int64_t size) : rows(plane_rows), columns(plane_columns) {
    const int64_t pieces = rows.size * columns.size * size / kLeastBytes;
    across = rows.size < kTile && columns.size > rows.size;
    count = std::max<int64_t>(1, std::min((across ? columns : rows).size / kTile, pieces));
  }

  void copy(int64_t band, const char* from, char* to, int64_t size) const {
    const Axis& cut = across ? columns : rows;
    const int64_t first = cut.size * band / count, length = cut.size * (band + 1) / count - first;
    const Axis part{length, cut.from, cut.to};
    copy_inner(from + first * cut.from, across ? rows : part, across ? part : columns, to + first * cut.to, size);
  }
};

void run(base::ThreadPool* pool, Nest& nest, int64_t size, const char* from, char* to) {
  while (nest.rank < 2) {
    for (int i = nest.rank; i > 0; --i) nest.axes[i] = nest.axes[i - 1];
    nest.axes[0] = nest.rank == 0 ? Axis{1, size, size} : Axis{1, 0, 0};
    ++nest.rank;
  }
  choose_rows(nest, size);
  const Bands bands(nest.axes[nest.rank - 2], nest.axes[nest.rank - 1], size);
  int64_t pieces = bands.count;
  for (int i = 0; i < nest.rank - 2; ++i) pieces *= nest.axes[i].size;
  const int64_t bytes = std::max<int64_t>(1, bands.rows.size * bands.columns.size * size / bands.count);
  base::parallel_for(pool, pieces, least_rows(bytes, kMovedByteNs), [&](int64_t begin, int64_t end) {
    Walk walk(nest, nest.rank - 2, begin / bands.count);
    int64_t band = begin % bands.count;
    for (int64_t piece = begin; piece < end; ++piece) {
      bands.copy(band, from + walk.from, to + walk.to, size);
      if (++band < bands.count) continue;
      band = 0;
      walk.step();
    }
  });
}

template <int64_t kTimes, class T>
void repeat_row(const T* x, int64_t count, int64_t times, T* y) {
  const int64_t n = kTimes != 0 ? kTimes : times;
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t r = 0; r < n; ++r) y[i * n + r] = x[i];
  }
}

/** Each element twice, in two rows. */
template <class T>
void double_row(const T* __restrict x, int64_t count, T* __restrict y, T* __restrict z) {
  for (int64_t i = 0; i < count; ++i) y[2 * i] = y[2 * i + 1] = z[2 * i] = z[2 * i + 1] = x[i];
}

template <class T>
void repeat(const Repetition& r, const void* from, int64_t begin, int64_t end, void* to) {
  const int64_t length = r.columns * r.column_times;
  for (int64_t row = begin; row < end; ++row) {
    const T* x = static_cast<const T*>(from) + row * r.columns;
    T* y = static_cast<T*>(to) + row * r.row_times * length;
    if (r.row_times == 2 && r.column_times == 2) {
      double_row(x, r.columns, y, y + length);
      continue;
    }
    r.column_times == 2 ? repeat_row<2>(x, r.columns, 2, y) : repeat_row<0>(x, r.columns, r.column_times, y);
    for (int64_t i = 1; i < r.row_times; ++i) std::copy_n(y, length, y + i * length);
  }
}

}  // namespace

void repeat_elements(int64_t element_size, const Repetition& repetition, const void* x, int64_t begin, int64_t end,
                     void* y) {
  switch (element_size) {
    case 1:
      return repeat<uint8_t>(repetition, x, begin, end, y);
    case 2:
      return repeat<uint16_t>(repetition, x, begin, end, y);
    case 4:
      return repeat<uint32_t>(repetition, x, begin, end, y);
    default:
      return repeat<uint64_t>(repetition, x, begin, end, y);
  }
}

void copy_strided(base::ThreadPool* pool, int64_t element_size, int rank, const int64_t* dims, const void* src,
                  const int64_t* src_strides, void* dst, const int64_t* dst_strides) {
  base::require(rank <= kMaxCopyRank, base::ErrorCode::kInvalidArgument, "copy of rank ", rank, ": at most ",
                kMaxCopyRank, " dimensions can be copied");
  Nest nest;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] <= 0) return;
  }
  for (int i = 0; i < rank; ++i) {
    nest.add({dims[i], src_strides[i] * element_size, dst_strides[i] * element_size});
  }
  run(pool, nest, element_size, static_cast<const char*>(src), static_cast<char*>(dst));
}

void transpose(base::ThreadPool* pool, int64_t element_size, int rank, const int64_t* dims, const int* perm,
               const void* src, void* dst) {
  base::require(rank <= kMaxCopyRank, base::ErrorCode::kInvalidArgument, "transposition of rank ", rank, ": at most ",
                kMaxCopyRank, " dimensions can be transposed");
  int64_t strides[kMaxCopyRank], out_dims[kMaxCopyRank], from[kMaxCopyRank], to[kMaxCopyRank];
  int64_t step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    strides[i] = step;
    step *= dims[i];
  }
  step = 1;
  for (int i = rank - 1; i >= 0; --i) {
    out_dims[i] = dims[perm[i]];
    from[i] = strides[perm[i]];
    to[i] = step;
    step *= out_dims[i];
  }
  copy_strided(pool, element_size, rank, out_dims, src, from, dst, to);
}

}  // namespace ortolan::cpu::kernels
