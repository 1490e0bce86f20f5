// ExpandDims, SampleOp, UnfoldTensor, DynamicTimeWarping and MurmurHash3.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

TEST(ExpandDims, PutsADimension) {
  auto shape = [](Shape from, int32_t axis) {
    return node("ExpandDims")
        .input(Tensor(ElementType::kFloat, from))
        .input<int32_t>({}, {axis})
        .once()
        .run_tensor()
        .shape();
  };
  EXPECT_EQ(shape({2, 3}, 0), (Shape{1, 2, 3}));
  EXPECT_EQ(shape({2, 3}, 2), (Shape{2, 3, 1}));
  EXPECT_EQ(shape({2, 3}, -1), (Shape{2, 3, 1}));
  EXPECT_EQ(shape({2, 3}, -3), (Shape{1, 2, 3}));
  EXPECT_EQ(shape({}, 0), (Shape{1}));
  EXPECT_EQ(shape({0}, 1), (Shape{0, 1}));
  Tensor words = node("ExpandDims").input<std::string>({2}, {"a", "b"}).input<int32_t>({1}, {1}).run_tensor();
  EXPECT_TRUE(equal<std::string>(words, {2, 1}, {"a", "b"}));
  for (int32_t axis : {3, -4, INT32_MIN}) {
    OpTest test = node("ExpandDims");
    test.input<float>({1, 1}, {1}).input<int32_t>({}, {axis});
    EXPECT_NE(test.error().find("is outside [-3, 2]"), std::string::npos) << test.error();
  }
  EXPECT_NE(node("ExpandDims").input<float>({1}, {1}).input<int32_t>({0}, {}).error().find("axis has shape [0]"),
            std::string::npos);
}

TEST(SampleOp, Copies) {
  EXPECT_TRUE(equal<float>(node("SampleOp").input<float>({2}, {1, 2}).run_tensor(), {2}, {1, 2}));
}

TEST(UnfoldTensor, TakesWindows) {
  Tensor x = random_tensor<float>({2, 7, 3}, test_seed());
  auto values = doubles(x);
  for (int64_t axis : {0, 1, 2, -1, -2}) {
    for (int64_t step : {1, 2, 100}) {
      int64_t at = axis < 0 ? axis + 3 : axis, size = 2;
      Shape shape = x.shape();
      shape[at] = (shape[at] - size) / step + 1;
      int64_t outer = shape.count_to(at), windows = shape[at], inner = shape.count_from(at + 1);
      std::vector<double> expected;
      for (int64_t i = 0; i < outer * windows * inner * size; ++i) {
        int64_t place = i / size / inner % windows * step + i % size;
        expected.push_back(values[(i / size / inner / windows * x.shape()[at] + place) * inner + i / size % inner]);
      }
      shape.push_back(size);
      OpTest test = node("UnfoldTensor");
      test.input(x).set("dim", axis).set("size", size).set("step", step);
      EXPECT_TRUE(near(test.run_tensor(), shape, expected, 0)) << axis << " " << step;
    }
  }
  EXPECT_EQ(node("UnfoldTensor").input<std::string>({2}, {"a", "b"}).set("size", 2).run_tensor().shape(),
            (Shape{1, 2}));
  EXPECT_EQ(node("UnfoldTensor").input<float>({0, 2}, {}).set("size", 1).run_tensor().shape(), (Shape{0, 2, 1}));
}

TEST(UnfoldTensor, RefusesWhatCannotBe) {
  auto error = [](Shape shape, int64_t size, int64_t step, int64_t dim) {
    OpTest test = node("UnfoldTensor");
    test.input(Tensor(ElementType::kInt8, std::move(shape))).set("size", size).set("step", step).set("dim", dim);
    return test.error();
  };
  EXPECT_NE(error({3}, 4, 1, 0).find("smaller than the window's size 4"), std::string::npos);
  EXPECT_NE(error({3}, 0, 1, 0).find("size is 0 and step 1"), std::string::npos);
  EXPECT_NE(error({3}, -1, 1, 0).find("size is -1 and step 1"), std::string::npos);
  EXPECT_NE(error({3}, 1, 0, 0).find("size is 1 and step 0"), std::string::npos);
  EXPECT_NE(error({3}, 1, INT64_MIN, 0).find("size is 1 and step -9223372036854775808"), std::string::npos);
  EXPECT_NE(error({3}, 1, 1, 1).find("dim 1 is outside [-1, 0] for rank 1"), std::string::npos);
  EXPECT_NE(error({3}, INT64_MAX, 1, 0).find("dimension 0 of shape [3] is smaller than the window's size"),
            std::string::npos);
  EXPECT_NE(error({}, 1, 1, 0).find("input 0 has rank 0 (shape []), but it must be 1 or more"), std::string::npos);
}

/** The least sum of a path to the last element, by trying all. */
double least_sum(const std::vector<double>& costs, int64_t columns, int64_t i, int64_t j) {
  double before = i == 0 && j == 0 ? 0 : INFINITY;
  if (i > 0) before = std::min(before, least_sum(costs, columns, i - 1, j));
  if (j > 0) before = std::min(before, least_sum(costs, columns, i, j - 1));
  if (i > 0 && j > 0) before = std::min(before, least_sum(costs, columns, i - 1, j - 1));
  return before + costs[i * columns + j];
}

TEST(DynamicTimeWarping, FindsTheCheapestPath) {
  for (Shape shape : {Shape{4, 6}, Shape{1, 5, 3}, Shape{1, 7}, Shape{6, 1}}) {
    Tensor costs = random_tensor<float>(shape, test_seed(), 0, 1);
    auto values = doubles(costs);
    int64_t columns = shape[shape.rank() - 1], rows = shape[shape.rank() - 2];
    Tensor path = node("DynamicTimeWarping").input(costs).run_tensor();
    int64_t length = path.shape()[1];
    const int32_t *at_row = path.data<int32_t>(), *at_column = at_row + length;
    double sum = 0;
    for (int64_t k = 0; k < length; ++k) {
      sum += values[at_row[k] * columns + at_column[k]];
      if (k == 0) continue;
      int step = at_row[k] - at_row[k - 1], other = at_column[k] - at_column[k - 1];
      EXPECT_TRUE(step >= 0 && step <= 1 && other >= 0 && other <= 1 && step + other > 0);
    }
    EXPECT_EQ(at_row[0] + at_column[0], 0);
    EXPECT_EQ(at_row[length - 1], rows - 1);
    EXPECT_EQ(at_column[length - 1], columns - 1);
    EXPECT_NEAR(sum, least_sum(values, columns, rows - 1, columns - 1), 1e-5);
  }
}

TEST(DynamicTimeWarping, TakesOddInput) {
  auto test = [](Tensor costs) {
    OpTest made = node("DynamicTimeWarping");
    made.input(std::move(costs));
    return made;
  };
  EXPECT_EQ(test(Tensor(ElementType::kFloat, {0, 3})).run_tensor().shape(), (Shape{2, 0}));
  EXPECT_EQ(test(Tensor(ElementType::kFloat, {3, 0})).run_tensor().shape(), (Shape{2, 0}));
  EXPECT_NE(test(Tensor(ElementType::kFloat, {2, 3, 0})).error().find("[1, rows, columns]"), std::string::npos);
  EXPECT_NE(
      test(Tensor(ElementType::kFloat, {2})).error().find("input 0 has rank 1 (shape [2]), but it must be 2 to 3"),
      std::string::npos);
  for (float odd : {NAN, INFINITY, -INFINITY}) {
    EXPECT_EQ(test(tensor_of<float>({2, 2}, {odd, odd, odd, odd})).error(), "");
  }
}

/** From the description, a byte at a time. */
uint32_t murmur_hash3(const std::string& text) {
  auto mixed = [](uint32_t word) {
    word *= 0xcc9e2d51u;
    return (word << 15 | word >> 17) * 0x1b873593u;
  };
  uint32_t hash = 0, word = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    word |= static_cast<uint32_t>(static_cast<uint8_t>(text[i])) << (i % 4 * 8);
    if (i % 4 != 3) continue;
    hash ^= mixed(word);
    hash = (hash << 13 | hash >> 19) * 5 + 0xe6546b64u;
    word = 0;
  }
  hash = (hash ^ mixed(word)) ^ static_cast<uint32_t>(text.size());
  hash = (hash ^ hash >> 16) * 0x85ebca6bu;
  hash = (hash ^ hash >> 13) * 0xc2b2ae35u;
  return hash ^ hash >> 16;
}

TEST(MurmurHash3, EveryLength) {
  std::mt19937 random(test_seed());
  std::vector<std::string> texts;
  std::vector<uint32_t> hashes;
  for (size_t length = 0; length < 40; ++length) {
    std::string text(length, ' ');
    for (char& c : text) c = static_cast<char>(random());
    hashes.push_back(murmur_hash3(text));
    texts.push_back(std::move(text));
  }
  EXPECT_TRUE(
      equal<uint32_t>(node("MurmurHash3").set("seed", 0).input<std::string>({40}, texts).run_tensor(), {40}, hashes));
}

TEST(MurmurHash3, HashesKnownValues) {
  auto hash = [](Tensor keys, int64_t seed = 0) {
    OpTest test = node("MurmurHash3");
    test.input(std::move(keys)).set("seed", seed);
    return test.run_tensor();
  };
  // The reference values of SMHasher's users.
  EXPECT_TRUE(equal<uint32_t>(hash(tensor_of<std::string>({3}, {"", "test", "Hello, world!"})), {3},
                              {0u, 0xba6bd213u, 0xc0363e43u}));
  EXPECT_TRUE(equal<uint32_t>(hash(tensor_of<std::string>({3}, {"", "test", "aaa"}), 0x9747b28c), {3},
                              {0xebb6c228u, 0x704b81dcu, 0x283e0130u}));
  EXPECT_TRUE(equal<uint32_t>(hash(tensor_of<int32_t>({1}, {3})), {1}, {847579505u}));
  EXPECT_TRUE(equal<uint32_t>(hash(tensor_of<uint32_t>({}, {3})), {}, {847579505u}));
  Tensor wide = hash(tensor_of<int64_t>({1}, {0x74736574}));
  EXPECT_EQ(*wide.data<uint32_t>(),
            *hash(tensor_of<std::string>({1}, {std::string("test\0\0\0\0", 8)})).data<uint32_t>());
  OpTest test = node("MurmurHash3");
  test.input<int32_t>({1}, {4}).set("positive", 0);
  EXPECT_TRUE(equal<int32_t>(test.run_tensor(), {1}, {1889779975}));
  for (Tensor keys :
       {Tensor(ElementType::kDouble, {2}), Tensor(ElementType::kFloat, {2}), Tensor(ElementType::kUInt64, {2})}) {
    std::fill_n(static_cast<char*>(keys.mutable_raw()), keys.byte_count(), 1);
    EXPECT_EQ(hash(keys).data<uint32_t>()[0], hash(keys).data<uint32_t>()[1]);
  }
  EXPECT_EQ(hash(Tensor(ElementType::kString, {0, 2})).shape(), (Shape{0, 2}));
}

}  // namespace
}  // namespace ortolan::test
