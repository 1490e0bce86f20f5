// A work-group of the test device: its items run as coroutines, from barrier to barrier, in an order that tests choose.
#pragma once

#include <coroutine>
#include <exception>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "gpu/device/error.h"

namespace ortolan::gpu::test {

/** Memory bound to a kernel's argument. */
struct Argument {
  std::byte* data;
  size_t bytes;
};

/** Which group wrote an element in the present launch, by buffer and size of the elements. */
using Writers = std::map<std::pair<const void*, size_t>, std::vector<int>>;

/** What a launch is made of, the same for all of its groups. */
struct LaunchFrame {
  std::string_view kernel;
  std::span<const Argument> arguments;
  std::map<std::string, int, std::less<>> constants;
  const std::byte* params;
  int groups[3];
  int group_size[3];
  unsigned order;  // 0: forward, 1: backward, else the seed of a shuffle at each barrier
  Writers writers;
  int constant(std::string_view name, int fallback) const {
    auto found = constants.find(name);
    return found == constants.end() ? fallback : found->second;
  }
};

struct Item {
  int local[3];
  int number;  // within the group
};

/** What an item brings to a product on matrix units: its parts of two matrices. */
struct UnitFactors {
  unsigned a[4], b[2];
};

struct Group {
  LaunchFrame* launch;
  int position[3];
  int number;
  unsigned interval = 1;                       // between which barriers we are
  const Item* item = nullptr;                  // that runs now
  unsigned exchanges = 0;                      // that items met for
  std::vector<UnitFactors> unit_factors = {};  // by item; two of each, for products in turn

  /** Throws: what a kernel did wrong, at which element of what, and who did it. */
  [[noreturn]] void fail(const char* what, const char* name, long index, long size) const {
    throw Error(ErrorKind::kInternal, "test device: kernel " + std::string(launch->kernel) + ": " + what + ": " + name +
                                          "[" + std::to_string(index) + "], size " + std::to_string(size) + ", group " +
                                          std::to_string(number) + ", item " +
                                          std::to_string(item == nullptr ? -1 : item->number));
  }
};

/** The coroutine of one item. */
struct ItemTask {
  struct promise_type {
    int line = 0;              // of the barrier it waits at
    bool is_exchange = false;  // no barrier: items meet there, but memory is not ordered
    std::exception_ptr error;
    ItemTask get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { error = std::current_exception(); }
  };
  std::coroutine_handle<promise_type> handle;
};

struct Barrier {
  int line;
  bool is_exchange = false;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<ItemTask::promise_type> item) noexcept {
    item.promise().line = line;
    item.promise().is_exchange = is_exchange;
  }
  void await_resume() noexcept {}
};

/** Runs all items to their end. `start` makes the task of an item, which must outlive it. Throws what an item throws,
 * and where items do not meet at the same barriers. */
void run_items(Group& group, const std::function<ItemTask(const Item&)>& start);

}  // namespace ortolan::gpu::test
