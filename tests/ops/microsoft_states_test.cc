// What com.microsoft adds to LinearAttention, CausalConvWithState and RotaryEmbedding: windows of states, more key than
// query heads, dilation, channels last, three positions a token.
#include <cmath>

#include "op_test.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }

/** Elements [begin, end) of dimension `axis`. */
Tensor part(const Tensor& tensor, size_t axis, int64_t begin, int64_t end) {
  Shape shape = tensor.shape();
  int64_t outer = shape.count_to(axis), size = shape[axis], inner = shape.count_from(axis + 1);
  shape[axis] = end - begin;
  Tensor result(tensor.type(), shape);
  for (int64_t o = 0; o < outer; ++o) {
    std::copy_n(tensor.data<float>() + (o * size + begin) * inner, (end - begin) * inner,
                result.mutable_data<float>() + o * (end - begin) * inner);
  }
  return result;
}

/** Slot j of the window holds the state that a run over the first T - W + j + 1 tokens ends with; before, zeros. */
template <class Run>
void check_window(const Tensor& windowed, int64_t window, int64_t tokens, Run&& state_after) {
  for (int64_t j = 0; j < window; ++j) {
    int64_t seen = tokens - window + j + 1;
    Tensor slot = part(windowed, 0, j, j + 1);
    Shape shape(slot.shape().begin() + 1, slot.shape().end());
    Tensor expected = seen > 0 ? state_after(seen) : Tensor();
    std::vector<double> zeros(static_cast<size_t>(shape.element_count()));
    EXPECT_TRUE(near(slot.reshaped(shape), shape, seen > 0 ? doubles(expected) : zeros)) << j;
  }
}

TEST(LinearAttention, KeepsAWindowOfStates) {
  Tensor query = random_tensor<float>({2, 3, 8}, 1), key = random_tensor<float>({2, 3, 8}, 2),
         value = random_tensor<float>({2, 3, 6}, 3);
  Tensor past = random_tensor<float>({2, 2, 4, 3}, 4);
  auto attend = [&](int64_t tokens) {
    return node("LinearAttention")
        .set("q_num_heads", 2)
        .set("kv_num_heads", 2)
        .set("update_rule", "linear")
        .input(part(query, 1, 0, tokens))
        .input(part(key, 1, 0, tokens))
        .input(part(value, 1, 0, tokens));
  };
  for (int64_t window : {1, 2, 5}) {
    Tensor history(ElementType::kFloat, Shape{window, 2, 2, 4, 3});
    std::fill_n(history.mutable_data<float>(), history.element_count(), 7.0f);  // only the last slot may be read
    std::copy_n(past.data<float>(), past.element_count(),
                history.mutable_data<float>() + (window - 1) * past.element_count());
    auto results = attend(3).input(history).set("state_window", window).run(2);
    auto plain = attend(3).input(past).run(2);
    EXPECT_TRUE(same_value(results[0], plain[0]));
    check_window(results[1].tensor(), window, 3,
                 [&](int64_t seen) { return attend(seen).input(past).run(2)[1].tensor(); });
  }
  EXPECT_NE(attend(3).set("state_window", 9).error(2).find("state_window is 9"), std::string::npos);
  EXPECT_NE(attend(3)
                .input(past)
                .set("state_window", 2)
                .error(2)
                .find("input 3 has rank 4 (shape [2,2,4,3]), but it must be 5"),
            std::string::npos);
}

TEST(LinearAttention, MoreKeyThanQueryHeads) {
  Tensor query = random_tensor<float>({1, 4, 3}, 1), key = random_tensor<float>({1, 4, 6}, 2),
         value = random_tensor<float>({1, 4, 4}, 3);
  auto attend = [](const Tensor& q, int64_t heads) {
    return node("LinearAttention")
        .set("q_num_heads", heads)
        .set("kv_num_heads", 2)
        .set("update_rule", "linear")
        .input(q);
  };
  Tensor repeated(ElementType::kFloat, Shape{1, 4, 6});
  for (int64_t i = 0; i < 24; ++i) repeated.mutable_data<float>()[i] = query.data<float>()[i / 6 * 3 + i % 3];
  EXPECT_TRUE(same_value(attend(query, 1).input(key).input(value).run_tensor(),
                         attend(repeated, 2).input(key).input(value).run_tensor()));
}

OpTest conv(const Tensor& x, const Tensor& w, const Tensor& bias) {
  return node("CausalConvWithState").input(x).input(w).input(bias);
}

/** [batch, channels, length] by the definition; `past` holds (taps - 1) * dilation positions. */
std::vector<double> convolved(const Tensor& x, const Tensor& w, const Tensor& bias, const Tensor& past,
                              int64_t dilation) {
  int64_t channels = x.shape()[1], length = x.shape()[2], taps = w.shape()[2], carried = past.shape()[2];
  auto v = doubles(x), f = doubles(w), b = doubles(bias), p = doubles(past);
  std::vector<double> y;
  for (int64_t row = 0; row < x.shape()[0] * channels; ++row) {
    for (int64_t t = 0; t < length; ++t) {
      double sum = b[row % channels];
      for (int64_t k = 0; k < taps; ++k) {
        int64_t at = t - (taps - 1 - k) * dilation;
        sum += f[row % channels * taps + k] * (at < 0 ? p[row * carried + carried + at] : v[row * length + at]);
      }
      y.push_back(sum);
    }
  }
  return y;
}

/** [batch, channels, length] as [batch, length, channels]. */
Tensor channels_last(const Tensor& x) {
  int64_t channels = x.shape()[1], length = x.shape()[2];
  Tensor result(ElementType::kFloat, Shape{x.shape()[0], length, channels});
  for (int64_t i = 0; i < x.element_count(); ++i) {
    int64_t b = i / (channels * length), t = i / channels % length, c = i % channels;
    result.mutable_data<float>()[i] = x.data<float>()[(b * channels + c) * length + t];
  }
  return result;
}

TEST(CausalConvWithState, DilationAndChannelsLast) {
  for (int64_t length : {1, 5, 40}) {
    Tensor x = random_tensor<float>({2, 3, length}, 1), w = random_tensor<float>({3, 1, 3}, 2),
           bias = random_tensor<float>({3}, 3);
    Tensor past = random_tensor<float>({2, 3, 4}, 4);
    auto expected = convolved(x, w, bias, past, 2);
    auto first = conv(x, w, bias).input(past).set("dilation", 2).run(2);
    EXPECT_TRUE(near(first[0].tensor(), {2, 3, length}, expected));
    auto last =
        conv(channels_last(x), w, bias).input(channels_last(past)).set("dilation", 2).set("channels_last", 1).run(2);
    EXPECT_TRUE(near(last[0].tensor(), {2, length, 3}, doubles(channels_last(first[0].tensor()))));
    EXPECT_TRUE(same_value(last[1], Value(channels_last(first[1].tensor()))));
  }
  Tensor x = random_tensor<float>({1, 2, 2, 3}, 1), w = random_tensor<float>({6, 1, 2}, 2),
         bias = random_tensor<float>({6}, 3);
  auto wide = conv(x, w, bias).set("channels_last", 1).run(2);
  auto flat = conv(x.reshaped({1, 2, 6}), w, bias).set("channels_last", 1).run(2);
  EXPECT_TRUE(near(wide[0].tensor(), {1, 2, 2, 3}, doubles(flat[0].tensor())));
  EXPECT_EQ(wide[1].tensor().shape(), (Shape{1, 1, 2, 3}));
}

TEST(CausalConvWithState, KeepsAWindowOfStates) {
  Tensor x = random_tensor<float>({2, 2, 4}, 1), w = random_tensor<float>({2, 1, 3}, 2),
         bias = random_tensor<float>({2}, 3);
  for (int64_t window : {1, 3, 8}) {
    auto results = conv(x, w, bias).set("state_window", window).run(2);
    check_window(results[1].tensor(), window, 4,
                 [&](int64_t seen) { return conv(part(x, 2, 0, seen), w, bias).run(2)[1].tensor(); });
    auto last = conv(channels_last(x), w, bias).set("state_window", window).set("channels_last", 1).run(2);
    check_window(last[1].tensor(), window, 4,
                 [&](int64_t seen) { return channels_last(conv(part(x, 2, 0, seen), w, bias).run(2)[1].tensor()); });
  }
  EXPECT_NE(conv(x, w, bias).set("dilation", 0).error(2).find("dilation is 0"), std::string::npos);
  EXPECT_NE(conv(x, w, bias).set("ndim", 2).error(2).find("ndim is 2"), std::string::npos);
}

TEST(MRotaryEmbedding, EachSectionHasItsPosition) {
  constexpr int64_t kPairs = 7, kRows = 9, kTokens = 4;
  Tensor cosine = random_tensor<float>({kRows, kPairs}, 1), sine = random_tensor<float>({kRows, kPairs}, 2);
  Tensor x = random_tensor<float>({2, kTokens, 2 * 16}, 3), ids = random_tensor<int64_t>({3, 2, kTokens}, 4, 0, kRows);
  auto c = doubles(cosine), s = doubles(sine), v = doubles(x);
  auto turn = [&](int64_t layout, std::vector<int64_t> sections) {
    return node("MRotaryEmbedding")
        .input(x)
        .input(ids)
        .input(cosine)
        .input(sine)
        .ints("mrope_section", sections)
        .set("mrope_layout", layout)
        .set("num_heads", 2)
        .set("rotary_embedding_dim", 14);
  };
  const int streams[2][kPairs] = {{0, 0, 0, 1, 1, 2, 2}, {0, 1, 2, 0, 1, 2, 0}};
  for (int64_t layout : {0, 1}) {
    std::vector<double> expected = v;
    for (int64_t t = 0; t < 2 * kTokens; ++t) {
      for (int64_t h = 0; h < 2; ++h) {
        for (int64_t i = 0; i < kPairs; ++i) {
          int64_t row = ids.data<int64_t>()[streams[layout][i] * 2 * kTokens + t], at = t * 32 + h * 16 + i;
          expected[at] = v[at] * c[row * kPairs + i] - v[at + kPairs] * s[row * kPairs + i];
          expected[at + kPairs] = v[at + kPairs] * c[row * kPairs + i] + v[at] * s[row * kPairs + i];
        }
      }
    }
    EXPECT_TRUE(near(turn(layout, {3, 2, 2}).run_tensor(), {2, kTokens, 32}, expected)) << layout;
  }
  EXPECT_NE(turn(0, {3, 2, 1}).error().find("the sections have 6 columns"), std::string::npos);
  EXPECT_NE(turn(0, {8, -3, 2}).error().find("mrope_section holds -3"), std::string::npos);
  EXPECT_NE(turn(2, {3, 2, 2}).error().find("mrope_layout is 2"), std::string::npos);
  ids.mutable_data<int64_t>()[5] = kRows;
  EXPECT_NE(turn(0, {3, 2, 2}).error().find("position 9"), std::string::npos);
  ids.mutable_data<int64_t>()[5] = INT64_MIN;
  EXPECT_NE(turn(0, {3, 2, 2}).error().find("position -9"), std::string::npos);
}

TEST(DynamicSlice, TakesInputsFromTheStart) {
  Tensor x = tensor_of<float>({2, 4}, {1, 2, 3, 4, 5, 6, 7, 8});
  OpTest test = OpTest("DynamicSlice", 9)
                    .input(x)
                    .input<int32_t>({2}, {1, 0})
                    .input<int32_t>({2}, {2, 3})
                    .input<int32_t>({2}, {0, 1});
  EXPECT_TRUE(near(test.run_tensor(), {1, 3}, {5, 6, 7}));
}

}  // namespace
}  // namespace ortolan::test
