// Arrays as kernels see them on the test device: each access is checked for its range, for races between items and
// groups, and for reads of what nobody wrote.
#pragma once

#include <array>
#include <vector>

#include "gpu/testdevice/group.h"

namespace ortolan::gpu::test {

/** An element of a checked array. */
template <class T, class Array>
class Element {
 public:
  Element(Array& array, long index) : array_(array), index_(index) {}
  operator T() const { return array_.load(index_); }
  void operator=(const T& value) const { array_.store(index_, value); }
  void operator=(const Element& other) const { array_.store(index_, static_cast<T>(other)); }
  void operator+=(const T& value) const { array_.store(index_, array_.load(index_) + value); }

 private:
  Array& array_;
  long index_;
};

inline const Argument& argument_of(const Group& group, size_t binding, const char* name) {
  if (binding >= group.launch->arguments.size()) group.fail("no buffer is bound", name, 0, 0);
  return group.launch->arguments[binding];
}

/** A buffer that is only read. */
template <class T>
class InputArray {
 public:
  InputArray(Group& group, int binding, const char* name) : group_(group), name_(name) {
    const Argument& argument = argument_of(group, binding, name);
    data_ = reinterpret_cast<const T*>(argument.data);
    size_ = static_cast<long>(argument.bytes / sizeof(T));
  }
  T operator[](long index) const {
    if (index < 0 || index >= size_) group_.fail("read outside", name_, index, size_);
    return data_[index];
  }

 private:
  Group& group_;
  const char* name_;
  const T* data_;
  long size_;
};

/** A buffer that is written; two groups may share an element only by atomic operations. */
template <class T>
class OutputArray {
 public:
  OutputArray(Group& group, int binding, const char* name, bool atomic = false)
      : group_(group), name_(name), atomic_(atomic) {
    const Argument& argument = argument_of(group, binding, name);
    data_ = reinterpret_cast<T*>(argument.data);
    size_ = static_cast<long>(argument.bytes / sizeof(T));
    writers_ = &group.launch->writers[{argument.data, sizeof(T)}];
    if (writers_->size() < static_cast<size_t>(size_)) writers_->resize(size_, -1);
  }
  T load(long index) const {
    check(index, "read outside", "race between groups (read)");
    return data_[index];
  }
  void store(long index, const T& value) {
    check(index, "write outside", "race between groups (write)");
    (*writers_)[index] = group_.number;
    data_[index] = value;
  }
  Element<T, OutputArray> operator[](long index) { return {*this, index}; }

 private:
  void check(long index, const char* outside, const char* race) const {
    if (index < 0 || index >= size_) group_.fail(outside, name_, index, size_);
    int writer = (*writers_)[index];
    if (!atomic_ && writer >= 0 && writer != group_.number) group_.fail(race, name_, index, size_);
  }

  Group& group_;
  const char* name_;
  bool atomic_;
  T* data_;
  long size_;
  std::vector<int>* writers_;
};

/** Shared memory of a group. */
template <class T>
class SharedArray {
 public:
  SharedArray(Group& group, long size, const char* name)
      : group_(group), name_(name), values_(size), histories_(size) {}
  T load(long index) {
    History& history = check(index, "read outside");
    int item = group_.item->number;
    if (history.written_in == 0) fail("read before any write", index);
    if (history.written_in == group_.interval && history.writer != item)
      fail("race (read of another item's write)", index);
    if (history.read_in != group_.interval) {
      history.read_in = group_.interval;
      history.reader = item;
    } else if (history.reader != item) {
      history.reader = kSeveral;
    }
    return values_[index];
  }
  void store(long index, const T& value) {
    History& history = check(index, "write outside");
    int item = group_.item->number;
    if (history.written_in == group_.interval && history.writer != item) fail("race (two writers)", index);
    if (history.read_in == group_.interval && history.reader != item)
      fail("race (write of what another item read)", index);
    history.written_in = group_.interval;
    history.writer = item;
    values_[index] = value;
  }
  Element<T, SharedArray> operator[](long index) { return {*this, index}; }

 private:
  static constexpr int kSeveral = -2;
  struct History {
    unsigned written_in = 0, read_in = 0;  // the interval between barriers; 0 is never
    int writer = -1, reader = -1;
  };
  [[noreturn]] void fail(const char* what, long index) const {
    group_.fail(what, name_, index, static_cast<long>(values_.size()));
  }
  History& check(long index, const char* outside) {
    if (index < 0 || index >= static_cast<long>(values_.size())) fail(outside, index);
    return histories_[index];
  }

  Group& group_;
  const char* name_;
  std::vector<T> values_;
  std::vector<History> histories_;
};

/** An item's own array. */
template <class T>
class PrivateArray {
 public:
  PrivateArray(Group& group, long size, const char* name) : group_(group), name_(name), size_(size) {
    if (size > kInline) more_.resize(size);
  }
  T& operator[](long index) {
    if (index < 0 || index >= size_) group_.fail("access outside of a private array", name_, index, size_);
    return size_ > kInline ? more_[index] : few_[index];
  }

 private:
  static constexpr long kInline = 16;
  Group& group_;
  const char* name_;
  long size_;
  std::array<T, kInline> few_{};
  std::vector<T> more_;
};

template <class Array>
unsigned atomic_or(Array& array, long index, unsigned value) {
  unsigned before = array.load(index);
  array.store(index, before | value);
  return before;
}

template <class Array>
unsigned atomic_add(Array& array, long index, unsigned value) {
  unsigned before = array.load(index);
  array.store(index, before + value);
  return before;
}

template <class Array>
unsigned atomic_max(Array& array, long index, unsigned value) {
  unsigned before = array.load(index);
  array.store(index, before < value ? value : before);
  return before;
}

}  // namespace ortolan::gpu::test
