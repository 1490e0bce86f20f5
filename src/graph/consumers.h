// The list of a value's uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace ortolan::graph {

class Node;
class Graph;

/** One use of a value: input `input` of `node`. NULL: none. */
struct Use {
  Node* node = nullptr;
  uint32_t input = 0;
  bool operator==(const Use&) const = default;
};

/** The uses of a value, one for each input of a node that it is, in the order in which they were made. Seen as a range,
    it is one of nodes; the iterator knows the input too. A use is added and removed in constant time, and iterators of
    other uses stay valid. */
class Consumers {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Node*;
    using difference_type = std::ptrdiff_t;
    using pointer = Node* const*;
    using reference = Node*;

    iterator() = default;
    Node* operator*() const { return at_.node; }
    /** Which of the node's inputs the value is. */
    size_t input() const { return at_.input; }
    inline iterator& operator++();
    iterator operator++(int) {
      iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator&) const = default;

   private:
    friend class Consumers;
    explicit iterator(Use at) : at_(at) {}
    Use at_;
  };
  using const_iterator = iterator;
  using value_type = Node*;

  Consumers() = default;
  Consumers(const Consumers&) = delete;
  Consumers& operator=(const Consumers&) = delete;

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Node* front() const { return first_.node; }
  iterator begin() const { return iterator(first_); }
  iterator end() const { return {}; }
  std::vector<Node*> nodes() const { return {begin(), end()}; }
  bool operator==(const std::vector<Node*>& nodes) const { return this->nodes() == nodes; }

 private:
  friend class Node;
  friend class Graph;
  void append(Use use);
  void remove(Use use);
  /** Moves all uses of `other` to the end of this list. */
  void take_all(Consumers& other);

  Use first_, last_;
  size_t size_ = 0;
};

}  // namespace ortolan::graph
