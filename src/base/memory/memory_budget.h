// How much memory the work of one run may hold at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <utility>

namespace ortolan::base {

/** Counts what a run holds: values, planned blocks, scratch. Lives as long as the run, and after it as long as anything
    that left the run has not given back what it was charged. All calls may come from any thread. */
class MemoryBudget {
 public:
  struct EndOfRun {
    void operator()(MemoryBudget* budget) const noexcept { budget->release(kRun); }
  };
  using OfRun = std::unique_ptr<MemoryBudget, EndOfRun>;

  /** The budget of a run that begins. `remedy` tells the reader of an error how to raise the limit and lives as long as
      the process. */
  static OfRun make(size_t limit, const char* remedy) { return OfRun(new MemoryBudget(limit, remedy)); }
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  /** During the run. Throws Error (kFail), with nothing charged, where that would be more than the limit. */
  void charge(size_t bytes) {
    if (bytes > limit_) [[unlikely]]
      refuse(bytes, in_use());
    const size_t before = held_.fetch_add(bytes, std::memory_order_relaxed) - kRun;
    if (before > limit_ - bytes) [[unlikely]] {
      release(bytes);
      refuse(bytes, before);
    }
  }
  /** At any time, of what was charged. */
  void release(size_t bytes) noexcept {
    if (held_.fetch_sub(bytes, std::memory_order_acq_rel) == bytes) delete this;
  }

  /** During the run. */
  size_t in_use() const noexcept { return held_.load(std::memory_order_relaxed) - kRun; }
  size_t limit() const noexcept { return limit_; }

 private:
  static constexpr size_t kRun = 1;  // what the run itself holds, so that its budget stays

  MemoryBudget(size_t limit, const char* remedy) : limit_(limit), remedy_(remedy) {}
  ~MemoryBudget() = default;
  [[noreturn]] void refuse(size_t bytes, size_t in_use) const;

  const size_t limit_;
  const char* const remedy_;
  std::atomic<size_t> held_ = kRun;
};

/** What a block of memory was charged; given back when it ends. Used by one thread at a time. */
class MemoryCharge {
 public:
  MemoryCharge() = default;
  /** Charges the run that the calling thread works for, if any; throws like MemoryBudget::charge(). */
  explicit MemoryCharge(size_t bytes) { add(bytes); }
  MemoryCharge(MemoryCharge&& other) noexcept { swap(other); }
  MemoryCharge& operator=(MemoryCharge&& other) noexcept {
    swap(other);
    return *this;
  }
  ~MemoryCharge() {
    if (budget_ != nullptr) budget_->release(bytes_);
  }

  /** More for the same run. */
  void add(size_t bytes);
  size_t bytes() const noexcept { return bytes_; }
  /** Whom it was charged to; NULL for nobody, or where it is nothing. */
  const MemoryBudget* budget() const noexcept { return budget_; }

 private:
  void swap(MemoryCharge& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
  }

  MemoryBudget* budget_ = nullptr;  // where bytes_ is more than nothing
  size_t bytes_ = 0;
};

/** Strings that a node makes: charged one by one until the node is done and its results are charged as a whole. */
class StringTally {
 public:
  explicit StringTally(MemoryBudget& budget) : budget_(budget) {}
  ~StringTally() { budget_.release(bytes_.load(std::memory_order_relaxed)); }
  StringTally(const StringTally&) = delete;
  StringTally& operator=(const StringTally&) = delete;
  void add(size_t bytes) {
    budget_.charge(bytes);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }

 private:
  MemoryBudget& budget_;
  std::atomic<size_t> bytes_ = 0;
};

inline constexpr size_t kInlineString = 15;  // a longer string has memory of its own

void count_long_string(size_t bytes);

/** A kernel that makes more or longer strings than it is given tells of each, before or after it is made. Throws
    where the run would hold too much. */
inline void count_string(size_t bytes) {
  if (bytes > kInlineString) count_long_string(bytes);
}

}  // namespace ortolan::base
