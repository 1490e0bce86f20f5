// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

struct LossCase {
  Shape scores, labels;
  const char* reduction;
  bool weighted;
  bool ignores;
};

/** log(softmax) along the second dimension. */
std::vector<double> log_probabilities(const Tensor& scores) {
  auto x = doubles(scores);
  size_t classes = static_cast<size_t>(scores.shape()[1]), places = static_cast<size_t>(scores.shape().count_from(2));
  for (size_t n = 0; n < x.size() / (classes * places); ++n) {
    for (size_t p = 0; p < places; ++p) {
      double sum = 0;
      for (size_t c = 0; c < classes; ++c) sum += std::exp(x[(n * classes + c) * places + p]);
      for (size_t c = 0; c < classes; ++c) x[(n * classes + c) * places + p] -= std::log(sum);
    }
  }
  return x;
}

std::vector<double> reference(const LossCase& item, const std::vector<double>& logs, const std::vector<int64_t>& labels,
                              const std::vector<double>& weights, int64_t ignored) {
  size_t classes = static_cast<size_t>(item.scores[1]), places = static_cast<size_t>(item.scores.count_from(2));
  std::vector<double> losses;
  double sum = 0, weight_sum = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    bool skipped = item.ignores && labels[i] == ignored;
    auto label = static_cast<size_t>(labels[i]);
    double weight = skipped ? 0 : weights[label];
    losses.push_back(skipped ? 0 : -logs[(i / places * classes + label) * places + i % places] * weight);
    sum += losses.back();
    weight_sum += weight;
  }
  if (item.reduction == std::string("none")) return losses;
  return {item.reduction == std::string("sum") ? sum : sum / weight_sum};
}

template <class T, class Index>
void check(const char* op, const LossCase& item, double tolerance) {
  SCOPED_TRACE(join(op, " ", name_of(kTypeOf<T>), item.scores, " ", item.reduction, item.weighted, item.ignores));
  Tensor scores = random_tensor<T>(item.scores, test_seed(), -2, 2);
  Tensor labels = random_tensor<Index>(item.labels, test_seed() + 1, 0, static_cast<double>(item.scores[1]));
  auto ids = to_int64s(labels);
  OpTest test(op, 13);
  test.set("reduction", item.reduction).input(scores).input(labels);
  std::vector<double> weights(static_cast<size_t>(item.scores[1]), 1);
  if (item.weighted) {
    Tensor given = random_tensor<T>({item.scores[1]}, test_seed() + 2, 0.5, 2);
    weights = doubles(given);
    test.input(given);
  }
  if (item.ignores) test.set("ignore_index", ids.empty() ? 0 : ids[0]);
  bool softmax = std::string(op) == "SoftmaxCrossEntropyLoss";
  auto logs = softmax ? log_probabilities(scores) : doubles(scores);
  auto outputs = test.run(softmax ? 2 : 1);
  Shape shape = item.reduction == std::string("none") ? item.labels : Shape{};
  auto expected = reference(item, logs, ids, weights, ids.empty() ? 0 : ids[0]);
  EXPECT_TRUE(near(outputs[0].tensor(), shape, expected, tolerance));
  if (softmax) {
    EXPECT_TRUE(near(outputs[1].tensor(), item.scores, logs, tolerance));
  }
}

const LossCase kCases[] = {
    {{5, 3}, {5}, "mean", false, false},
    {{5, 3}, {5}, "sum", true, false},
    {{5, 3}, {5}, "none", true, true},
    {{2, 4, 3}, {2, 3}, "mean", true, false},
    {{2, 4, 3, 2}, {2, 3, 2}, "none", false, true},
    {{2, 4, 3, 2}, {2, 3, 2}, "mean", true, true},
    {{0, 3}, {0}, "sum", false, false},
    {{0, 3}, {0}, "mean", false, false},
};

TEST(Losses, FollowTheirDefinition) {
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    for (const LossCase& item : kCases) {
      check<float, int64_t>(op, item, 1e-5);
      check<double, int32_t>(op, item, 1e-13);
      check<Half, int64_t>(op, item, 5e-3);
    }
  }
}

TEST(Losses, RefuseLabelsWithoutClass) {
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    std::string text = OpTest(op, 13).input<float>({1, 2}, {0, 0}).input<int64_t>({1}, {2}).error();
    EXPECT_NE(text.find("label 2 is outside [0, 1]"), std::string::npos) << text;
    text = OpTest(op, 13).input<float>({1, 2}, {0, 0}).input<int64_t>({2}, {0, 0}).error();
    EXPECT_NE(text.find("do not match scores of shape [1,2]"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace ortolan::test
