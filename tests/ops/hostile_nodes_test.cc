// Nodes with random types, shapes and attributes, most of them wrong: each ends in a result or an Error.
#include <random>

#include "op_test.h"

namespace ortolan::test {
namespace {

struct NodeKind {
  const char* op;
  int since;
  std::vector<const char*> ints;        // attributes of one integer
  std::vector<const char*> lists = {};  // of several
  std::vector<const char*> floats = {};
  bool random = false;
};

const NodeKind kKinds[] = {
    {"Add", 1, {"broadcast", "axis"}},
    {"Div", 1, {"broadcast", "axis"}},
    {"Mod", 10, {"fmod"}},
    {"Pow", 1, {"broadcast", "axis"}},
    {"PRelu", 1, {}},
    {"Max", 1, {}},
    {"Equal", 1, {"broadcast", "axis"}},
    {"Where", 9, {}},
    {"Clip", 1, {}, {}, {"min", "max"}},
    {"Shrink", 9, {}, {}, {"lambd", "bias"}},
    {"Cast", 6, {"to", "saturate"}},
    {"CastLike", 15, {"saturate"}},
    {"ReduceSum", 1, {"keepdims", "noop_with_empty_axes"}, {"axes"}},
    {"ReduceMax", 1, {"keepdims", "noop_with_empty_axes"}, {"axes"}},
    {"ReduceLogSumExp", 1, {"keepdims"}, {"axes"}},
    {"ReduceMean", 1, {"keepdims"}, {"axes"}},
    {"ArgMax", 1, {"axis", "keepdims", "select_last_index"}},
    {"CumSum", 11, {"exclusive", "reverse"}},
    {"Softmax", 1, {"axis"}},
    {"Hardmax", 1, {"axis"}},
    {"LpNormalization", 1, {"axis", "p"}},
    {"NegativeLogLikelihoodLoss", 12, {"ignore_index"}},
    {"SoftmaxCrossEntropyLoss", 12, {"ignore_index"}},
    {"Dropout", 1, {"seed"}, {}, {"ratio"}, true},
    {"RandomUniformLike", 1, {"dtype"}, {}, {"low", "high"}, true},
    {"Bernoulli", 15, {"dtype"}, {}, {}, true},
    {"Multinomial", 7, {"dtype"}, {}, {}, true},
    {"EyeLike", 9, {"dtype", "k"}},
    {"Trilu", 14, {"upper"}},
    {"Det", 11, {}},
    {"Einsum", 12, {}},
    {"ImageScaler", 1, {}, {}, {"scale"}},
    {"Crop", 1, {}, {"border", "scale"}},
};

class Draw {
 public:
  explicit Draw(uint32_t seed) : generator_(seed) {}
  int64_t below(int64_t n) { return static_cast<int64_t>(generator_() % static_cast<uint64_t>(n)); }
  template <class T, size_t N>
  T one_of(const T (&items)[N]) {
    return items[below(N)];
  }

  int64_t integer() {
    constexpr int64_t kValues[] = {INT64_MIN, INT64_MAX, INT32_MIN, -3, -2, -1, 0, 0, 1, 1, 2, 3, 7, 11, 16, 26};
    return one_of(kValues);
  }
  Tensor tensor() {
    constexpr ElementType kTypes[] = {ElementType::kFloat,   ElementType::kFloat, ElementType::kDouble,
                                      ElementType::kFloat16, ElementType::kInt64, ElementType::kInt64,
                                      ElementType::kInt32,   ElementType::kUInt8, ElementType::kBool};
    Shape shape;
    for (int64_t rank = below(5); rank > 0; --rank) shape.push_back(below(4));
    Tensor tensor(one_of(kTypes), shape);
    dispatch<kNumericTypes | ElementType::kBool>(tensor.type(), [&]<class T>(TypeTag<T>) {
      for (T& value : tensor.mutable_span<T>()) {
        if constexpr (std::is_same_v<T, int64_t>) {
          value = integer();
        } else if constexpr (std::is_integral_v<T>) {
          value = static_cast<T>(below(4));
        } else {
          value = T(static_cast<float>(below(7)) - 3);
        }
      }
    });
    return tensor;
  }

 private:
  std::mt19937_64 generator_;
};

OpTest draw_node(Draw& draw) {
  const NodeKind& kind = kKinds[draw.below(std::size(kKinds))];
  constexpr int kOpsets[] = {1, 6, 7, 9, 11, 12, 13, 15, 18, 20, 23};
  OpTest test(kind.op, std::max(kind.since, draw.one_of(kOpsets)));
  if (kind.random) test.once();
  for (const char* name : kind.ints) {
    if (draw.below(3) > 0) test.set(name, draw.integer());
  }
  for (const char* name : kind.floats) {
    if (draw.below(3) > 0) test.set(name, static_cast<float>(draw.integer()));
  }
  for (const char* name : kind.lists) {
    std::vector<int64_t> values;
    for (int64_t n = draw.below(5); n > 0; --n) values.push_back(draw.integer());
    if (draw.below(3) > 0) test.ints(name, values);
  }
  constexpr const char* kEquations[] = {"ij,jk->ik", "ii->i", "...i,...i->...", "i", "ab...,...c", "->", "ij,ij,ij->"};
  test.set("equation", draw.one_of(kEquations));
  constexpr const char* kReductions[] = {"none", "mean", "sum", "max"};
  test.set("reduction", draw.one_of(kReductions));
  Tensor first = draw.tensor();
  test.input(first);
  for (int64_t n = draw.below(3); n > 0; --n) test.input(draw.below(3) ? draw.tensor() : first);
  return test;
}

TEST(HostileNodes, EndInAResultOrAnError) {
  int results = 0;
  for (uint32_t i = 0; i < 6000; ++i) {
    Draw draw(test_seed() + i);
    results += draw_node(draw).error().empty();
  }
  EXPECT_GT(results, 300);  // it is not all refused
}

}  // namespace
}  // namespace ortolan::test
