// Products of a device's library, with their reference.
#pragma once

#include <cmath>

#include "tested_device.h"

namespace ortolan::gpu {

class LibraryTest : public DeviceTest {
 protected:
  static int64_t place_of(const LibraryProduct::Matrix& matrix, int64_t number, int64_t row, int64_t column) {
    if (matrix.turned) std::swap(row, column);
    return matrix.first + number * matrix.stack + row * matrix.row + column;
  }

  /** Rows with some elements between them, matrices with more, and a first element behind others. */
  static LibraryProduct spread(int64_t m, int64_t n, int64_t k, int64_t count, bool turns_a, bool turns_b) {
    LibraryProduct p{m, n, k, count};
    p.a = {3, (turns_a ? m : k) + 2, 0, turns_a};
    p.b = {1, (turns_b ? k : n) + 1, 0, turns_b};
    p.c = {2, n + 3};
    p.a.stack = (turns_a ? k : m) * p.a.row + 5;
    p.c.stack = m * p.c.row + 1;
    p.alpha = 0.5f;
    return p;
  }
  /** Elements that hold all matrices. */
  static size_t room(const LibraryProduct::Matrix& matrix, int64_t rows, int64_t count) {
    return static_cast<size_t>(matrix.first + (count - 1) * matrix.stack + rows * matrix.row);
  }
  void draw(const LibraryProduct& p) {
    a_ = random_floats(room(p.a, p.a.turned ? p.k : p.m, p.count));
    b_ = random_floats(room(p.b, p.b.turned ? p.n : p.k, p.count));
    c_ = random_floats(room(p.c, p.m, p.count));
  }
  std::vector<float> reference(const LibraryProduct& p) const {
    std::vector<float> c = c_;
    for (int64_t place = 0; place < p.count * p.m * p.n; place++) {
      int64_t z = place / (p.m * p.n), i = place / p.n % p.m, j = place % p.n;
      double sum = 0;
      for (int64_t k = 0; k < p.k; k++) sum += double{a_[place_of(p.a, z, i, k)]} * b_[place_of(p.b, z, k, j)];
      float& to = c[place_of(p.c, z, i, j)];
      to = static_cast<float>(p.alpha * sum + (p.beta == 0 ? 0 : p.beta * to));
    }
    return c;
  }
  Launch launch_of(const LibraryProduct& p) {
    std::shared_ptr<const Kernel> kernel = library_->load(p);
    EXPECT_NE(kernel, nullptr);
    const size_t bytes = sizeof(float);
    return {kernel,
            {1, 1, 1},
            {external(0, a_.size() * bytes), external(1, b_.size() * bytes), external(2, c_.size() * bytes)},
            {}};
  }
  std::vector<float> run(CommandList& list) {
    std::unique_ptr<Buffer> a = upload(a_), b = upload(b_), c = upload(c_);
    queue_->run(list, std::vector<BufferRange>{whole(*a), whole(*b), whole(*c)});
    return download(*c);
  }
  void expect_right(const LibraryProduct& p) {
    draw(p);
    auto list = device_->record({launch_of(p)});
    for (int i = 0; i < 2; i++) {
      expect_near(run(*list), reference(p), 1e-4f * std::sqrt(static_cast<float>(p.k)));
      draw(p);
    }
  }

  ProductLibrary* library_ = nullptr;
  std::vector<float> a_, b_, c_;

  void expect_all_forms() {
    struct {
      int64_t m, n, k, count;
    } const sizes[] = {{1, 1, 1, 1},    {5, 1, 9, 2},     {7, 33, 5, 1},
                       {64, 32, 96, 1}, {61, 130, 77, 3}, {200, 210, 220, 1}};
    for (auto [m, n, k, count] : sizes) {
      for (int turns = 0; turns < 4; turns++) {
        SCOPED_TRACE(testing::Message() << m << ' ' << n << ' ' << k << ' ' << count << ' ' << turns);
        expect_right(spread(m, n, k, count, turns % 2 == 1, turns / 2 == 1));
      }
    }
  }
};

}  // namespace ortolan::gpu
