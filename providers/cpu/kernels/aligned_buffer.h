// Cache-line aligned storage for packed weights and scratch space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace ortolan::cpu::kernels {

/** How long memory is used: kSession is a part of packed weights, beside those made before and after; it may be kept
    from an earlier packing, see base/packed_parts.h. What a run packs lives in that run and counts for it: as kCall, so
    that runs neither wait for each other nor give pages back. */
enum class Lifetime : uint8_t { kCall, kSession };

/** Owns 64-byte aligned bytes, uninitialised; large ones ask the system for huge pages. */
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  /** Throws std::bad_alloc where the system has not that much. */
  explicit AlignedBuffer(size_t bytes, Lifetime lifetime = Lifetime::kCall);
  AlignedBuffer(AlignedBuffer&& other) noexcept
      : data_(std::move(other.data_)), bytes_(std::exchange(other.bytes_, 0)) {}
  AlignedBuffer& operator=(AlignedBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }

  template <class T>
  T* as() noexcept {
    return static_cast<T*>(data_.get());
  }
  template <class T>
  const T* as() const noexcept {
    return static_cast<const T*>(data_.get());
  }
  size_t bytes() const noexcept { return bytes_; }

 private:
  std::shared_ptr<void> data_;
  size_t bytes_ = 0;
};

/** Who uses scratch space, so that a kernel that calls another keeps its own. */
enum class Scratch : int {
  kPackedA,
  kPackedB,
  kSums,
  kRows,
  kColumns,
  kTile,
  kBytes,
  kSplitA,
  kSplitB,
  kOther,
  kCount
};

/**
 * At least `bytes` of 64-byte aligned scratch that belongs to the calling thread and `user`, uninitialised. A second
 * request of the same user on the same thread may invalidate the first; under AddressSanitizer it always does, so that
 * use of the first is an error. Kept until the thread ends, unless it is large.
 */
void* thread_scratch(Scratch user, size_t bytes);

template <class T>
T* thread_scratch(Scratch user, int64_t count) {
  return static_cast<T*>(thread_scratch(user, static_cast<size_t>(count) * sizeof(T)));
}

}  // namespace ortolan::cpu::kernels
