// DynamicTimeWarping: one row of sums at a time, and a byte an element for the way back.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/checked.h"
#include "base/threads/polled_loop.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

enum Step : uint8_t { kBoth, kUp, kLeft };

class DynamicTimeWarping : public OpKernel {
 public:
  explicit DynamicTimeWarping(const KernelInfo&) {}

  void compute(KernelContext& context) const override {
    const Tensor& costs = context.input(0);
    size_t rank = costs.rank();
    require(rank == 2 || (rank == 3 && costs.shape()[0] == 1), ErrorCode::kInvalidArgument, "the costs have shape ",
            costs.shape(), "; they must be [rows, columns] or [1, rows, columns]");
    int64_t rows = costs.shape()[rank - 2], columns = costs.shape()[rank - 1];
    auto steps = context.scratch<uint8_t>(checked_mul(rows, columns));
    find_steps(costs.data<float>(), rows, columns, steps.data());
    std::vector<std::pair<int32_t, int32_t>> path = way_back(steps.data(), rows, columns);
    int32_t* to = context.output(0, Shape{2, std::ssize(path)}).mutable_data<int32_t>();
    for (size_t i = 0; i < path.size(); ++i) {
      to[i] = path[path.size() - 1 - i].first;
      to[path.size() + i] = path[path.size() - 1 - i].second;
    }
  }

 private:
  static void find_steps(const float* costs, int64_t rows, int64_t columns, uint8_t* steps) {
    std::vector<float> sums(static_cast<size_t>(columns + 1), INFINITY);  // of the row above, then of this one
    sums[0] = 0;
    base::TerminatePoll poll;
    for (int64_t i = 0; columns > 0 && i < rows; ++i) {
      float diagonal = std::exchange(sums[0], INFINITY);
      auto take = [&](int64_t begin, int64_t end) {
        for (int64_t j = begin; j < end; ++j) {
          float up = sums[j + 1], left = sums[j];
          Step step = diagonal < up && diagonal < left ? kBoth : up < diagonal && up < left ? kUp : kLeft;
          steps[i * columns + j] = step;
          sums[j + 1] = costs[i * columns + j] + (step == kBoth ? diagonal : step == kUp ? up : left);
          diagonal = up;
        }
      };
      base::polled_loop(poll, columns, take, 4);
    }
  }

  static std::vector<std::pair<int32_t, int32_t>> way_back(const uint8_t* steps, int64_t rows, int64_t columns) {
    std::vector<std::pair<int32_t, int32_t>> path;
    base::TerminatePoll poll;
    for (int64_t i = rows - 1, j = columns - 1; i >= 0 && j >= 0;) {
      poll.work(4);
      path.emplace_back(static_cast<int32_t>(i), static_cast<int32_t>(j));
      uint8_t step = steps[i * columns + j];
      i -= step != kLeft;
      j -= step != kUp;
    }
    return path;
  }
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "DynamicTimeWarping", 1, kLatest, make_kernel<DynamicTimeWarping>, {{0, ElementType::kFloat}}}};

}  // namespace

extern const KernelTable dynamic_time_warping_rows;
const KernelTable dynamic_time_warping_rows(kRows);

}  // namespace ortolan::cpu::microsoft
