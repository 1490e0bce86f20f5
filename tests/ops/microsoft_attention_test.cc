// Attention operators of com.microsoft against plain loops.
#include "ops/attention_reference.h"

namespace ortolan::test {
namespace {

OpTest node(const char* op) { return OpTest(op, 1, "com.microsoft"); }
bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

/** [batch, rows, parts, heads * size] or, `inner`, [batch, rows, heads, parts, size] of `parts` tensors
    [batch, rows, heads * size]. */
Tensor packed(const std::vector<Tensor>& parts, int64_t heads, bool inner) {
  const Shape& shape = parts[0].shape();
  int64_t rows = shape[0] * shape[1], size = shape[2] / heads, count = static_cast<int64_t>(parts.size());
  Tensor result(ElementType::kFloat,
                inner ? Shape{shape[0], shape[1], heads, count, size} : Shape{shape[0], shape[1], count * shape[2]});
  for (int64_t n = 0; n < rows * heads * size; ++n) {
    int64_t e = n % size, h = n / size % heads, r = n / (size * heads);
    for (int64_t p = 0; p < count; ++p) {
      int64_t to = inner ? ((r * heads + h) * count + p) * size + e : ((r * count + p) * heads + h) * size + e;
      result.mutable_data<float>()[to] = parts[p].data<float>()[n];
    }
  }
  return result;
}

class MultiHead : public ::testing::Test {
 protected:
  static constexpr int64_t kBatch = 2, kHeads = 3, kSize = 8, kRow = kHeads * kSize;
  Tensor q = random_tensor<float>({kBatch, 4, kRow}, 1), k = random_tensor<float>({kBatch, 4, kRow}, 2);
  Tensor v = random_tensor<float>({kBatch, 4, kRow}, 3);
  PlainAttention plain{kBatch, kHeads, kHeads, 4, 4, kSize, kSize};

  void SetUp() override { plain.q = heads(q), plain.k = heads(k), plain.v = heads(v); }
  static std::vector<double> heads(const Tensor& x) { return by_head(doubles(x), kHeads, x.shape()[1], kSize); }
  OpTest mha() { return std::move(node("MultiHeadAttention").set("num_heads", kHeads)); }
};

TEST_F(MultiHead, Packings) {
  plain.run();
  Shape y{kBatch, 4, kRow};
  EXPECT_TRUE(near(mha().input(q).input(k).input(v).run_tensor(), y, plain.out_by_position()));
  EXPECT_TRUE(near(mha().input(packed({q, k, v}, kHeads, true)).run_tensor(), y, plain.out_by_position()));
  EXPECT_TRUE(near(mha().input(q).input(packed({k, v}, kHeads, true)).run_tensor(), y, plain.out_by_position()));
  auto by_heads = [](const std::vector<double>& x) {
    return tensor_of<float>({kBatch, kHeads, 4, kSize}, std::vector<float>(x.begin(), x.end()));
  };
  OpTest cross = mha();
  cross.input(q).input(by_heads(plain.k)).input(by_heads(plain.v));
  EXPECT_TRUE(near(cross.run_tensor(), y, plain.out_by_position()));
}

TEST_F(MultiHead, BiasMasksAndScores) {
  Tensor bias = random_tensor<float>({3 * kRow}, 4), added = random_tensor<float>({1, kHeads, 4, 4}, 5);
  Tensor mask = random_tensor<int32_t>({kBatch, 4}, 6, 0, 2);
  auto plus = [&](Tensor x, int64_t part) {
    for (int64_t n = 0; n < x.element_count(); ++n) {
      x.mutable_data<float>()[n] += bias.data<float>()[part * kRow + n % kRow];
    }
    return heads(x);
  };
  plain.q = plus(clone(q), 0), plain.k = plus(clone(k), 1), plain.v = plus(clone(v), 2);
  plain.scale = 0.3;
  plain.bias = [&](int64_t b, int64_t h, int64_t i, int64_t j) {
    return added.data<float>()[(h * 4 + i) * 4 + j] + (mask.data<int32_t>()[b * 4 + j] > 0 ? 0.0 : -2.0);
  };
  plain.run();
  OpTest test = mha();
  test.set("scale", 0.3f).set("mask_filter_value", -2.0f);
  test.input(q).input(k).input(v).input(bias).input(mask).input(added);
  auto results = test.run(4);
  EXPECT_TRUE(near(results[0].tensor(), {kBatch, 4, kRow}, plain.out_by_position()));
  EXPECT_TRUE(near(results[1].tensor(), {kBatch, kHeads, 4, kSize}, plain.k));
  EXPECT_TRUE(near(results[3].tensor(), {kBatch, kHeads, 4, 4}, plain.biased));
  EXPECT_TRUE(near(test.run_tensor(), {kBatch, 4, kRow}, plain.out_by_position()));
}

TEST_F(MultiHead, PastAndBuffers) {
  Tensor past_k = random_tensor<float>({kBatch, kHeads, 3, kSize}, 7);
  Tensor past_v = random_tensor<float>({kBatch, kHeads, 3, kSize}, 8);
  plain.keys = 7;
  plain.k = joined(doubles(past_k), plain.k, kBatch * kHeads);
  plain.v = joined(doubles(past_v), plain.v, kBatch * kHeads);
  plain.seen = [](int64_t, int64_t i, int64_t j) { return j <= 3 + i; };
  plain.run();
  OpTest test = mha();
  test.set("unidirectional", 1).input(q).input(k).input(v).no_input().no_input().no_input();
  test.input(past_k).input(past_v);
  auto results = test.run(3);
  EXPECT_TRUE(near(results[0].tensor(), {kBatch, 4, kRow}, plain.out_by_position()));
  EXPECT_TRUE(near(results[1].tensor(), {kBatch, kHeads, 7, kSize}, plain.k, 0));
  EXPECT_TRUE(near(results[2].tensor(), {kBatch, kHeads, 7, kSize}, plain.v, 0));
  auto with_room = [&](int32_t length) {
    OpTest shared = mha();
    auto room = [&](const Tensor& past) {
      std::vector<double> x =
          joined(doubles(past), std::vector<double>(kBatch * kHeads * 6 * kSize, 9), kBatch * kHeads);
      return tensor_of<float>({kBatch, kHeads, 9, kSize}, std::vector<float>(x.begin(), x.end()));
    };
    shared.set("unidirectional", 1).input(q).input(k).input(v).no_input().no_input().no_input();
    shared.input(room(past_k)).input(room(past_v)).input<int32_t>({1}, {length});
    return shared;
  };
  auto shared = with_room(3).run(3);
  EXPECT_TRUE(near(shared[0].tensor(), {kBatch, 4, kRow}, plain.out_by_position()));
  EXPECT_EQ(shared[1].tensor().shape(), (Shape{kBatch, kHeads, 9, kSize}));
  for (int32_t length : {-1, 6, INT32_MAX, INT32_MIN}) {
    EXPECT_TRUE(has(with_room(length).error(3), "past_sequence_length is")) << length;
  }
}

TEST_F(MultiHead, Errors) {
  EXPECT_TRUE(has(mha().input(q).error(), "needs rank 5"));
  EXPECT_TRUE(has(mha().input(q).input(k).error(), "needs a value"));
  EXPECT_TRUE(has(node("MultiHeadAttention").set("num_heads", 5).input(q).input(k).input(v).error(), "5 heads"));
  EXPECT_TRUE(has(node("MultiHeadAttention").set("num_heads", 0).input(q).input(k).input(v).error(), "num_heads is 0"));
  OpTest mask = mha();
  mask.input(q).input(k).input(v).no_input().input(random_tensor<int32_t>({3, 4}, 1, 0, 1));
  EXPECT_TRUE(has(mask.error(), "mask_index has shape [3,4]"));
}

TEST(DecoderMaskedAttention, BeamsOfACache) {
  const int64_t heads = 2, size = 4, row = heads * size, room = 6, past = 3;
  Tensor q = random_tensor<float>({4, 1, row}, 1), k = random_tensor<float>({4, 1, row}, 2);
  Tensor v = random_tensor<float>({4, 1, row}, 3), pk = random_tensor<float>({4, heads, room, size}, 4);
  Tensor pv = random_tensor<float>({4, heads, room, size}, 5), beams = random_tensor<int32_t>({2, 2, room}, 6, 0, 2);
  auto chosen = [&](const Tensor& cache, const Tensor& fresh) {
    std::vector<double> c = doubles(cache), f = doubles(fresh), result;
    for (int64_t b = 0; b < 4; ++b) {
      for (int64_t h = 0; h < heads; ++h) {
        for (int64_t j = 0; j <= past; ++j) {
          int64_t from = b / 2 * 2 + beams.data<int32_t>()[b * room + j];
          for (int64_t e = 0; e < size; ++e) {
            result.push_back(j == past ? f[b * row + h * size + e] : c[((from * heads + h) * room + j) * size + e]);
          }
        }
      }
    }
    return result;
  };
  PlainAttention plain{4, heads, heads, 1, past + 1, size, size, doubles(q), chosen(pk, k), chosen(pv, v)};
  plain.run();
  auto build = [&](const Tensor& indirection, int32_t length) {
    OpTest test = node("DecoderMaskedMultiHeadAttention");
    test.set("num_heads", heads).set("past_present_share_buffer", 1).input(q).input(k).input(v);
    test.no_input().no_input().input(pk).input(pv).input<int32_t>({1}, {length}).input<int32_t>({1}, {2});
    test.input(indirection);
    return test;
  };
  EXPECT_TRUE(near(build(beams, past).run_tensor(), {4, 1, row}, plain.out_by_position()));
  EXPECT_TRUE(
      has(build(tensor_of<int32_t>({2, 2, 6}, std::vector<int32_t>(24, 2)), past).error(), "names beam 2 of 2"));
  EXPECT_TRUE(has(build(tensor_of<int32_t>({2, 2, 6}, std::vector<int32_t>(24, -1)), past).error(), "names beam -1"));
  EXPECT_TRUE(has(build(tensor_of<int32_t>({2, 2, 2}, std::vector<int32_t>(8, 0)), past).error(), "at least 3"));
  EXPECT_TRUE(has(build(beams, 6).error(), "past_sequence_length is 6"));
}

/** A cache of `room` rows of which some count, new rows after them, and the operator's rules. */
struct Grouped {
  int64_t batch = 2, heads = 4, kv_heads = 2, queries = 1, size = 16, room = 9;
  std::vector<int64_t> past = {3, 7};
  int64_t total = 8, window = -1;
  bool packed = false, rotary = false, interleaved = false, zero_sink = false, sinks = false, bias = false;
  float softcap = 0;
};

void turn(std::vector<double>& x, int64_t rows, int64_t size, const Tensor& cosines, const Tensor& sines,
          bool interleaved, const std::function<int64_t(int64_t n)>& position) {
  int64_t pairs = cosines.shape()[1];
  std::vector<double> c = doubles(cosines), s = doubles(sines);
  for (int64_t n = 0; n < rows; ++n) {
    for (int64_t i = 0; i < pairs; ++i) {
      double& a = x[n * size + (interleaved ? 2 * i : i)];
      double& b = x[n * size + (interleaved ? 2 * i + 1 : pairs + i)];
      double cosine = c[position(n) * pairs + i], sine = s[position(n) * pairs + i], was = a;
      a = was * cosine - b * sine, b = b * cosine + was * sine;
    }
  }
}

template <class T>
void check_grouped(const Grouped& g, double tolerance) {
  Tensor q = random_tensor<T>({g.batch, g.queries, g.heads * g.size}, 1);
  Tensor k = random_tensor<T>({g.batch, g.queries, g.kv_heads * g.size}, 2);
  Tensor v = random_tensor<T>({g.batch, g.queries, g.kv_heads * g.size}, 3);
  Tensor past_k = random_tensor<T>({g.batch, g.kv_heads, g.room, g.size}, 4);
  Tensor past_v = random_tensor<T>({g.batch, g.kv_heads, g.room, g.size}, 5);
  Tensor cosines = random_tensor<T>({20, g.size / 2}, 6), sines = random_tensor<T>({20, g.size / 2}, 7);
  Tensor bias = random_tensor<T>({1, g.heads, g.queries, g.total}, 8), sinks = random_tensor<T>({g.heads}, 9);
  bool first = g.total == g.queries;
  auto past = [&](int64_t b) { return first ? 0 : g.past[b]; };
  PlainAttention plain{g.batch, g.heads, g.kv_heads, g.queries, g.total, g.size, g.size};
  plain.q = by_head(doubles(q), g.heads, g.queries, g.size);
  std::vector<double> new_k = by_head(doubles(k), g.kv_heads, g.queries, g.size);
  std::vector<double> new_v = by_head(doubles(v), g.kv_heads, g.queries, g.size);
  auto position = [&](int64_t heads) {
    return [&g, past, heads](int64_t n) { return past(n / (heads * g.queries)) + n % g.queries; };
  };
  if (g.rotary) {
    turn(plain.q, g.batch * g.heads * g.queries, g.size, cosines, sines, g.interleaved, position(g.heads));
    turn(new_k, g.batch * g.kv_heads * g.queries, g.size, cosines, sines, g.interleaved, position(g.kv_heads));
  }
  int64_t capacity = std::max(g.room, g.total);
  auto cache = [&](const Tensor& old, const std::vector<double>& fresh, int64_t rows) {
    std::vector<double> from = doubles(old), result(g.batch * g.kv_heads * rows * g.size);
    for (int64_t n = 0; n < static_cast<int64_t>(result.size()); ++n) {
      int64_t e = n % g.size, j = n / g.size % rows, head = n / (g.size * rows), before = past(head / g.kv_heads);
      if (j < before) result[n] = from[(head * g.room + j) * g.size + e];
      if (j >= before && j < before + g.queries) result[n] = fresh[(head * g.queries + j - before) * g.size + e];
    }
    return result;
  };
  plain.k = cache(past_k, new_k, g.total), plain.v = cache(past_v, new_v, g.total);
  plain.softcap = g.softcap;
  plain.seen = [&](int64_t b, int64_t i, int64_t j) {
    int64_t at = past(b) + i;
    return j <= at && (g.window < 0 || j > at - g.window);
  };
  if (g.bias) {
    plain.bias = [values = doubles(bias), &g](int64_t, int64_t h, int64_t i, int64_t j) {
      return values[(h * g.queries + i) * g.total + j];
    };
  }
  if (g.zero_sink) plain.sink = [](int64_t) { return 0.0; };
  if (g.sinks) plain.sink = [values = doubles(sinks)](int64_t h) { return values[h]; };
  plain.run();
  std::vector<int32_t> lengths;
  for (int64_t b = 0; b < g.batch; ++b) lengths.push_back(static_cast<int32_t>(past(b) + g.queries - 1));
  OpTest test = node("GroupQueryAttention");
  test.set("num_heads", g.heads).set("kv_num_heads", g.kv_heads).set("do_rotary", g.rotary);
  test.set("rotary_interleaved", g.interleaved).set("local_window_size", g.window).set("softcap", g.softcap);
  test.set("smooth_softmax", g.zero_sink);
  test.input(q).input(k).input(v);
  g.room > 0 ? test.input(past_k).input(past_v) : test.no_input().no_input();
  test.input<int32_t>({g.batch}, lengths).input<int32_t>({1}, {static_cast<int32_t>(g.total)});
  test.input(cosines).input(sines).no_input();
  g.bias ? test.input(bias) : test.no_input();
  g.sinks ? test.input(sinks) : test.no_input();
  auto results = test.run(3);
  Shape y{g.batch, g.queries, g.heads * g.size}, present{g.batch, g.kv_heads, capacity, g.size};
  EXPECT_TRUE(near(results[0].tensor(), y, plain.out_by_position(), tolerance));
  EXPECT_TRUE(near(results[1].tensor(), present, cache(past_k, new_k, capacity), tolerance));
  EXPECT_TRUE(near(results[2].tensor(), present, cache(past_v, new_v, capacity), tolerance));
}

TEST(GroupQueryAttention, MatchesPlainLoops) {
  Grouped decode, prompt, chunk, full;
  prompt.queries = prompt.total = 5, prompt.room = 0;
  chunk.queries = 3, chunk.past = {5, 2};
  full.room = full.total - 1;
  for (Grouped base : {decode, prompt, chunk, full}) {
    SCOPED_TRACE(base.queries);
    check_grouped<float>(base, 2e-6);
    check_grouped<Half>(base, 2e-3);
    check_grouped<BFloat16>(base, 2e-2);
    check_grouped<double>(base, 1e-13);
    Grouped turned = base;
    turned.rotary = true;
    check_grouped<float>(turned, 2e-6);
    turned.interleaved = true;
    check_grouped<float>(turned, 2e-6);
    Grouped other = base;
    other.window = 2, other.softcap = 0.7f, other.bias = true, other.zero_sink = true;
    check_grouped<float>(other, 2e-6);
    other.sinks = true, other.window = 1;
    check_grouped<float>(other, 2e-6);
  }
}

OpTest decode(std::vector<int32_t> lengths, int32_t total, int64_t room, std::vector<int64_t> positions = {}) {
  OpTest test = node("GroupQueryAttention");
  test.set("num_heads", 2).set("kv_num_heads", 1).set("do_rotary", positions.empty() ? 0 : 1);
  test.input(random_tensor<float>({1, 1, 16}, 1)).input(random_tensor<float>({1, 1, 8}, 2));
  test.input(random_tensor<float>({1, 1, 8}, 3)).input(random_tensor<float>({1, 1, room, 8}, 4));
  test.input(random_tensor<float>({1, 1, room, 8}, 5));
  test.input<int32_t>({static_cast<int64_t>(lengths.size())}, lengths).input<int32_t>({1}, {total});
  if (positions.empty()) return test;
  test.input(random_tensor<float>({6, 4}, 6)).input(random_tensor<float>({6, 4}, 7));
  test.input<int64_t>({1, 1}, positions);
  return test;
}

TEST(GroupQueryAttention, LengthsAndTheTotalAreInt32) {
  for (bool total : {false, true}) {
    OpTest test = node("GroupQueryAttention");
    test.set("num_heads", 2).set("kv_num_heads", 1).input(random_tensor<float>({1, 1, 16}, 1));
    for (int seed : {2, 3}) test.input(random_tensor<float>({1, 1, 8}, seed));
    for (int seed : {4, 5}) test.input(random_tensor<float>({1, 1, 8, 8}, seed));
    total ? test.input<int32_t>({1}, {4}).input<uint8_t>({1}, {5})
          : test.input<uint8_t>({1}, {4}).input<int32_t>({1}, {5});
    const std::string error = test.error(3);
    EXPECT_TRUE(has(error, "is uint8, but 'GroupQueryAttention'")) << error;
  }
}

TEST(GroupQueryAttention, HostileLengths) {
  EXPECT_EQ(decode({4}, 5, 8).error(3), "");
  for (int32_t length : {-1, -2, 5, 8, INT32_MAX, INT32_MIN}) {
    EXPECT_TRUE(has(decode({length}, 5, 8).error(3), "seqlens_k holds")) << length;
  }
  for (int32_t total : {0, -1, 10, INT32_MAX, INT32_MIN}) {
    EXPECT_TRUE(has(decode({4}, total, 8).error(3), "total_sequence_length is")) << total;
  }
  EXPECT_TRUE(has(decode({4, 4}, 5, 8).error(3), "seqlens_k has shape [2]"));
  EXPECT_EQ(decode({4}, 5, 8, {5}).error(3), "");
  for (int64_t position : {int64_t{-1}, int64_t{6}, INT64_MAX, INT64_MIN}) {
    EXPECT_TRUE(has(decode({4}, 5, 8, {position}).error(3), "lies outside the 6 rows")) << position;
  }
}

TEST(SparseAttention, SeesNamedBlocks) {
  const int64_t size = 8, room = 64, past = 40, total = past + 3;
  Tensor q = random_tensor<float>({1, 3, 2 * size}, 1), k = random_tensor<float>({1, 3, size}, 2);
  Tensor v = random_tensor<float>({1, 3, size}, 3), pk = random_tensor<float>({1, 1, room, size}, 4);
  Tensor pv = random_tensor<float>({1, 1, room, size}, 5);
  // Blocks of 16: the first layout sees blocks 0 and 2 of row 2, the second all.
  std::vector<int32_t> rows = {0, 1, 2, 4, 5, 0, 1, 3, 6, 10},
                       columns = {0, 1, 0, 2, 3, -1, -1, -1, -1, -1, 0, 0, 1, 0, 1, 2, 0, 1, 2, 3};
  auto build = [&](std::vector<int32_t> row_indices, int32_t length, int32_t most) {
    OpTest test = node("SparseAttention");
    test.set("num_heads", 2).set("kv_num_heads", 1).set("sparse_block_size", 16);
    test.input(q).input(k).input(v).input(pk).input(pv);
    test.input<int32_t>({2, 5}, row_indices).input<int32_t>({2, 10}, columns);
    test.input<int32_t>({1}, {most}).input<int32_t>({1}, {length});
    return test;
  };
  auto cut = [&](const Tensor& cache, const Tensor& fresh) {
    std::vector<double> x = doubles(cache);
    x.resize(past * size);
    for (double value : doubles(fresh)) x.push_back(value);
    return x;
  };
  PlainAttention plain{1, 2, 1, 3, total, size, size, by_head(doubles(q), 2, 3, size), cut(pk, k), cut(pv, v)};
  plain.seen = [](int64_t, int64_t i, int64_t j) { return j <= past + i; };
  plain.bias = [](int64_t, int64_t h, int64_t, int64_t j) {
    return h == 0 && j / 16 == 1 ? -std::numeric_limits<double>::infinity() : 0.0;
  };
  plain.run();
  EXPECT_TRUE(near(build(rows, total, total).run(3)[0].tensor(), {1, 3, 2 * size}, plain.out_by_position(), 2e-6));
  EXPECT_EQ(build({INT32_MIN, 5, INT32_MAX, -7, 9, 9, 8, 7, 6, INT32_MAX}, total, total).error(3), "");
  for (int32_t length : {-1, 2, 44, INT32_MAX, INT32_MIN}) {
    EXPECT_TRUE(has(build(rows, length, total).error(3), "key_total_sequence_lengths holds")) << length;
  }
  for (int32_t most : {-1, 2, 65, INT32_MAX, INT32_MIN}) {
    EXPECT_TRUE(has(build(rows, total, most).error(3), "total_sequence_length is")) << most;
  }
}

TEST(MicrosoftAttention, SharedBufferAndRotary) {
  Tensor x = random_tensor<float>({1, 2, 5}, 1), w = random_tensor<float>({5, 24}, 2);
  Tensor past = random_tensor<float>({2, 1, 2, 6, 4}, 3);
  auto build = [&](int32_t length) {
    OpTest test = node("Attention");
    test.set("num_heads", 2).set("past_present_share_buffer", 1).set("unidirectional", 1).set("do_rotary", 1);
    test.input(x).input(w).no_input().no_input().input(past).no_input().input<int32_t>({1}, {length});
    return test;
  };
  std::vector<double> xs = doubles(x), ws = doubles(w), old = doubles(past);
  auto projected = [&](int64_t part, bool turned) {
    std::vector<double> result(16);
    for (int64_t t = 0; t < 2; ++t) {
      for (int64_t c = 0; c < 8; ++c) {
        double sum = 0;
        for (int64_t i = 0; i < 5; ++i) sum += xs[t * 5 + i] * ws[i * 24 + part * 8 + c];
        result[((c / 4) * 2 + t) * 4 + c % 4] = sum;
      }
    }
    for (int64_t n = 0; turned && n < 8; ++n) {
      double angle = static_cast<double>(3 + n / 2 % 2) * std::pow(10000, -(n % 2) / 2.0);
      double& a = result[n / 2 * 4 + n % 2];
      double &b = result[n / 2 * 4 + n % 2 + 2], was = a;
      a = was * std::cos(angle) - b * std::sin(angle), b = b * std::cos(angle) + was * std::sin(angle);
    }
    return result;
  };
  auto first_rows = [&](int64_t part) {
    std::vector<double> result;
    for (int64_t h = 0; h < 2; ++h) {
      auto from = old.begin() + (part * 2 + h) * 24;
      result.insert(result.end(), from, from + 12);
    }
    return result;
  };
  PlainAttention plain{1, 2, 2, 2, 5, 4, 4, projected(0, true)};
  plain.k = joined(first_rows(0), projected(1, true), 2), plain.v = joined(first_rows(1), projected(2, false), 2);
  plain.seen = [](int64_t, int64_t i, int64_t j) { return j <= 3 + i; };
  plain.run();
  auto results = build(3).run(2);
  EXPECT_TRUE(near(results[0].tensor(), {1, 2, 8}, plain.out_by_position(), 5e-6));
  EXPECT_EQ(results[1].tensor().shape(), past.shape());
  for (int32_t length : {-1, 5, INT32_MAX, INT32_MIN}) {
    EXPECT_TRUE(has(build(length).error(2), "past_sequence_length is")) << length;
  }
}

}  // namespace
}  // namespace ortolan::test
