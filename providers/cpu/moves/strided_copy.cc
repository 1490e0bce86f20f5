// Copies between two buffers that are walked with different strides.
#include "cpu/moves/strided_copy.h"

#include <cstring>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/layout/transpose.h"
#include "cpu/moves/counted_copy.h"

namespace ortolan::cpu {
namespace {

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
  Odometer(const StridedWalk& walk, size_t rank) : walk_(walk), at_(rank) {}
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

/** One element after the other: strings, and walks of more dimensions than the kernel takes. */
template <class E>
void copy_elements_of(const StridedWalk& walk, const E* from, E* to) {
  size_t last = walk.sizes.size() - 1;
  int64_t lines = 1;
  for (size_t i = 0; i < last; ++i) lines *= walk.sizes[i];
  Odometer outer(walk, last);
  base::TerminatePoll poll;
  for (int64_t line = 0; line < lines; ++line, outer.next()) {
    base::polled_loop(poll, walk.sizes[last], [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        put(to[outer.to + i * walk.to[last]], from[outer.from + i * walk.from[last]]);
      }
    });
  }
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
  dispatch_moved(type, [&]<class E>(TypeTag<E>) {
    if (std::is_same_v<E, std::string> || walk.sizes.size() > kernels::kMaxCopyRank) {
      return copy_elements_of(walk, static_cast<const E*>(from), static_cast<E*>(to));
    }
    kernels::copy_strided(&threads, sizeof(E), static_cast<int>(walk.sizes.size()), walk.sizes.data(), from,
                          walk.from.data(), to, walk.to.data());
  });
}

void copy_elements(ThreadPool& threads, const Tensor& from, Tensor& to) {
  constexpr int64_t kLeast = kernels::least_items(kernels::kMovedByteNs);
  const auto bytes = static_cast<int64_t>(from.byte_count());
  const bool alike = from.type() == to.type() && from.element_count() == to.element_count();
  if (!alike || from.type() == ElementType::kString || bytes < 2 * kLeast || from.raw() == to.raw()) {
    return copy_elements(from, to);
  }
  auto* source = static_cast<const char*>(from.raw());
  auto* target = static_cast<char*>(to.mutable_raw());
  threads.parallel_for(bytes, kLeast, [&](int64_t begin, int64_t end) {
    base::polled_copy(target + begin, source + begin, end - begin);
  });
}

const void* element_at(ElementType type, const void* data, int64_t offset) {
  return static_cast<const char*>(data) + offset * (bits_of(type) / 8);
}

void* element_at(ElementType type, void* data, int64_t offset) {
  return static_cast<char*>(data) + offset * (bits_of(type) / 8);
}

Tensor widened(const Tensor& packed) {
  Tensor wide(ElementType::kInt8, packed.shape());
  auto* codes = wide.mutable_data<int8_t>();
  base::polled_loop(packed.element_count(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      codes[i] = static_cast<int8_t>(unpack_element(packed.type(), packed.raw(), i));
    }
  });
  return wide;
}

void pack_into(const Tensor& wide, Tensor& packed) {
  if (packed.byte_count() > 0) std::memset(packed.mutable_raw(), 0, packed.byte_count());
  const auto* codes = wide.data<int8_t>();
  base::polled_loop(packed.element_count(), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) pack_element(packed.type(), packed.mutable_raw(), i, codes[i]);
  });
}

}  // namespace ortolan::cpu
