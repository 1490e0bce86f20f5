// ScatterElements and ScatterND, with all reductions, updates of one place among them.
#include <cmath>

#include "gpu/numbered.h"

namespace ortolan::gpu::test {
namespace {

class Scatter : public testing::TestWithParam<NamedDevice> {
 protected:
  Tensor run(const TestNode& node, const std::vector<NodeInput>& inputs) {
    return run_node(*GetParam().device, node, inputs)[0];
  }
};

void put(Tensor& y, int64_t place, const Tensor& updates, int64_t update) {
  size_t size = element_bytes(y.type);
  std::memcpy(y.bytes.data() + place * static_cast<int64_t>(size),
              updates.bytes.data() + update * static_cast<int64_t>(size), size);
}

TEST_P(Scatter, ElementsOfWhichTheLastCounts) {
  const std::vector<int64_t> at = {1, -4, 1, 0, 3, 0};  // [3, 2] along axis 0 of [4, 3]
  for (ElementType type : kTypesBySize) {
    for (ElementType index : {ElementType::kInt32, ElementType::kInt64}) {
      Tensor x = numbered({4, 3}, type), wanted = x, updates = numbered({40}, type);
      updates = moved(updates, {3, 2}, [](const Coordinates& c) { return Coordinates{20 + c[0] * 2 + c[1]}; });
      for (int64_t u = 0; u < 6; u++) put(wanted, (at[u] + 4) % 4 * 3 + u % 2, updates, u);
      expect_same(run({"ScatterElements"}, {{x}, {integers({3, 2}, at, index)}, {updates}}), wanted);
      expect_same(run({"Scatter", {}, 9}, {{x}, {integers({3, 2}, at, index)}, {updates}}), wanted);
    }
  }
}

TEST_P(Scatter, ManyElementsOfFewPlaces) {
  std::vector<int64_t> at;
  for (int64_t i = 0; i < 300; i++) at.push_back(i * i % 7);
  Tensor x = numbered({7}, ElementType::kInt32), updates = numbered({300}, ElementType::kInt32), wanted = x;
  for (int64_t u = 0; u < 300; u++) put(wanted, at[u], updates, u);
  expect_same(run({"ScatterElements"}, {{x}, {integers({300}, at)}, {updates}}), wanted);
}

double reduced(const std::string& reduction, double a, double b) {
  if (reduction == "add") return a + b;
  if (reduction == "mul") return a * b;
  if (std::isnan(a) || std::isnan(b)) return NAN;
  return reduction == "max" ? std::max(a, b) : std::min(a, b);
}

TEST_P(Scatter, ReductionsOfFloats) {
  const std::vector<int64_t> at = {1, 1, 4, 0, 1, 2};  // [2, 3] along axis 1 of [2, 5]
  for (ElementType type : {ElementType::kFloat, ElementType::kFloat16}) {
    for (std::string reduction : {"add", "mul", "max", "min"}) {
      std::vector<float> x = random_floats({10}, 1).floats(), updates = random_floats({6}, 2).floats();
      updates[4] = NAN;
      Tensor data = floats({2, 5}, x, type), given = floats({2, 3}, updates, type);
      std::vector<float> wanted = data.floats();
      for (int64_t u = 0; u < 6; u++) {
        float& target = wanted[u / 3 * 5 + at[u]];
        target = static_cast<float>(reduced(reduction, target, given.floats()[u]));
      }
      TestNode node{"ScatterElements", {{"axis", int64_t{-1}}, {"reduction", reduction}}};
      expect_near(run(node, {{data}, {integers({2, 3}, at)}, {given}}), floats({2, 5}, wanted, type), 2e-3f);
    }
  }
}

TEST_P(Scatter, ReductionsOfIntegersWrap) {
  const std::vector<int64_t> values = {INT64_MAX, -3, int64_t{5} << 40},
                             updates = {7, int64_t{3} << 33, -(int64_t{1} << 50)};
  for (ElementType type : {ElementType::kInt32, ElementType::kInt64}) {
    Tensor x = integers({3}, values, type), given = integers({3}, updates, type);
    auto run_with = [&](const std::string& reduction) {
      return run({"ScatterND", {{"reduction", reduction}}}, {{x}, {integers({3, 1}, {0, 1, 2})}, {given}});
    };
    auto wanted = [&](auto combine) {
      std::vector<int64_t> result;
      for (size_t i = 0; i < 3; i++) result.push_back(combine(x.integers()[i], given.integers()[i]));
      return integers({3}, result, type);
    };
    auto bits = [](int64_t v) { return static_cast<uint64_t>(v); };
    expect_same(run_with("add"), wanted([&](int64_t a, int64_t b) { return static_cast<int64_t>(bits(a) + bits(b)); }));
    expect_same(run_with("mul"), wanted([&](int64_t a, int64_t b) { return static_cast<int64_t>(bits(a) * bits(b)); }));
    expect_same(run_with("max"), wanted([](int64_t a, int64_t b) { return std::max(a, b); }));
    expect_same(run_with("min"), wanted([](int64_t a, int64_t b) { return std::min(a, b); }));
  }
}

TEST_P(Scatter, SlicesOfWhichTheLastCounts) {
  const std::vector<int64_t> at = {2, 1, 0, -1, 2, 1};  // tuples [3, 2] for [3, 4, 5]
  for (ElementType type : kTypesBySize) {
    Tensor x = numbered({3, 4, 5}, type), wanted = x;
    Tensor updates =
        moved(numbered({90}, type), {3, 5}, [](const Coordinates& c) { return Coordinates{70 + c[0] * 5 + c[1]}; });
    for (int64_t u = 0; u < 15; u++)
      put(wanted, (at[u / 5 * 2] * 4 + (at[u / 5 * 2 + 1] + 4) % 4) * 5 + u % 5, updates, u);
    expect_same(run({"ScatterND", {}, 11}, {{x}, {integers({3, 2}, at)}, {updates}}), wanted);
  }
}

TEST_P(Scatter, OneSliceAndNone) {
  Tensor x = numbered({3, 70}, ElementType::kFloat), update = numbered({1, 70}, ElementType::kFloat), wanted = x;
  for (int64_t i = 0; i < 70; i++) put(wanted, 70 + i, update, i);
  expect_same(run({"ScatterND"}, {{x}, {integers({1, 1}, {1})}, {update}}), wanted);
  expect_same(run({"ScatterND"}, {{x}, {integers({0, 1}, {})}, {numbered({0, 70}, ElementType::kFloat)}}), x);
  expect_same(run({"ScatterElements"}, {{x}, {integers({0, 0}, {})}, {numbered({0, 0}, ElementType::kFloat)}}), x);
}

TEST_P(Scatter, SumsOfSlices) {
  Tensor x = random_floats({4, 6}, 3), updates = random_floats({3, 6}, 4);
  std::vector<float> wanted = x.floats();
  const int64_t at[] = {1, 3, 1};
  for (int64_t u = 0; u < 18; u++) wanted[at[u / 6] * 6 + u % 6] += updates.floats()[u];
  expect_near(run({"ScatterND", {{"reduction", "add"}}}, {{x}, {integers({3, 1}, {1, 3, 1})}, {updates}}),
              floats({4, 6}, wanted));
}

TEST_P(Scatter, ErrorsAndRefusals) {
  Tensor x = numbered({3}, ElementType::kFloat), one = numbered({1}, ElementType::kFloat);
  EXPECT_EQ(error_of([&] {
              run({"ScatterElements"}, {{x}, {integers({1}, {3})}, {one}});
            }),
            "node 'n' (ScatterElements): an index is outside of axis 0 of size 3");
  EXPECT_EQ(error_of([&] {
              run({"ScatterND"}, {{x}, {integers({1, 1}, {-4})}, {one}});
            }),
            "node 'n' (ScatterND): an index is outside of its axis");
  EXPECT_EQ(error_of([&] {
              run({"ScatterND"}, {{x}, {integers({1, 1}, {0})}, {x}});
            }),
            "node 'n' (ScatterND): there are 3 updates for 1 slices of 1");
  Tensor flags = numbered({3}, ElementType::kBool);
  EXPECT_EQ(refusal_of(*GetParam().device, {"ScatterND", {{"reduction", "max"}}},
                       {{flags}, {integers({1, 1}, {0})}, {flags}}),
            "input 0 is bool; supported: float, float16, int32, int64");
}

INSTANTIATE_TEST_SUITE_P(Devices, Scatter, testing::ValuesIn(all_devices()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ortolan::gpu::test
