// Tests of the precision of fp32 products: its names, and how it follows work from thread to thread.
#include "base/fp32_precision.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "base/error.h"
#include "base/thread_pool.h"

namespace ortolan::base {
namespace {

TEST(Fp32Precision, HasNames) {
  for (const char* name : {"x6", "exact", "x3", "bf16"}) EXPECT_STREQ(name_of(parse_fp32_precision(name)), name);
  EXPECT_EQ(parse_fp32_precision("default"), Fp32Precision::kX6);
  for (const char* name : {"", "x", "X6", "x66", "fp32"}) {
    try {
      parse_fp32_precision(name);
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(error.text(), "fp32 precision '" + std::string(name) +
                                  "' is unknown; it must be 'x6' (or 'default'), 'exact', 'x3' or 'bf16'");
    }
  }
}

TEST(Fp32Precision, EndsWithItsScope) {
  EXPECT_EQ(fp32_precision(), Fp32Precision::kX6);
  {
    ScopedFp32Precision outer(Fp32Precision::kExact);
    ScopedFp32Precision inner(Fp32Precision::kX3);
    EXPECT_EQ(fp32_precision(), Fp32Precision::kX3);
  }
  EXPECT_EQ(fp32_precision(), Fp32Precision::kX6);
}

TEST(Fp32Precision, FollowsLoopsAndTasks) {
  ThreadPool::Options options;
  options.threads = 4;
  std::atomic<int> wrong{0}, tasks{0};
  const auto check = [&](Fp32Precision wanted) { wrong += fp32_precision() != wanted; };
  {
    ThreadPool pool(options);
    for (Fp32Precision precision : {Fp32Precision::kExact, Fp32Precision::kX6, Fp32Precision::kBf16}) {
      ScopedFp32Precision scope(precision);
      std::atomic<int> parts{0};
      pool.parallel_for(2, 1, [&](int64_t, int64_t) {
        check(precision);
        ++parts;
        while (parts < 2) std::this_thread::yield();  // until a worker takes the other
      });
    }
    for (Fp32Precision precision : {Fp32Precision::kExact, Fp32Precision::kX6, Fp32Precision::kBf16}) {
      ScopedFp32Precision scope(precision);
      pool.schedule([&, precision] {
        check(precision);
        pool.parallel_for(30, 1, [&](int64_t, int64_t) { check(precision); });
        ++tasks;
      });
    }
  }
  EXPECT_EQ(tasks, 3);
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace ortolan::base
