// Transposition and strided copies: axes are merged first, then the innermost two decide how elements move.
#include "cpu/kernels/transpose.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/thread_pool.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kGrainBytes = 64 << 10;
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

struct Bytes16 {
  uint64_t half[2];
};

template <class T>
void copy_row(const char* from, int64_t from_step, char* to, int64_t to_step, int64_t count) {
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

void copy_rows(const char* from, const Axis& rows, char* to, int64_t bytes) {
  for (int64_t r = 0; r < rows.size; ++r) std::memcpy(to + r * rows.to, from + r * rows.from, bytes);
}

// True where the plane is a plain transposition of 4-byte elements, which has a kernel of its own.
bool is_transposition4(const Axis& rows, const Axis& columns, int64_t size) {
  return size == 4 && rows.from == 4 && columns.to == 4 && rows.to > 0 && columns.from > 0 && rows.to % 4 == 0 &&
         columns.from % 4 == 0;
}

void copy_inner(const char* from, const Axis& rows, const Axis& columns, char* to, int64_t size) {
  if (columns.from == size && columns.to == size) return copy_rows(from, rows, to, columns.size * size);
  if (is_transposition4(rows, columns, size)) {
    kernels().transpose4(from, columns.from, columns.size, rows.size, to, rows.to);
    return;
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
      return copy_plane<Bytes16>(from, rows, columns, to);
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

void run(base::ThreadPool* pool, Nest& nest, int64_t size, const char* from, char* to) {
  while (nest.rank < 2) {
    for (int i = nest.rank; i > 0; --i) nest.axes[i] = nest.axes[i - 1];
    nest.axes[0] = {1, 0, 0};
    ++nest.rank;
  }
  choose_rows(nest, size);
  const Axis rows = nest.axes[nest.rank - 2], columns = nest.axes[nest.rank - 1];
  const int64_t bands =
      std::max<int64_t>(1, std::min(rows.size / kTile, rows.size * columns.size * size / kGrainBytes));
  int64_t planes = bands;
  for (int i = 0; i < nest.rank - 2; ++i) planes *= nest.axes[i].size;
  const int64_t plane_bytes = std::max<int64_t>(1, rows.size * columns.size * size / bands);
  base::parallel_for(pool, planes, kGrainBytes / plane_bytes + 1, [&](int64_t begin, int64_t end) {
    for (int64_t plane = begin; plane < end; ++plane) {
      const int64_t band = plane % bands, first = rows.size * band / bands, last = rows.size * (band + 1) / bands;
      int64_t from_at = first * rows.from, to_at = first * rows.to;
      int64_t rest = plane / bands;
      for (int i = nest.rank - 3; i >= 0; --i) {
        const int64_t index = rest % nest.axes[i].size;
        rest /= nest.axes[i].size;
        from_at += index * nest.axes[i].from;
        to_at += index * nest.axes[i].to;
      }
      copy_inner(from + from_at, {last - first, rows.from, rows.to}, columns, to + to_at, size);
    }
  });
}

}  // namespace

void copy_strided(base::ThreadPool* pool, int64_t element_size, int rank, const int64_t* dims, const void* src,
                  const int64_t* src_strides, void* dst, const int64_t* dst_strides) {
  base::require(rank <= kMaxCopyRank, base::ErrorCode::kInvalidArgument, "copy of rank ", rank, ": at most ",
                kMaxCopyRank, " dimensions can be copied");
  Nest nest;
  for (int i = 0; i < rank; ++i) {
    if (dims[i] == 0) return;
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
