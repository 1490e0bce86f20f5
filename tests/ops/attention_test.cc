// ai.onnx.Attention and FlexAttention against plain loops.
#include "ops/attention_reference.h"

namespace ortolan::test {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

struct Case {
  int64_t batch, heads, kv_heads, queries, keys, size, value_size, past = 0;
  bool causal = false, flat = false;
  int64_t left = -1, right = -1;
  float softcap = 0, scale = 0;
  Shape mask = {};
  bool bool_mask = false;
  std::vector<int64_t> lengths = {};
};

/** Runs a case with elements of T and compares results, present keys and values, and scores of `mode`. */
template <class T>
void check(const Case& c, int opset, int mode, double tolerance) {
  uint32_t seed = test_seed();
  auto shape = [&](int64_t heads, int64_t rows, int64_t size) {
    return c.flat ? Shape{c.batch, rows, heads * size} : Shape{c.batch, heads, rows, size};
  };
  Tensor q = random_tensor<T>(shape(c.heads, c.queries, c.size), seed);
  Tensor k = random_tensor<T>(shape(c.kv_heads, c.keys, c.size), seed + 1);
  Tensor v = random_tensor<T>(shape(c.kv_heads, c.keys, c.value_size), seed + 2);
  Tensor past_k = random_tensor<T>({c.batch, c.kv_heads, c.past, c.size}, seed + 3);
  Tensor past_v = random_tensor<T>({c.batch, c.kv_heads, c.past, c.value_size}, seed + 4);
  int64_t total = c.past + c.keys, groups = c.batch * c.kv_heads;
  PlainAttention plain{c.batch, c.heads, c.kv_heads, c.queries, total, c.size, c.value_size};
  auto heads_first = [&](const Tensor& x, int64_t heads, int64_t rows, int64_t size) {
    return c.flat ? by_head(doubles(x), heads, rows, size) : doubles(x);
  };
  plain.q = heads_first(q, c.heads, c.queries, c.size);
  plain.k = joined(doubles(past_k), heads_first(k, c.kv_heads, c.keys, c.size), groups);
  plain.v = joined(doubles(past_v), heads_first(v, c.kv_heads, c.keys, c.value_size), groups);
  plain.scale = c.scale, plain.softcap = c.softcap;
  plain.seen = [&](int64_t b, int64_t i, int64_t j) {
    int64_t position = (c.lengths.empty() ? c.past : c.lengths[b] - c.queries) + i;
    return (c.lengths.empty() || j < c.lengths[b]) && (!c.causal || j <= position) &&
           (c.left < 0 || position - j <= c.left) && (c.right < 0 || j - position <= c.right);
  };
  OpTest test("Attention", opset);
  test.input(q).input(k).input(v).set("is_causal", c.causal).set("softcap", c.softcap);
  test.set("qk_matmul_output_mode", mode);
  if (c.flat) test.set("q_num_heads", c.heads).set("kv_num_heads", c.kv_heads);
  if (c.scale != 0) test.set("scale", c.scale);
  if (opset >= 25) test.set("left_window_size", c.left).set("right_window_size", c.right);
  std::vector<double> mask;
  if (c.mask.rank() > 0) {
    Tensor tensor = c.bool_mask ? random_tensor<int32_t>(c.mask, seed + 5, 0, 3) : random_tensor<T>(c.mask, seed + 5);
    mask = doubles(tensor);
    if (c.bool_mask) {
      Tensor bools(ElementType::kBool, c.mask);
      for (size_t i = 0; i < mask.size(); ++i) {
        bools.mutable_data<bool>()[i] = mask[i] != 0;
        mask[i] = mask[i] != 0 ? 0 : kNever;
      }
      tensor = bools;
    }
    test.input(tensor);
    plain.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
      int64_t at[4] = {b, h, i, j}, index = 0;
      size_t rank = c.mask.rank();
      if (j >= c.mask[rank - 1]) return kNever;
      for (size_t d = 0; d < rank; ++d) index = index * c.mask[d] + (c.mask[d] == 1 ? 0 : at[4 - rank + d]);
      return mask[index];
    };
  } else {
    test.no_input();
  }
  c.past > 0 ? test.input(past_k).input(past_v) : test.no_input().no_input();
  if (!c.lengths.empty()) test.input<int64_t>({c.batch}, c.lengths);
  plain.run();
  auto results = test.run(4);
  Shape y{c.batch, c.heads, c.queries, c.value_size};
  if (c.flat) y = {c.batch, c.queries, c.heads * c.value_size};
  EXPECT_TRUE(near(results[0].tensor(), y, c.flat ? plain.out_by_position() : plain.out, tolerance));
  EXPECT_TRUE(near(results[1].tensor(), {c.batch, c.kv_heads, total, c.size}, plain.k, 0));
  EXPECT_TRUE(near(results[2].tensor(), {c.batch, c.kv_heads, total, c.value_size}, plain.v, 0));
  const std::vector<double>* scores[] = {&plain.scaled, &plain.capped, &plain.biased, &plain.probabilities};
  std::vector<double> given = doubles(results[3].tensor());
  ASSERT_EQ(given.size(), scores[mode]->size());
  for (size_t i = 0; i < given.size(); ++i) {
    double wanted = (*scores[mode])[i];
    EXPECT_TRUE(given[i] == wanted || std::abs(given[i] - wanted) <= tolerance * 4) << given[i] << " " << wanted;
  }
  // Without the scores, keys are taken in tiles.
  EXPECT_TRUE(near(test.run_tensor(), y, c.flat ? plain.out_by_position() : plain.out, tolerance));
}

const Case kCases[] = {
    {2, 3, 3, 4, 6, 8, 8},
    {2, 3, 3, 4, 6, 8, 10, 0, true},
    {2, 6, 2, 5, 7, 16, 12, 3, true, true},
    {1, 4, 1, 1, 9, 32, 32, 40, true, false},
    {2, 4, 2, 3, 6, 8, 8, 4, true, true, -1, -1, 2.0f, 0.3f, {3, 10}},
    {2, 2, 2, 3, 5, 8, 8, 0, false, false, -1, -1, 0, 0, {2, 1, 3, 5}, true},
    {1, 2, 2, 140, 150, 8, 8, 0, true, true, -1, -1, 0, 0, {140, 150}},
    {1, 1, 1, 3, 0, 4, 4},
    {0, 2, 2, 3, 4, 4, 4},
};

TEST(OnnxAttention, MatchesPlainLoops) {
  for (const Case& c : kCases) {
    SCOPED_TRACE(&c - kCases);
    for (int mode = 0; mode < 4; ++mode) check<float>(c, 23, mode, 2e-6);
    check<double>(c, 24, 3, 1e-13);
    check<Half>(c, 24, 2, 2e-3);
    check<BFloat16>(c, 25, 0, 2e-2);
  }
}

TEST(OnnxAttention, WindowsAndLengths) {
  const Case cases[] = {
      {2, 3, 3, 4, 8, 8, 8, 0, true, false, 2, -1},
      {1, 2, 1, 6, 6, 8, 8, 5, false, true, 2, 1},
      {2, 4, 2, 4, 9, 8, 8, 0, true, false, -1, -1, 0, 0, {1, 7}, false, {4, 9}},
      {2, 4, 2, 4, 9, 8, 8, 0, true, false, 1, -1, 0, 0, {4, 1, 9}, true, {2, 0}},
      {2, 4, 2, 4, 9, 8, 8, 0, false, false, INT64_MAX, INT64_MAX, 0, 0, {}, false, {5, 7}},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(&c - cases);
    for (int mode = 0; mode < 4; ++mode) check<float>(c, 25, mode, 2e-6);
  }
}

TEST(OnnxAttention, ManyKeys) {
  // More keys than a tile holds, for many and for few queries, and split among threads.
  check<float>({1, 2, 2, 150, 1300, 16, 16, 0, true, false, -1, -1, 0, 0, {1, 1300}}, 24, 3, 2e-6);
  check<float>({1, 4, 2, 1, 5, 16, 24, 5000}, 24, 3, 2e-6);
  check<Half>({1, 4, 2, 1, 5, 16, 24, 2500}, 24, 3, 2e-3);
  check<float>({1, 2, 1, 7, 2600, 16, 16, 0, false, false, 900, 5}, 25, 3, 2e-6);
}

TEST(OnnxAttention, ValuesOfAnotherType) {
  Tensor q = random_tensor<Half>({1, 2, 3, 8}, 1), k = random_tensor<Half>({1, 2, 5, 8}, 2);
  Tensor v = random_tensor<double>({1, 2, 5, 8}, 3);
  PlainAttention plain{1, 2, 2, 3, 5, 8, 8, doubles(q), doubles(k), doubles(v)};
  plain.run();
  auto results = OpTest("Attention", 23).input(q).input(k).input(v).run(3);
  EXPECT_TRUE(near(results[0].tensor(), {1, 2, 3, 8}, plain.out, 2e-3));
  EXPECT_EQ(results[2].tensor().type(), ElementType::kDouble);
}

TEST(OnnxAttention, MasksOfIntegersAreAdded) {
  Tensor x = random_tensor<float>({1, 1, 3, 4}, 1);
  PlainAttention plain{1, 1, 1, 3, 3, 4, 4, doubles(x), doubles(x), doubles(x)};
  plain.bias = [](int64_t, int64_t, int64_t, int64_t j) { return j - 1.0; };
  plain.run();
  OpTest test("Attention", 23);
  test.input(x).input(x).input(x).input<int8_t>({3}, {-1, 0, 1});
  EXPECT_TRUE(near(test.run_tensor(), {1, 1, 3, 4}, plain.out));
}

std::string error_of(Shape q, Shape k, Shape v, Shape mask, std::vector<int64_t> lengths, int64_t heads = 0) {
  OpTest test("Attention", 24);
  test.input(random_tensor<float>(q, 1)).input(random_tensor<float>(k, 2)).input(random_tensor<float>(v, 3));
  mask.rank() > 0 ? test.input(random_tensor<float>(mask, 4)) : test.no_input();
  test.no_input().no_input();
  if (!lengths.empty()) test.input<int64_t>({static_cast<int64_t>(lengths.size())}, lengths);
  if (heads != 0) test.set("q_num_heads", heads).set("kv_num_heads", heads);
  return test.error();
}

TEST(OnnxAttention, Errors) {
  Shape x{2, 2, 3, 4};
  auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  EXPECT_TRUE(has(error_of(x, {2, 2, 3, 5}, x, {}, {}), "do not fit together"));
  EXPECT_TRUE(has(error_of(x, {2, 0, 3, 4}, {2, 0, 3, 4}, {}, {}), "not a multiple of the 0 heads"));
  EXPECT_TRUE(has(error_of(x, x, x, {4, 3}, {}), "does not broadcast"));
  EXPECT_TRUE(has(error_of(x, x, x, {1, 4}, {}), "does not broadcast"));
  EXPECT_TRUE(has(error_of(x, x, x, {}, {1, -1}), "nonpad_kv_seqlen holds -1, but K has 3 rows"));
  EXPECT_TRUE(has(error_of(x, x, x, {}, {1, INT64_MAX}), "but K has 3 rows"));
  EXPECT_TRUE(has(error_of(x, x, x, {}, {1, INT64_MIN}), "but K has 3 rows"));
  EXPECT_TRUE(has(error_of(x, x, x, {}, {1}), "nonpad_kv_seqlen has shape [1]"));
  EXPECT_TRUE(has(error_of({2, 3, 8}, {2, 3, 8}, {2, 3, 8}, {}, {}, 3), "does not split into 3 heads"));
  EXPECT_TRUE(has(error_of({2, 3, 8}, {2, 3, 8}, {2, 3, 8}, {}, {}, -1), "q_num_heads is -1"));
  EXPECT_TRUE(has(OpTest("Attention", 23)
                      .set("qk_matmul_output_mode", 4)
                      .input(random_tensor<float>(x, 1))
                      .input(random_tensor<float>(x, 1))
                      .input(random_tensor<float>(x, 1))
                      .error(),
                  "qk_matmul_output_mode is 4"));
}

TEST(FlexAttention, WithoutModifiers) {
  Tensor q = random_tensor<float>({2, 4, 5, 8}, 1), k = random_tensor<float>({2, 2, 7, 8}, 2);
  Tensor v = random_tensor<float>({2, 2, 7, 6}, 3);
  PlainAttention plain{2, 4, 2, 5, 7, 8, 6, doubles(q), doubles(k), doubles(v)};
  plain.run();
  OpTest test("FlexAttention", 1, "ai.onnx.preview");
  test.input(q).input(k).input(v);
  EXPECT_TRUE(near(test.run_tensor(), {2, 4, 5, 6}, plain.out, 2e-6));
  EXPECT_NE(OpTest("FlexAttention", 1, "ai.onnx.preview").input(q).input(v).input(v).error().find("do not fit"),
            std::string::npos);
}

}  // namespace
}  // namespace ortolan::test
