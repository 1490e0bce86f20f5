// NonMaxSuppression: per image and class, boxes by falling score, without those that overlap a chosen one too much.
#include <algorithm>
#include <numeric>

#include "base/thread_pool.h"
#include "runtime/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

/** A box by its corners. */
struct Box {
  float top, left, bottom, right;
  float area() const { return (bottom - top) * (right - left); }
};

Box box_of(const float* v, bool center) {
  if (center) return {v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2};
  return {std::min(v[0], v[2]), std::min(v[1], v[3]), std::max(v[0], v[2]), std::max(v[1], v[3])};
}

/** True when the intersection is more than `limit` of the union. Boxes without area overlap nothing. */
bool overlap(const Box& a, const Box& b, float limit) {
  float height = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  float width = std::min(a.right, b.right) - std::max(a.left, b.left);
  if (!(height > 0 && width > 0)) return false;
  float common = height * width, area_a = a.area(), area_b = b.area();
  if (!(area_a > 0 && area_b > 0)) return false;
  return common / (area_a + area_b - common) > limit;
}

struct Limits {
  int64_t count = 0;
  float overlap = 0;
  const float* score = nullptr;
};

class NonMaxSuppression final : public OpKernel {
 public:
  explicit NonMaxSuppression(const KernelInfo& info) {
    int64_t center = info.node().int_or("center_point_box", 0);
    require(center == 0 || center == 1, ErrorCode::kInvalidGraph, "center_point_box is ", center, "; use 0 or 1");
    center_ = center == 1;
  }

  void compute(KernelContext& context) const override {
    const Tensor& boxes = context.input(0);
    const Tensor& scores = context.input(1);
    const Shape &b = boxes.shape(), &s = scores.shape();
    require(b.rank() == 3 && s.rank() == 3 && b[2] == 4 && b[0] == s[0] && b[1] == s[2], ErrorCode::kInvalidArgument,
            "boxes have shape ", b, " and scores ", s, "; they need [images, boxes, 4] and [images, classes, boxes]");
    Limits limits = this->limits(context);
    int64_t lists = b[1] > 0 ? s[0] * s[1] : 0;
    std::vector<std::vector<int64_t>> chosen(lists);
    context.threads().parallel_for(lists, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end && limits.count > 0; ++i) {
        chosen[i] = choose(boxes.data<float>() + i / s[1] * b[1] * 4, scores.data<float>() + i * b[1], b[1], limits);
      }
    });
    write(context, chosen, s[1]);
  }

 private:
  static const float* single(KernelContext& context, size_t i, const char* what) {
    const Tensor* tensor = context.input_if(i);
    require(!tensor || tensor->element_count() == 1, ErrorCode::kInvalidArgument, what, " has shape ",
            tensor ? tensor->shape() : Shape(), "; it must hold one value");
    return tensor ? tensor->data<float>() : nullptr;
  }

  Limits limits(KernelContext& context) const {
    Limits result;
    if (const Tensor* count = context.input_if(2)) {
      require(count->element_count() == 1, ErrorCode::kInvalidArgument, "max_output_boxes_per_class has shape ",
              count->shape(), "; it must hold one value");
      result.count = std::max<int64_t>(to_int64s(*count).front(), 0);
    }
    if (const float* overlap = single(context, 3, "iou_threshold")) result.overlap = *overlap;
    require(result.overlap >= 0 && result.overlap <= 1, ErrorCode::kInvalidArgument, "iou_threshold is ",
            result.overlap, "; it must lie within [0, 1]");
    result.score = single(context, 4, "score_threshold");
    return result;
  }

  /** Indices of the boxes of one image and class that stay. */
  std::vector<int64_t> choose(const float* boxes, const float* scores, int64_t count, const Limits& limits) const {
    std::vector<int64_t> order;
    for (int64_t i = 0; i < count; ++i) {
      if (!limits.score || scores[i] > *limits.score) order.push_back(i);
    }
    // NaN goes last, so that the order is a strict one.
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return scores[a] > scores[b] || (scores[b] != scores[b] && scores[a] == scores[a]);
    });
    std::vector<int64_t> result;
    std::vector<Box> kept;
    for (int64_t i : order) {
      if (static_cast<int64_t>(result.size()) >= limits.count) break;
      Box box = box_of(boxes + 4 * i, center_);
      bool hidden =
          std::any_of(kept.begin(), kept.end(), [&](const Box& k) { return overlap(box, k, limits.overlap); });
      if (hidden) continue;
      result.push_back(i);
      kept.push_back(box);
    }
    return result;
  }

  static void write(KernelContext& context, const std::vector<std::vector<int64_t>>& chosen, int64_t classes) {
    int64_t total = 0;
    for (const auto& list : chosen) total += static_cast<int64_t>(list.size());
    int64_t* out = context.output(0, Shape{total, 3}).mutable_data<int64_t>();
    for (size_t i = 0; i < chosen.size(); ++i) {
      for (int64_t box : chosen[i]) {
        *out++ = static_cast<int64_t>(i) / classes;
        *out++ = static_cast<int64_t>(i) % classes;
        *out++ = box;
      }
    }
  }

  bool center_;
};

constexpr KernelRow kRows[] = {
    {"", "NonMaxSuppression", 10, kLatest, make_kernel<NonMaxSuppression>},
};

}  // namespace

extern const KernelTable non_max_suppression_rows;
const KernelTable non_max_suppression_rows(kRows);
}  // namespace ortolan::cpu::onnx
