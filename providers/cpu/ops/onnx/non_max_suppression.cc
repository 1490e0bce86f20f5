// NonMaxSuppression: per image and class, boxes by falling score, without those that overlap a chosen one too much.
#include <algorithm>
#include <bit>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "runtime/kernels/kernel_registry.h"

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

typedef float Quad __attribute__((vector_size(16)));
typedef int32_t QuadMask __attribute__((vector_size(16)));

/** Boxes that stay, four at a time: the places beyond the last one hold boxes without area. */
class KeptBoxes {
 public:
  int64_t size() const { return size_; }

  void add(const Box& box) {
    if (size_ % 4 == 0) groups_.push_back({});
    Group& group = groups_.back();
    const float sides[] = {box.top, box.left, box.bottom, box.right, box.area()};
    for (int i = 0; i < 5; ++i) group.sides[i][size_ % 4] = sides[i];
    ++size_;
  }

  /** True when the intersection with one of them is more than `limit` of the union. Boxes without area overlap
      nothing. */
  bool hide(const Box& box, float limit) const {
    const Quad zero{}, area = zero + box.area();
    QuadMask hidden{};
    for (const Group& g : groups_) {
      const auto& [top, left, bottom, right, other] = g.sides;
      const Quad height = smaller(bottom, box.bottom) - larger(top, box.top);
      const Quad width = smaller(right, box.right) - larger(left, box.left);
      const Quad common = height * width;
      hidden |= (height > zero) & (width > zero) & (area > zero) & (other > zero) &
                (common / (area + other - common) > zero + limit);
    }
    return (hidden[0] | hidden[1] | hidden[2] | hidden[3]) != 0;
  }

 private:
  struct Group {
    Quad sides[5];  // top, left, bottom, right, area
  };
  static Quad smaller(Quad a, float b) { return b < a ? Quad{} + b : a; }
  static Quad larger(Quad a, float b) { return b > a ? Quad{} + b : a; }

  std::vector<Group> groups_;
  int64_t size_ = 0;
};

/** Boxes by falling score, those of the same score as they came; what is no number goes last. They are sorted some at a
    time, as they are asked for. */
class BestFirst {
 public:
  BestFirst(int64_t some, int64_t boxes) : chunk_(static_cast<size_t>(std::clamp<int64_t>(some, 32, 1 << 20))) {
    keys_.reserve(static_cast<size_t>(boxes));
  }

  void add(int64_t box, float score) {
    keys_.push_back(uint64_t{order_of(score)} << 32 | (UINT32_MAX - static_cast<uint32_t>(box)));
  }
  /** The next box, or -1. */
  int64_t next() {
    if (at_ == keys_.size()) return -1;
    if (at_ == sorted_) sort_some();
    return UINT32_MAX - static_cast<uint32_t>(keys_[at_++]);
  }

 private:
  /** Integers in the order of floats. */
  static uint32_t order_of(float score) {
    if (score != score) return 0;
    uint32_t bits = std::bit_cast<uint32_t>(score + 0.0f);
    return (bits >> 31) != 0 ? ~bits : bits | 0x80000000u;
  }
  void sort_some() {
    auto first = keys_.begin() + static_cast<ptrdiff_t>(sorted_);
    sorted_ = std::min(keys_.size(), sorted_ + chunk_);
    auto end = keys_.begin() + static_cast<ptrdiff_t>(sorted_);
    base::TerminatePoll poll;
    auto greater = [&](uint64_t a, uint64_t b) {
      poll.work();
      return a > b;
    };
    if (end != keys_.end()) std::nth_element(first, end, keys_.end(), greater);
    std::sort(first, end, greater);
    chunk_ *= 2;
  }

  std::vector<uint64_t> keys_;
  size_t chunk_, at_ = 0, sorted_ = 0;
};

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
    require(b[1] <= UINT32_MAX, ErrorCode::kNotImplemented, "there are ", b[1], " boxes; there may be up to ",
            UINT32_MAX);
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
    BestFirst order(std::min(limits.count, count) * 2, count);
    base::polled_loop(count, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (!limits.score || scores[i] > *limits.score) order.add(i, scores[i]);
      }
    });
    std::vector<int64_t> result;
    KeptBoxes kept;
    base::TerminatePoll poll;
    for (int64_t i; kept.size() < limits.count && (i = order.next()) >= 0;) {
      poll.work(8 + kept.size());
      Box box = box_of(boxes + 4 * i, center_);
      if (kept.hide(box, limits.overlap)) continue;
      result.push_back(i);
      kept.add(box);
    }
    return result;
  }

  static void write(KernelContext& context, const std::vector<std::vector<int64_t>>& chosen, int64_t classes) {
    int64_t total = 0;
    base::TerminatePoll poll;
    for (const auto& list : chosen) {
      poll.work();
      total += static_cast<int64_t>(list.size());
    }
    int64_t* out = context.output(0, Shape{total, 3}).mutable_data<int64_t>();
    for (size_t i = 0; i < chosen.size(); ++i) {
      poll.work();
      for (int64_t box : chosen[i]) {
        poll.work();
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
