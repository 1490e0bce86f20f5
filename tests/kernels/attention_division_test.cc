// Tests of how attention is cut into items, for 1 to 128 threads without having them.
#include "cpu/kernels/division/attention_division.h"

#include <gtest/gtest.h>

#include "schedule.h"

namespace ortolan::cpu::kernels {
namespace {

AttentionShape shape(int64_t batch, int64_t heads, int64_t queries, int64_t keys, int64_t head = 64) {
  return {batch, heads, heads, queries, keys, head, head, true, false};
}

std::vector<double> costs_of(const AttentionShape& s, const AttentionCut& c) {
  std::vector<double> costs;
  for (int64_t i = 0; i < s.batch * c.head_steps; ++i) {
    for (int64_t query = 0; query < s.queries; query += c.queries) {
      const int64_t rows = std::min(c.queries, s.queries - query) * c.heads;
      costs.push_back(static_cast<double>(rows) * attention_row_ns(s));
    }
  }
  return costs;
}

// BERT-base, a language model's prompt, an image's patches, long texts, few heads.
TEST(AttentionDivision, ManyQueriesAreItemsForManyThreads) {
  for (const AttentionShape& s :
       {shape(1, 12, 128, 128), shape(8, 12, 128, 128), shape(1, 12, 1000, 1000), shape(1, 16, 197, 197),
        shape(1, 32, 2048, 4096, 128), shape(1, 1, 4096, 4096), shape(64, 16, 512, 512)}) {
    const AttentionCut c = cut_attention(s);
    const std::vector<double> costs = costs_of(s, c);
    ASSERT_EQ(static_cast<int64_t>(costs.size()), c.items(s.batch));
    double total = 0;
    for (double cost : costs) total += cost;
    EXPECT_NEAR(total, static_cast<double>(s.batch * s.heads * s.queries) * attention_row_ns(s), 1e-9 * total);
    for (int threads = 1; threads <= kMostThreads; ++threads) {
      SCOPED_TRACE(testing::Message() << s.batch << " x " << s.heads << " heads, " << s.queries << " queries, "
                                      << s.keys << " keys, " << threads << " threads");
      const double share = total / threads;
      const double longer = threads <= 64 ? 1.6 : 2;  // than all share alike: finer items would pack keys too often
      EXPECT_LE(time_of(costs, threads), std::max(longer * share, 3 * kGoodTaskNs));
      if (share >= 6 * kGoodTaskNs && threads <= 64) {
        EXPECT_GE(c.items(s.batch), 2 * threads);
      }
    }
    EXPECT_GE(static_cast<double>(c.rows()) * attention_row_ns(s), kLeastTaskNs);
    EXPECT_EQ(c.queries % 32, 0) << "rows that tiles fill";
    EXPECT_EQ(c.splits, 1);
  }
}

TEST(AttentionDivision, FewQueriesShareTheirKeys) {
  AttentionShape s = shape(1, 32, 1, 8192, 128);
  s.kv_heads = 8;
  AttentionCut c = cut_attention(s);
  EXPECT_EQ(c.heads, 4);
  EXPECT_EQ(c.items(1), 8);
  EXPECT_EQ(c.splits, 8) << "so many keys are shared among threads";
  s.whole = true;
  c = cut_attention(s);
  EXPECT_EQ(c.splits, 1);
  EXPECT_EQ(c.key_tile, 8192);
}

TEST(AttentionDivision, WantedScoresAreBounded) {
  AttentionShape s = shape(1, 4, 1024, 65536);
  s.whole = true;
  EXPECT_LE(cut_attention(s).rows() * s.keys, 1 << 18);
  s.keys = 1 << 20;
  EXPECT_EQ(cut_attention(s).queries, 1);
}

}  // namespace
}  // namespace ortolan::cpu::kernels
