// EmbedLayerNormalization against double.
#include <gtest/gtest.h>

#include <cmath>

#include "gpu/single_node.h"
#include "thrown_text.h"

namespace ortolan::gpu::test {
namespace {

constexpr int64_t kBatch = 2, kSequence = 3;
constexpr auto kInt32 = ElementType::kInt32;

class EmbedLayerNormalization : public testing::TestWithParam<NamedDevice> {
 protected:
  Device& device() { return *GetParam().device; }
  static TestNode node() { return {"EmbedLayerNormalization", {{"epsilon", 1e-5f}}, 1, "com.microsoft"}; }
  /** Rows of 8 words, 5 places and 2 segments of that many elements, and what they are summed to. */
  void draw(int64_t hidden, ElementType type = ElementType::kFloat) {
    unsigned seed = 1;
    for (Shape shape : {Shape{8, hidden}, Shape{5, hidden}, Shape{2, hidden}, Shape{hidden}, Shape{hidden}}) {
      tables_.push_back(floats(shape, random_floats(shape, seed++).floats(), type));
    }
    inputs_ = {{integers({kBatch, kSequence}, words_, kInt32)},
               {integers({kBatch, kSequence}, segments_, kInt32)},
               {tables_[0]},
               {tables_[1]},
               {tables_[2]},
               {tables_[3]},
               {tables_[4]},
               {integers({kBatch, kSequence}, {1, 1, 0, 1, 0, 0}, kInt32)}};
    hidden_ = hidden, type_ = type;
  }
  std::vector<double> sum(int64_t row, int64_t place, bool segments) const {
    std::vector<double> result;
    for (int64_t i = 0; i < hidden_; i++) {
      result.push_back(at(0, words_[row], i) + at(1, place, i) + (segments ? at(2, segments_[row], i) : 0));
    }
    return result;
  }
  double at(size_t table, int64_t row, int64_t i) const { return tables_[table].floats()[row * hidden_ + i]; }

  std::pair<Tensor, Tensor> wanted(const std::vector<int64_t>& places, bool segments) const {
    std::vector<float> y, sums;
    for (int64_t row = 0; row < kBatch * kSequence; row++) {
      std::vector<double> x = sum(row, places[row], segments);
      double mean = 0, squares = 0;
      for (double v : x) mean += v / hidden_;
      for (double v : x) squares += (v - mean) * (v - mean) / hidden_;
      for (int64_t i = 0; i < hidden_; i++) {
        sums.push_back(static_cast<float>(x[i]));
        y.push_back(static_cast<float>((x[i] - mean) / std::sqrt(squares + 1e-5) * at(3, 0, i) + at(4, 0, i)));
      }
    }
    return {floats({kBatch, kSequence, hidden_}, y, type_), floats({kBatch, kSequence, hidden_}, sums, type_)};
  }

  std::vector<int64_t> words_ = {7, 0, 3, 2, 2, 5}, segments_ = {0, 0, 1, 1, 0, 1};
  std::vector<Tensor> tables_;
  std::vector<NodeInput> inputs_;
  int64_t hidden_ = 0;
  ElementType type_ = ElementType::kFloat;
};

TEST_P(EmbedLayerNormalization, TablesMasksAndPlaces) {
  for (int64_t hidden : {1, 63, 64, 65}) {
    SCOPED_TRACE(hidden);
    tables_.clear();
    draw(hidden);
    auto actual = run_node(device(), node(), inputs_, 3);
    auto [y, sums] = wanted({0, 1, 2, 0, 1, 2}, true);
    expect_near(actual[0], y, 1e-4f, 1e-4f);
    expect_near(actual[1], integers({kBatch}, {2, 1}, kInt32));
    expect_near(actual[2], sums);
    inputs_.push_back({integers({1, kSequence}, {4, 0, 1}, kInt32)});
    inputs_[1] = inputs_[4] = inputs_[7] = missing();
    actual = run_node(device(), node(), inputs_, 2);
    expect_near(actual[0], wanted({4, 0, 1, 4, 0, 1}, false).first, 1e-4f, 1e-4f);
    expect_near(actual[1], integers({kBatch}, {0, 0}, kInt32));
  }
}

TEST_P(EmbedLayerNormalization, Float16AndNoRows) {
  draw(16, ElementType::kFloat16);
  expect_near(run_node(device(), node(), inputs_)[0], wanted({0, 1, 2, 0, 1, 2}, true).first, 4e-3f, 4e-3f);
  inputs_[0] = {integers({0, 3}, {}, kInt32)}, inputs_[1] = inputs_[7] = missing();
  EXPECT_EQ(run_node(device(), node(), inputs_)[0].shape, (Shape{0, 3, 16}));
}

TEST_P(EmbedLayerNormalization, AnIdOutsideEndsTheRun) {
  words_[4] = 8;
  draw(4);
  EXPECT_TRUE(ortolan::test::throws<Error>("an id is outside of its table of 8 words",
                                           [&] { run_node(device(), node(), inputs_); }));
  inputs_[0] = {integers({kBatch, kSequence}, {1, 2, 3, 4, 5, 6})};
  EXPECT_EQ(refusal_of(device(), node(), inputs_), "input 0 is int64; supported: int32");
}

INSTANTIATE_TEST_SUITE_P(Devices, EmbedLayerNormalization, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
