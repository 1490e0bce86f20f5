// CellWalk: whichever lane does a part, the states are those of one step after the other.
#include "cpu/recurrent/cell_walk.h"

#include "op_test.h"

namespace ortolan::cpu {
namespace {

constexpr int64_t kHidden = 96;

struct Inputs {
  RecurrentSizes size;
  kernels::Cell kind;
  bool backward;
  uint32_t seed = test::test_seed();
  int64_t gates = kind == kernels::Cell::kLstm ? 4 : 3;

  std::vector<float> random(int64_t count, uint32_t offset) const {
    Tensor values = test::random_tensor<float>({count}, seed + offset);
    return {values.span<float>().begin(), values.span<float>().end()};
  }
  int64_t state() const { return size.batch * kHidden; }
  std::shared_ptr<const kernels::PackedCell> cell() const {
    return std::make_shared<const kernels::PackedCell>(kind, kHidden, random(gates * kHidden * kHidden, 1).data());
  }
  std::vector<float> projected() const { return random(size.steps * size.batch * gates * kHidden, 2); }
  std::vector<float> bias() const { return random(kHidden, 3); }
  std::vector<float> first_h() const { return random(state(), 4); }
  std::vector<float> first_c() const { return random(state(), 5); }
};

struct Results {
  std::vector<float> y, h, c;
  bool operator==(const Results&) const = default;
};

Results expected(const Inputs& in) {
  auto cell = in.cell();
  std::vector<float> gates = in.projected(), bias = in.bias(), next(in.state());
  Results r{std::vector<float>(in.size.steps * in.state()), in.first_h(), in.first_c()};
  for (int64_t s = 0; s < in.size.steps; ++s) {
    int64_t t = in.backward ? in.size.steps - 1 - s : s, width = in.gates * kHidden;
    kernels::CellStep step{in.size.batch,
                           gates.data() + in.size.row(t, 0) * width,
                           in.size.row(0, 1) * width,
                           r.h.data(),
                           next.data(),
                           bias.data(),
                           r.c.data(),
                           r.c.data()};
    kernels::cell_step(nullptr, *cell, step, s % 2 != 0);
    r.h = next;
    for (int64_t b = 0; b < in.size.batch; ++b) {
      std::copy_n(next.data() + b * kHidden, kHidden, r.y.data() + in.size.y_row(t, b, 0) * kHidden);
    }
  }
  return r;
}

/** The lanes of `order` join one after the other, so that the first does most. */
Results walked(const Inputs& in, int lanes, const std::vector<int>& order) {
  static auto memory = std::make_shared<WalkMemory>();
  CellWalk walk({in.cell(), in.size, 0, in.backward}, lanes, memory);
  auto fill = [](const std::vector<float>& from, float* to) { std::copy(from.begin(), from.end(), to); };
  fill(in.projected(), walk.projected());
  fill(in.first_h(), walk.first_h());
  fill(in.first_c(), walk.first_c());
  walk.set_hidden_bias(in.bias().data());
  Results r{std::vector<float>(in.size.steps * in.state()), std::vector<float>(in.state()),
            std::vector<float>(in.state())};
  walk.set_y(r.y.data());
  for (int lane : order) walk.join(lane);
  walk.read_last(r.h.data(), r.c.data());
  return r;
}

TEST(CellWalk, IsTheSameForAnyLane) {
  for (auto kind : {kernels::Cell::kLstm, kernels::Cell::kGru}) {
    for (int form = 0; form < 8; ++form) {
      Inputs in{{5, form & 1 ? 3 : 1, 7, kHidden, 1, (form & 2) != 0}, kind, (form & 4) != 0};
      Results wanted = expected(in);
      if (kind == kernels::Cell::kGru) wanted.c.clear();
      for (const auto& order : std::vector<std::vector<int>>{{0}, {1, 0}, {2, 1, 0}, {0, 2}}) {
        Results got = walked(in, 3, order);
        if (kind == kernels::Cell::kGru) got.c.clear();
        EXPECT_EQ(got, wanted) << "form " << form << ", first lane " << order[0];
      }
      EXPECT_EQ(walked(in, 1, {0}).y, wanted.y);
    }
  }
}

TEST(CellWalk, IsWorthItForLargeStepsOnly) {
  auto lanes = [](int64_t steps, int64_t batch, int64_t hidden, int degree) {
    std::vector<float> weights(4 * hidden * hidden);
    auto cell = std::make_shared<const kernels::PackedCell>(kernels::Cell::kLstm, hidden, weights.data());
    return CellWalkPlan{cell, {steps, batch, 8, hidden, 1, false}}.lanes(degree);
  };
  EXPECT_EQ(lanes(100, 1, 256, 1), 1);
  EXPECT_EQ(lanes(100, 1, 256, 2), 2);
  EXPECT_EQ(lanes(100, 1, 64, 2), 1);
  EXPECT_EQ(lanes(1, 1, 256, 2), 1);
  EXPECT_EQ(lanes(100000, 4, 256, 2), 1);  // too much memory
}

}  // namespace
}  // namespace ortolan::cpu
