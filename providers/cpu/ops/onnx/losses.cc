// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss, computed in float or double, sums in double.
#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/threads/polled_loop.h"
#include "base/threads/thread_pool.h"
#include "cpu/elements/small_floats.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "cpu/moves/counted_copy.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

enum class Averaging { kNone, kSum, kMean };

/** Scores are [batch][classes][places], labels [batch][places]. */
struct Extent {
  int64_t batch, classes, places;
};

void log_softmax(ThreadPool& threads, const float* x, const Extent& extent, float* y) {
  kernels::softmax(&threads, x, extent.batch, extent.classes, extent.places, true, y);
}

void log_softmax(ThreadPool& threads, const double* x, const Extent& extent, double* y) {
  const int64_t least = kernels::least_rows(extent.classes, kernels::kFunctionNs);
  threads.parallel_for(extent.batch * extent.places, least, [&](int64_t begin, int64_t end) {
    base::TerminatePoll poll;
    for (int64_t slice = begin; slice < end; ++slice) {
      poll.work(8 * extent.classes);
      int64_t first = slice / extent.places * extent.classes * extent.places + slice % extent.places;
      double largest = x[first], sum = 0;
      for (int64_t c = 1; c < extent.classes; ++c) largest = std::max(largest, x[first + c * extent.places]);
      for (int64_t c = 0; c < extent.classes; ++c) sum += std::exp(x[first + c * extent.places] - largest);
      double log_sum = largest + std::log(sum);
      for (int64_t c = 0; c < extent.classes; ++c) {
        y[first + c * extent.places] = x[first + c * extent.places] - log_sum;
      }
    }
  });
}

class Loss : public OpKernel {
 public:
  explicit Loss(const KernelInfo& info) : takes_softmax_(info.node().op_type == "SoftmaxCrossEntropyLoss") {
    std::string_view reduction = info.node().string_or("reduction", "mean");
    averaging_ = reduction == "none" ? Averaging::kNone : reduction == "sum" ? Averaging::kSum : Averaging::kMean;
    if (info.node().has_attribute("ignore_index")) ignored_ = info.node().int_or("ignore_index", 0);
  }

  void compute(KernelContext& context) const override {
    if (context.input(0).type() == ElementType::kDouble) return run<double>(context);
    run<float>(context);
  }

 private:
  /** The elements of a tensor as T: float for float16 and bfloat16. */
  template <class T>
  static const T* elements(KernelContext& context, const Tensor& tensor) {
    if constexpr (std::is_same_v<T, float>) {
      if (kHalfTypes.contains(tensor.type())) {
        auto floats = context.scratch<float>(tensor.element_count());
        widen(tensor.type(), tensor.raw(), floats.data(), tensor.element_count());
        return floats.data();
      }
    }
    return tensor.data<T>();
  }

  /** Writes an output from T. */
  template <class T>
  static void write(Tensor& to, const T* values) {
    int64_t count = to.element_count();
    if constexpr (std::is_same_v<T, float>) {
      if (kHalfTypes.contains(to.type())) return narrow(to.type(), values, to.mutable_raw(), count);
    }
    put_n(values, count, to.mutable_data<T>());
  }

  template <class T>
  void run(KernelContext& context) const {
    const Tensor& scores = context.input(0);
    const Tensor& labels = context.input(1);
    Extent extent = checked_extent(scores.shape(), labels.shape());
    const T* log_probabilities = elements<T>(context, scores);
    if (takes_softmax_) {
      auto logs = context.scratch<T>(scores.element_count());
      if (scores.element_count() > 0) log_softmax(context.threads(), log_probabilities, extent, logs.data());
      log_probabilities = logs.data();
      if (context.has_output(1)) write(context.output(1), log_probabilities);
    }
    const T* weights = nullptr;
    if (const Tensor* input = context.input_if(2)) {
      require(input->element_count() == extent.classes && input->type() == scores.type(), ErrorCode::kInvalidArgument,
              "weights are ", name_of(input->type()), input->shape(), "; give one ", name_of(scores.type()),
              " for each of the ", extent.classes, " classes");
      weights = elements<T>(context, *input);
    }
    auto losses = context.scratch<T>(labels.element_count());
    T reduced = sum_losses(log_probabilities, to_int64s(labels), weights, extent, losses.data());
    write(context.output(0), averaging_ == Averaging::kNone ? losses.data() : &reduced);
  }

  static Extent checked_extent(const Shape& scores, const Shape& labels) {
    bool matches = scores.rank() >= 2 && labels.rank() + 1 == scores.rank() && labels[0] == scores[0];
    for (size_t i = 2; matches && i < scores.rank(); ++i) matches = labels[i - 1] == scores[i];
    require(matches, ErrorCode::kInvalidArgument, "labels of shape ", labels, " do not match scores of shape ", scores,
            "; they must have the same dimensions but the second");
    return {scores[0], scores[1], scores.count_from(2)};
  }

  /** Sets the loss of every label; returns their sum or mean. */
  template <class T>
  T sum_losses(const T* logs, const std::vector<int64_t>& labels, const T* weights, const Extent& extent,
               T* losses) const {
    double sum = 0, weight_sum = 0;
    base::TerminatePoll poll;
    for (size_t i = 0; i < labels.size(); ++i) {
      poll.work(4);
      int64_t label = labels[i];
      losses[i] = T{0};
      if (ignored_ && label == *ignored_) continue;
      require(label >= 0 && label < extent.classes, ErrorCode::kInvalidArgument, "label ", label, " is outside [0, ",
              extent.classes - 1, "]; use attribute ignore_index for labels without a class");
      int64_t n = static_cast<int64_t>(i) / extent.places, place = static_cast<int64_t>(i) % extent.places;
      T weight = weights ? weights[label] : T{1};
      losses[i] = -logs[(n * extent.classes + label) * extent.places + place] * weight;
      sum += static_cast<double>(losses[i]);
      weight_sum += static_cast<double>(weight);
    }
    return static_cast<T>(averaging_ == Averaging::kMean ? sum / weight_sum : sum);
  }

  bool takes_softmax_;
  Averaging averaging_ = Averaging::kMean;
  std::optional<int64_t> ignored_;
};

constexpr KernelRow kRows[] = {
    {"", "NegativeLogLikelihoodLoss", 12, kLatest, make_kernel<Loss>, {{0, kFloatTypes}}},
    {"", "SoftmaxCrossEntropyLoss", 12, kLatest, make_kernel<Loss>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable losses_rows;
constinit const KernelTable losses_rows(kRows);

}  // namespace ortolan::cpu::onnx
