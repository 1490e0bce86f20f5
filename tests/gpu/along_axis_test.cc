// CumSum, CumProd and ReverseSequence.
#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

class AlongAxis : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) {
    return run_node(*GetParam().device, node, inputs)[0];
  }
};

/** Along the middle axis of [2, 5, 3]. */
template <class T>
std::vector<T> cumulated(const std::vector<T>& x, bool product, bool exclusive, bool reverse) {
  std::vector<T> y(x.size());
  for (size_t line = 0; line < 6; line++) {
    T running = product ? T{1} : T{0};
    for (size_t n = 0; n < 5; n++) {
      size_t i = line / 3 * 15 + (reverse ? 4 - n : n) * 3 + line % 3;
      T next = product ? running * x[i] : running + x[i];
      y[i] = exclusive ? running : next;
      running = next;
    }
  }
  return y;
}

TEST_P(AlongAxis, Cumulation) {
  for (int flags = 0; flags < 8; flags++) {
    bool product = flags & 1, exclusive = flags & 2, reverse = flags & 4;
    TestNode node{product ? "CumProd" : "CumSum", {{"exclusive", int64_t{exclusive}}, {"reverse", int64_t{reverse}}}};
    for (ElementType type : {ElementType::kFloat, ElementType::kFloat16}) {
      Tensor x = floats({2, 5, 3}, random_floats({30}, 5).floats(), type);
      Tensor wanted = floats(x.shape, cumulated<float>(x.floats(), product, exclusive, reverse), type);
      expect_near(run(node, {{x}, {integers({}, {-2})}}), wanted, 2e-3f, 2e-3f);
    }
    std::vector<int64_t> values;
    for (int64_t i = 0; i < 30; i++) values.push_back((i - 11) * 70001);
    std::vector<uint64_t> bits(values.begin(), values.end());
    bits = cumulated<uint64_t>(bits, product, exclusive, reverse);
    Tensor axis = integers({1}, {1}, ElementType::kInt32);
    EXPECT_EQ(run(node, {{integers({2, 5, 3}, values)}, {axis}}).integers(),
              std::vector<int64_t>(bits.begin(), bits.end()));
    std::vector<int64_t> low;
    for (uint64_t value : bits) low.push_back(static_cast<int32_t>(value));
    EXPECT_EQ(run(node, {{integers({2, 5, 3}, values, ElementType::kInt32)}, {axis}}).integers(), low);
  }
}

TEST_P(AlongAxis, CumulationOfLongLinesAndNothing) {
  std::vector<int64_t> ones(1000, 1), counts;
  for (int64_t i = 0; i < 1000; i++) counts.push_back(i + 1);
  EXPECT_EQ(run({"CumSum", {}, 11}, {{integers({1000}, ones)}, {integers({}, {0})}}).integers(), counts);
  EXPECT_EQ(run({"CumSum"}, {{floats({2, 0}, {})}, {integers({}, {1})}}).shape, (Shape{2, 0}));
  EXPECT_EQ(error_of([&] {
              run({"CumSum"}, {{floats({2}, {1, 2})}, {integers({}, {1})}});
            }),
            "node 'n' (CumSum): axis 1 is outside of rank 1");
}

TEST_P(AlongAxis, ReverseSequence) {
  const std::vector<int64_t> lengths = {0, 3, 5, 1};
  for (ElementType type : kTypesBySize) {
    auto source = [&](int64_t time, int64_t batch) { return time < lengths[batch] ? lengths[batch] - 1 - time : time; };
    Tensor x = numbered({5, 4, 3}, type);
    expect_same(run({"ReverseSequence"}, {{x}, {integers({4}, lengths)}}), moved(x, x.shape, [&](const Coordinates& c) {
                  return Coordinates{source(c[0], c[1]), c[1], c[2]};
                }));
    x = numbered({4, 5}, type);
    TestNode node{"ReverseSequence", {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}}};
    expect_same(run(node, {{x}, {integers({4}, lengths)}}), moved(x, x.shape, [&](const Coordinates& c) {
                  return Coordinates{c[0], source(c[1], c[0])};
                }));
  }
}

TEST_P(AlongAxis, ReverseSequenceOfALengthOutside) {
  for (int64_t bad : {int64_t{3}, int64_t{-1}, int64_t{1} << 32}) {
    EXPECT_EQ(error_of([&] {
                run({"ReverseSequence"}, {{numbered({2, 1}, ElementType::kFloat)}, {integers({1}, {bad})}});
              }),
              "node 'n' (ReverseSequence): a length is outside of 0 to 2");
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, AlongAxis, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
