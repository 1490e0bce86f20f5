// Tests of transposition and strided copies against index arithmetic.
#include "cpu/kernels/layout/transpose.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "../thrown_text.h"
#include "base/error.h"
#include "base/threads/thread_pool.h"
#include "isa_test.h"

namespace ortolan::cpu::kernels {
namespace {

class Transpose : public IsaTest {
 protected:
  void check(const std::vector<int64_t>& dims, const std::vector<int>& perm, int64_t size) {
    const int rank = static_cast<int>(dims.size());
    int64_t count = 1;
    for (int64_t d : dims) count *= d;
    std::vector<uint8_t> x(count * size), y(count * size + 1, 77);
    for (uint8_t& b : x) b = static_cast<uint8_t>(random_());
    base::ThreadPool::Options options;
    options.threads = 2;
    static base::ThreadPool* pool = new base::ThreadPool(options);
    transpose(pool, size, rank, dims.data(), perm.data(), x.data(), y.data());
    std::vector<int64_t> index(rank, 0);
    for (int64_t out = 0; out < count; ++out) {
      int64_t rest = out;
      for (int i = rank - 1; i >= 0; --i) {
        index[perm[i]] = rest % dims[perm[i]];
        rest /= dims[perm[i]];
      }
      int64_t in = 0;
      for (int i = 0; i < rank; ++i) in = in * dims[i] + index[i];
      ASSERT_EQ(std::memcmp(&y[out * size], &x[in * size], size), 0) << "element " << out << " of size " << size;
    }
    EXPECT_EQ(y.back(), 77);
  }
};

TEST_P(Transpose, RandomPermutations) {
  for (int round = 0; round < 200 && !HasFatalFailure(); ++round) {
    const int rank = static_cast<int>(integer(0, 6));
    std::vector<int64_t> dims(rank);
    for (int64_t& d : dims) d = integer(round % 20 == 0 ? 0 : 1, rank <= 2 ? 130 : 9);
    std::vector<int> perm(rank);
    std::iota(perm.begin(), perm.end(), 0);
    std::shuffle(perm.begin(), perm.end(), random_);
    const int64_t sizes[] = {1, 2, 4, 8, 16, 3};
    check(dims, perm, sizes[integer(0, 5)]);
  }
}

TEST_P(Transpose, ShapesOfAttentionAndImages) {
  for (int64_t size : {1, 2, 4, 8}) {
    check({1, 128, 12, 64}, {0, 2, 1, 3}, size);
    check({1, 12, 64, 37}, {0, 1, 3, 2}, size);
    check({2, 3, 45, 31}, {0, 2, 3, 1}, size);
    check({2, 45, 31, 3}, {0, 3, 1, 2}, size);
    check({300, 200}, {1, 0}, size);
  }
}

TEST_P(Transpose, ShortSides) {
  for (int64_t size : {1, 2, 4, 8}) {
    for (int64_t rows = 1; rows < 20; ++rows) {
      for (int64_t columns : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 33, 70}) {
        check({rows, columns}, {1, 0}, size);
        check({2, rows, 3, columns}, {0, 3, 2, 1}, size);
      }
    }
  }
}

TEST_P(Transpose, LeavesWhatIsBetweenLines) {
  for (int round = 0; round < 300 && !HasFatalFailure(); ++round) {
    const int64_t rows = integer(1, 40), columns = integer(1, 40), size = int64_t{1} << integer(0, 4);
    const bool turned = integer(0, 1) == 1;  // or lines of `columns` elements
    const int64_t from_line = (turned ? rows : columns) + integer(0, 3), to_line = columns + integer(0, 3);
    const int64_t dims[] = {rows, columns};
    const int64_t from[] = {turned ? 1 : from_line, turned ? from_line : 1}, to[] = {to_line, 1};
    // Exactly the bytes that the copy may touch.
    std::vector<uint8_t> x(((rows - 1) * from[0] + (columns - 1) * from[1] + 1) * size);
    std::vector<uint8_t> y(((rows - 1) * to_line + columns) * size, 77), expected(y);
    for (uint8_t& b : x) b = static_cast<uint8_t>(random_());
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        std::memcpy(&expected[(i * to_line + j) * size], &x[(i * from[0] + j * from[1]) * size], size);
      }
    }
    copy_strided(nullptr, size, 2, dims, x.data(), from, y.data(), to);
    ASSERT_EQ(y, expected) << rows << " x " << columns << " of size " << size << (turned ? ", turned" : "");
  }
}

TEST(CopyStrided, ReversesBroadcastsAndSlices) {
  const int32_t x[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  int32_t y[12] = {};
  const int64_t dims[] = {2, 3}, reversed[] = {4, -1}, dense[] = {3, 1}, repeated[] = {0, 1};
  copy_strided(nullptr, 4, 2, dims, x + 2, reversed, y, dense);
  EXPECT_EQ(std::vector<int32_t>(y, y + 6), (std::vector<int32_t>{2, 1, 0, 6, 5, 4}));
  copy_strided(nullptr, 4, 2, dims, x + 5, repeated, y, dense);
  EXPECT_EQ(std::vector<int32_t>(y, y + 6), (std::vector<int32_t>{5, 6, 7, 5, 6, 7}));
  const int64_t spread[] = {6, 2};
  std::fill(y, y + 12, -1);
  copy_strided(nullptr, 4, 2, dims, x, dense, y, spread);
  EXPECT_EQ(std::vector<int32_t>(y, y + 12), (std::vector<int32_t>{0, -1, 1, -1, 2, -1, 3, -1, 4, -1, 5, -1}));
}

TEST(CopyStrided, RefusesTooManyDimensions) {
  const std::vector<int64_t> ones(kMaxCopyRank + 1, 1);
  char x = 0, y = 0;
  EXPECT_TRUE(test::throws("dimensions can be copied", [&] {
    copy_strided(nullptr, 1, kMaxCopyRank + 1, ones.data(), &x, ones.data(), &y, ones.data());
  }));
}

ORTOLAN_FOR_EACH_ISA(Transpose);

}  // namespace
}  // namespace ortolan::cpu::kernels
