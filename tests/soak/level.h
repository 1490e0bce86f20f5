// Whether the memory of a process stays level.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace soak {

/** Bytes of memory that the process holds now, without what malloc keeps for later: how much that is depends on which
    threads met. */
size_t resident_bytes();

/** Sizes of a process at moments at which it holds the same. */
class Level {
 public:
  void add(size_t bytes) { sizes_.push_back(bytes); }
  size_t count() const { return sizes_.size(); }
  /** Whether the last quarter is no more above the second one than caches and fragments explain. True where there are
      too few moments to tell. */
  bool holds() const;
  /** The figures of holds(), in words. */
  std::string text() const;

 private:
  /** The middle one of sizes in that quarter, 0 to 3. */
  size_t middle_of(size_t quarter) const;

  std::vector<size_t> sizes_;
};

}  // namespace soak
