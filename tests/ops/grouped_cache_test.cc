// GroupQueryAttention over many runs: what its caches hand on, quantised or not, against attention to the whole past.
#include <cmath>
#include <cstring>
#include <tuple>

#include "attention_reference.h"
#include "op_test.h"

namespace ortolan::test {
namespace {

/** A sequence of runs, and in double all keys and values that were. */
struct Decoding {
  int64_t batch = 2, heads = 4, kv_heads = 2, size = 8, window = -1, room = 0;
  int bits = 0;
  bool per_channel = false, slides = false, rotary = false;
  ElementType type = ElementType::kFloat;

  void step(int64_t queries, double tolerance);

  int64_t length = 0;
  Tensor past[2];

 private:
  OpTest node(int64_t queries) const;
  double scale(bool values, int64_t head, int64_t i) const {
    return static_cast<float>((bits == 4 ? 0.2 : 0.01) * (values ? 1.5 : 1) * (per_channel ? 1 + 0.1 * (head + i) : 1));
  }
  Tensor scales(bool values) const;
  Tensor empty_past() const;
  int64_t row_bytes() const { return bits == 4 ? size / 2 : size; }
  int code(double x, double scale) const {
    const float code = std::nearbyint(static_cast<float>(x) / static_cast<float>(scale));
    return static_cast<int>(std::clamp(code, bits == 4 ? -8.0f : -128.0f, bits == 4 ? 7.0f : 127.0f));
  }
  void turn(std::vector<double>& rows, int64_t count_heads, int64_t queries) const;
  void remember(const Tensor& fresh, bool values, int64_t queries);
  std::vector<double> all(bool values) const;
  void expect_newest(const Tensor& present, bool values, int64_t row) const;

  Tensor q_, cosines_, sines_;
  std::vector<Tensor> fresh_;
  std::vector<std::vector<double>> history_[2];  // [batch * kv_heads][length * size]
};

Tensor Decoding::scales(bool values) const {
  Tensor result(ElementType::kFloat, per_channel ? Shape{1, kv_heads, 1, size} : Shape{1});
  for (int64_t n = 0; n < result.element_count(); ++n) {
    result.mutable_data<float>()[n] = static_cast<float>(scale(values, n / size, n % size));
  }
  return result;
}

Tensor Decoding::empty_past() const {
  Tensor result(bits == 0   ? type
                : bits == 8 ? ElementType::kInt8
                            : ElementType::kUInt8,
                Shape{batch, kv_heads, room, row_bytes()});
  std::fill_n(static_cast<uint8_t*>(result.mutable_raw()), result.byte_count(), uint8_t{1});  // which nobody may see
  return result;
}

OpTest Decoding::node(int64_t queries) const {
  OpTest test("GroupQueryAttention", 1, "com.microsoft");
  test.set("num_heads", heads).set("kv_num_heads", kv_heads).set("do_rotary", rotary).set("local_window_size", window);
  test.set("sliding_window_cache", slides).set("kv_cache_bit_width", bits);
  for (const char* name : {"k_quant_type", "v_quant_type"}) {
    test.set(name, bits == 0 ? "NONE" : per_channel ? "PER_CHANNEL" : "PER_TENSOR");
  }
  test.input(q_).input(fresh_[0]).input(fresh_[1]).input(past[0]).input(past[1]);
  const auto total = static_cast<int32_t>(length + queries);
  test.input<int32_t>({batch}, std::vector<int32_t>(batch, total - 1)).input<int32_t>({1}, {total});
  test.input(cosines_).input(sines_).no_input().no_input().no_input();
  if (bits != 0) test.input(scales(false)).input(scales(true));
  return test;
}

/** Rows of [batch, queries, heads, size], by their positions. */
void Decoding::turn(std::vector<double>& rows, int64_t count_heads, int64_t queries) const {
  const int64_t pairs = size / 2;
  const std::vector<double> c = doubles(cosines_), s = doubles(sines_);
  for (int64_t n = 0; n < batch * queries * count_heads; ++n) {
    const int64_t position = length + n / count_heads % queries;
    for (int64_t i = 0; i < pairs; ++i) {
      double &a = rows[n * size + i], &b = rows[n * size + pairs + i], was = a;
      a = was * c[position * pairs + i] - b * s[position * pairs + i];
      b = b * c[position * pairs + i] + was * s[position * pairs + i];
    }
  }
}

void Decoding::remember(const Tensor& fresh, bool values, int64_t queries) {
  std::vector<double> rows = doubles(fresh);
  if (rotary && !values) turn(rows, kv_heads, queries);
  history_[values].resize(batch * kv_heads);
  for (int64_t n = 0; n < batch * queries * kv_heads; ++n) {
    const int64_t head = n % kv_heads, b = n / (kv_heads * queries);
    for (int64_t i = 0; i < size; ++i) {
      const double by = scale(values, head, i), x = rows[n * size + i];
      history_[values][b * kv_heads + head].push_back(bits == 0 ? x : code(x, by) * by);
    }
  }
}

std::vector<double> Decoding::all(bool values) const {
  std::vector<double> result;
  for (const auto& rows : history_[values]) result.insert(result.end(), rows.begin(), rows.end());
  return result;
}

/** The newest row of each head lies at `row`. */
void Decoding::expect_newest(const Tensor& present, bool values, int64_t row) const {
  const int64_t rows = present.shape()[2];
  for (int64_t n = 0; n < batch * kv_heads * size; ++n) {
    const int64_t head = n / size, i = n % size, at = (head * rows + row) * row_bytes();
    const double by = scale(values, head % kv_heads, i);
    double found = 0;
    if (bits == 0) found = doubles(present)[at + i];
    if (bits == 8) found = present.data<int8_t>()[at + i] * by;
    if (bits == 4) found = ((present.data<uint8_t>()[at + i / 2] >> (i % 2 * 4) & 15) - 8) * by;
    ASSERT_NEAR(found, history_[values][head][history_[values][head].size() - size + i],
                type == ElementType::kFloat ? 1e-5 : 2e-3);
  }
}

void Decoding::step(int64_t queries, double tolerance) {
  const uint32_t seed = static_cast<uint32_t>(100 + 3 * length);
  auto random = [&](int64_t rows, uint32_t add) {
    const Shape shape{batch, queries, rows};
    return type == ElementType::kFloat ? random_tensor<float>(shape, seed + add)
                                       : random_tensor<Half>(shape, seed + add);
  };
  q_ = random(heads * size, 0);
  fresh_ = {random(kv_heads * size, 1), random(kv_heads * size, 2)};
  cosines_ = random_tensor<float>({64, size / 2}, 6), sines_ = random_tensor<float>({64, size / 2}, 7);
  if (length == 0) past[0] = past[1] = empty_past();
  for (bool values : {false, true}) remember(fresh_[values], values, queries);
  std::vector<double> q = doubles(q_);
  if (rotary) turn(q, heads, queries);
  const int64_t total = length + queries;
  PlainAttention plain{batch,      heads,    kv_heads, queries, total, size, size, by_head(q, heads, queries, size),
                       all(false), all(true)};
  plain.seen = [&](int64_t, int64_t i, int64_t j) {
    return j <= length + i && (window < 0 || j > length + i - window);
  };
  plain.run();
  auto results = node(queries).run(3);
  EXPECT_TRUE(near(results[0].tensor(), {batch, queries, heads * size}, plain.out_by_position(), tolerance)) << length;
  const int64_t kept = !slides || total <= room ? total : window + (total - room - 1) % (room - window + 1);
  for (bool values : {false, true}) {
    past[values] = results[1 + values].tensor();
    ASSERT_EQ(past[values].shape(), (Shape{batch, kv_heads, slides ? room : std::max(room, total), row_bytes()}));
    expect_newest(past[values], values, kept - 1);
  }
  length = total;
}

TEST(GroupedCache, HoldsCodes) {
  for (int bits : {8, 4}) {
    for (bool per_channel : {false, true}) {
      for (int64_t room : {0, 20}) {
        SCOPED_TRACE(testing::Message() << bits << " bits, per channel " << per_channel << ", room " << room);
        Decoding plain;
        plain.bits = bits, plain.per_channel = per_channel, plain.room = room;
        Decoding turned = plain, narrow = plain;
        turned.rotary = true, turned.window = 3;
        narrow.type = ElementType::kFloat16;
        for (int64_t queries : {5, 1, 1, 3, 1}) {
          plain.step(queries, 2e-6);
          turned.step(queries, 2e-6);
          narrow.step(queries, 2e-3);
        }
      }
    }
  }
}

TEST(GroupedCache, SlidesWithTheWindow) {
  for (int bits : {0, 8, 4}) {
    for (auto [room, window] : {std::pair{6, 4}, std::pair{6, 6}, std::pair{7, 1}, std::pair{40, 5}}) {
      for (std::vector<int64_t> steps :
           {std::vector<int64_t>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, {3, 3, 3, 3}, {9, 1, 1, 5, 9, 1, 2}}) {
        SCOPED_TRACE(testing::Message() << bits << " bits, " << window << " of " << room << ", first " << steps[0]);
        Decoding sliding;
        sliding.bits = bits, sliding.slides = sliding.rotary = true, sliding.window = window, sliding.room = room;
        for (int64_t queries : steps) sliding.step(queries, 2e-6);
      }
    }
  }
}

/** A decode step of one head whose rows are their numbers, new ones from 100 on. */
OpTest numbered(int64_t room, int64_t window, std::vector<int32_t> lengths, int32_t total) {
  const auto batch = static_cast<int64_t>(lengths.size());
  Tensor past(ElementType::kFloat, Shape{batch, 1, room, 2});
  for (int64_t n = 0; n < past.element_count(); ++n) past.mutable_data<float>()[n] = static_cast<float>(n / 2 % room);
  OpTest test("GroupQueryAttention", 1, "com.microsoft");
  test.set("num_heads", 1).set("kv_num_heads", 1).set("local_window_size", window).set("sliding_window_cache", 1);
  Tensor fresh = tensor_of<float>({batch, 1, 2}, std::vector<float>(2 * batch, 100));
  test.input(Tensor(fresh)).input(fresh).input(fresh).input(past).input(past);
  return test.input<int32_t>({batch}, lengths).input<int32_t>({1}, {total});
}

TEST(GroupedCache, BeginsAnewWhereAnotherRowWouldNotFit) {
  auto rows = [](std::vector<int32_t> lengths, int32_t total) {
    std::vector<double> result, all = doubles(numbered(6, 4, lengths, total).run(3)[1].tensor());
    for (size_t n = 0; n < all.size(); n += 2) result.push_back(all[n]);
    return result;
  };
  using Rows = std::vector<double>;
  EXPECT_EQ(rows({5}, 6), (Rows{0, 1, 2, 3, 4, 100}));
  EXPECT_EQ(rows({6}, 7), (Rows{3, 4, 5, 100, 0, 0}));
  EXPECT_EQ(rows({7}, 8), (Rows{0, 1, 2, 3, 100, 0}));
  EXPECT_EQ(rows({8, 12}, 13), (Rows{0, 1, 2, 3, 4, 100, 3, 4, 5, 100, 0, 0}));
  EXPECT_EQ(rows({0, 12}, 13), (Rows{100, 0, 0, 0, 0, 0, 3, 4, 5, 100, 0, 0}));
}

// As layers do that share the cache of another layer.
TEST(GroupedCache, MayHoldAllThatQueriesSee) {
  for (auto [queries, room, window, bits] : {std::tuple{1, 5, -1, 0}, {3, 9, 2, 0}, {5, 5, -1, 0}, {2, 9, -1, 8}}) {
    const int64_t size = 8, total = 5, heads = 4, kv_heads = 2;
    Tensor q = random_tensor<float>({1, queries, heads * size}, 1),
           none(ElementType::kFloat, Shape{1, 0, kv_heads * size});
    const Shape cache{1, kv_heads, room, size};
    Tensor k = bits ? random_tensor<int8_t>(cache, 2, -90, 90) : random_tensor<float>(cache, 2);
    Tensor v = bits ? random_tensor<int8_t>(cache, 3, -90, 90) : random_tensor<float>(cache, 3);
    auto rows = [&, room = room, bits = bits](const Tensor& tensor) {
      std::vector<double> result, all = doubles(tensor);
      for (int64_t n = 0; n < kv_heads * total * size; ++n) {
        const int64_t head = n / (total * size);
        result.push_back(all[head * room * size + n % (total * size)] * (bits ? double{0.01f} : 1));
      }
      return result;
    };
    PlainAttention plain{
        1, heads, kv_heads, queries, total, size, size, by_head(doubles(q), heads, queries, size), rows(k), rows(v)};
    plain.seen = [&, queries = queries, window = window](int64_t, int64_t i, int64_t j) {
      const int64_t at = total - queries + i;
      return j <= at && (window < 0 || j > at - window);
    };
    plain.run();
    OpTest test("GroupQueryAttention", 1, "com.microsoft");
    test.set("num_heads", heads).set("kv_num_heads", kv_heads).set("local_window_size", window);
    test.set("kv_cache_bit_width", bits).set("k_quant_type", bits ? "PER_TENSOR" : "NONE");
    test.set("v_quant_type", bits ? "PER_TENSOR" : "NONE");
    test.input(q).input(none).input(none).input(k).input(v);
    test.input<int32_t>({1}, {total - 1}).input<int32_t>({1}, {total});
    for (int i = 0; i < 5; ++i) test.no_input();
    if (bits) test.input<float>({1}, {0.01f}).input<float>({1}, {0.01f});
    auto results = test.run(3);
    EXPECT_TRUE(near(results[0].tensor(), {1, queries, heads * size}, plain.out_by_position(), 2e-6)) << queries;
    EXPECT_EQ(results[1].tensor().shape(), cache);
  }
}

TEST(GroupedCache, Errors) {
  auto error = [](OpTest test) { return test.error(3); };
  EXPECT_NE(error(numbered(6, 7, {5}, 6)).find("sliding_window_cache needs those of local_window_size, 7"),
            std::string::npos);
  EXPECT_NE(error(numbered(6, -1, {5}, 6)).find("it must be positive"), std::string::npos);
  EXPECT_NE(error(numbered(6, 4, {5}, 6).set("qk_output", 1)).find("scores cannot be given"), std::string::npos);
  EXPECT_NE(error(numbered(6, 4, {5}, 6).set("k_quant_type", "FOO")).find("k_quant_type is 'FOO'"), std::string::npos);
  EXPECT_NE(error(numbered(6, 4, {5}, 6).set("k_quant_type", "PER_TENSOR")).find("both be NONE"), std::string::npos);
  EXPECT_NE(error(numbered(6, 4, {5}, 6).set("kv_cache_bit_width", 8)).find("kv_cache_bit_width is 8"),
            std::string::npos);
  OpTest coded = numbered(6, 4, {5}, 6).set("k_quant_type", "PER_TENSOR").set("v_quant_type", "PER_TENSOR");
  EXPECT_NE(error(OpTest(coded).set("kv_cache_bit_width", 5)).find("kv_cache_bit_width is 5"), std::string::npos);
  coded.set("kv_cache_bit_width", 8);
  EXPECT_NE(error(coded).find("k_scale holds 0 values"), std::string::npos) << error(coded);
  for (int i = 0; i < 5; ++i) coded.no_input();
  coded.input<float>({1}, {1}).input<float>({1}, {1});
  EXPECT_NE(error(coded).find("it needs int8"), std::string::npos) << error(coded);
}

}  // namespace
}  // namespace ortolan::test
