// A vector of trivially copyable items that keeps the first N of them in place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

namespace ortolan::base {

/** Behaves like std::vector for the calls below. Iterators are pointers; growth invalidates them. */
template <class T, size_t N>
class InlinedVector {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  using iterator = T*;
  using const_iterator = const T*;

  InlinedVector() = default;
  explicit InlinedVector(size_t count, T value = T{}) { resize(count, value); }
  InlinedVector(std::initializer_list<T> items) { assign(items.begin(), items.end()); }
  explicit InlinedVector(std::span<const T> items) { assign(items.begin(), items.end()); }
  template <std::input_iterator It>
  InlinedVector(It first, It last) {
    assign(first, last);
  }
  InlinedVector(const InlinedVector& other) { assign(other.begin(), other.end()); }
  InlinedVector(InlinedVector&& other) noexcept { steal(other); }
  InlinedVector& operator=(const InlinedVector& other) {
    if (this != &other) assign(other.begin(), other.end());
    return *this;
  }
  InlinedVector& operator=(InlinedVector&& other) noexcept {
    if (this != &other) {
      release();
      steal(other);
    }
    return *this;
  }
  ~InlinedVector() { release(); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T& front() { return data_[0]; }
  const T& front() const { return data_[0]; }
  T& back() { return data_[size_ - 1]; }
  const T& back() const { return data_[size_ - 1]; }
  operator std::span<const T>() const { return {data_, size_}; }
  operator std::span<T>() { return {data_, size_}; }

  void clear() { size_ = 0; }
  void reserve(size_t capacity) {
    if (capacity > capacity_) grow(std::max(capacity, capacity_ * 2));
  }
  void resize(size_t count, T value = T{}) {
    reserve(count);
    for (size_t i = size_; i < count; ++i) data_[i] = value;
    size_ = count;
  }
  void push_back(T item) {
    reserve(size_ + 1);
    data_[size_++] = item;
  }
  void pop_back() { --size_; }
  template <class It>
  void assign(It first, It last) {
    clear();
    append(first, last);
  }
  template <class It>
  void append(It first, It last) {
    reserve(size_ + std::distance(first, last));
    for (; first != last; ++first) data_[size_++] = *first;
  }
  void insert(const T* position, T item) {
    size_t at = position - data_;
    push_back(item);
    std::rotate(data_ + at, data_ + size_ - 1, data_ + size_);
  }
  void erase(const T* position) {
    T* at = data_ + (position - data_);
    std::copy(at + 1, end(), at);
    --size_;
  }
  friend bool operator==(const InlinedVector& a, const InlinedVector& b) { return std::ranges::equal(a, b); }

 private:
  void grow(size_t capacity) {
    T* larger = new T[capacity];
    std::copy(begin(), end(), larger);
    release();
    data_ = larger;
    capacity_ = capacity;
  }
  void release() {
    if (data_ != inline_) delete[] data_;
    data_ = inline_;
    capacity_ = N;
  }
  void steal(InlinedVector& other) {
    size_ = other.size_;
    if (other.data_ == other.inline_) {
      std::copy(other.begin(), other.end(), inline_);
    } else {
      data_ = std::exchange(other.data_, other.inline_);
      capacity_ = std::exchange(other.capacity_, N);
    }
    other.size_ = 0;
  }

  T inline_[N]{};
  T* data_ = inline_;
  size_t size_ = 0;
  size_t capacity_ = N;
};

}  // namespace ortolan::base
