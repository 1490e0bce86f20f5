// Running the items of a group from barrier to barrier.
#include "gpu/testdevice/group.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ortolan::gpu::test {
namespace {

class RunningItems {
 public:
  RunningItems(Group& group, const std::function<ItemTask(const Item&)>& start) : group_(group) {
    const int* size = group.launch->group_size;
    int count = size[0] * size[1] * size[2];
    items_.reserve(count);
    for (int i = 0; i < count; i++) {
      items_.push_back({{i % size[0], i / size[0] % size[1], i / (size[0] * size[1])}, i});
      tasks_.push_back(start(items_.back()));
    }
    turns_.resize(count);
    std::iota(turns_.begin(), turns_.end(), 0);
    if (group.launch->order == 1) std::reverse(turns_.begin(), turns_.end());
    random_ = group.launch->order;
  }
  ~RunningItems() {
    for (ItemTask& task : tasks_) task.handle.destroy();
  }
  RunningItems(const RunningItems&) = delete;
  RunningItems& operator=(const RunningItems&) = delete;

  /** Runs all to the next barrier; false when all have ended. */
  bool step() {
    if (group_.launch->order > 1) shuffle();
    size_t ended = 0;
    int line = -1;
    for (int i : turns_) {
      resume(i);
      if (tasks_[i].handle.done()) {
        ended++;
        continue;
      }
      int stands_at = tasks_[i].handle.promise().line;
      if (line >= 0 && stands_at != line)
        fail_at("items wait at different barriers, the other at line", stands_at, line);
      line = stands_at;
    }
    if (ended == tasks_.size()) return false;
    if (ended > 0) fail_at("a barrier is not reached by all items; ended", static_cast<int>(ended), line);
    (tasks_[0].handle.promise().is_exchange ? group_.exchanges : group_.interval)++;
    return true;
  }

 private:
  void resume(int i) {
    group_.item = &items_[i];
    tasks_[i].handle.resume();
    if (tasks_[i].handle.promise().error) std::rethrow_exception(tasks_[i].handle.promise().error);
  }

  void shuffle() {
    for (size_t i = turns_.size() - 1; i > 0; i--) {
      random_ = random_ * 1664525u + 1013904223u;
      std::swap(turns_[i], turns_[(random_ >> 8) % (i + 1)]);
    }
  }

  [[noreturn]] void fail_at(const char* what, int value, int line) const {
    throw Error(ErrorKind::kInternal, "test device: kernel " + std::string(group_.launch->kernel) + ", line " +
                                          std::to_string(line) + ": " + what + " " + std::to_string(value));
  }

  Group& group_;
  std::vector<Item> items_;
  std::vector<ItemTask> tasks_;
  std::vector<int> turns_;
  unsigned random_;
};

}  // namespace

void run_items(Group& group, const std::function<ItemTask(const Item&)>& start) {
  RunningItems items(group, start);
  while (items.step()) {
  }
}

}  // namespace ortolan::gpu::test
