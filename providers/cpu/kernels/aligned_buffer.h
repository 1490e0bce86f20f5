// Cache-line aligned storage for packed weights; what kernels use for a while is in scratch.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace ortolan::cpu::kernels {

/** How long memory is used: kSession is a part of packed weights, beside those made before and after; it may be kept
    from an earlier packing, see base/memory/packed_parts.h. What a run packs lives in that run and counts for it: as
    kCall, so that runs neither wait for each other nor give pages back. */
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

}  // namespace ortolan::cpu::kernels
