// Fourier transforms: the plan of a length, and its passes over lines.
#include "cpu/kernels/transforms/fourier.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <initializer_list>
#include <numbers>
#include <utility>

#include "base/threads/polled_loop.h"
#include "cpu/kernels/kernel_table.h"

namespace ortolan::cpu::kernels {
namespace {

constexpr int64_t kNearNumbers = 1 << 18;  // doubles of planes that stay in the second-level cache

// e^(-2 pi i part / whole) behind the numbers. Quarters of a turn are exact.
void add_turn(std::vector<double>& to, uint64_t part, uint64_t whole) {
  const uint64_t quarters = 4 * (part % whole) / whole, rest = 4 * (part % whole) - quarters * whole;
  const double angle = std::numbers::pi / 2 * (static_cast<double>(rest) / static_cast<double>(whole));
  double re = std::cos(angle), im = -std::sin(angle);
  for (uint64_t i = 0; i < quarters; ++i) re = std::exchange(im, -re);
  to.push_back(re);
  to.push_back(im);
}

// Divides n by its factors that passes take, which it adds; what is left.
int64_t take_factors(int64_t n, std::vector<int64_t>& factors) {
  for (int64_t factor : {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31}) {
    for (; n % factor == 0; n /= factor) factors.push_back(factor);
  }
  return n;
}

// The smallest of 2^a, 3 * 2^a and 5 * 2^a that is n or more.
int64_t easy_length(int64_t n) {
  int64_t best = INT64_MAX;
  for (int64_t odd : {1, 3, 5}) {
    const auto parts = static_cast<uint64_t>((n + odd - 1) / odd);
    best = std::min(best, odd * static_cast<int64_t>(std::bit_ceil(parts)));
  }
  return best;
}

// Body(begin, end, first, last) for all points and numbers of a pass, in parts between which a run can be stopped.
template <class Body>
void polled_pass(const FourierPass& pass, Body body) {
  const int64_t row = pass.radix * pass.run;
  if (row <= base::TerminatePoll::kUnits) {
    return base::polled_loop(
        pass.points, [&](int64_t begin, int64_t end) { body(begin, end, 0, pass.run); }, row);
  }
  for (int64_t p = 0; p < pass.points; ++p) {
    base::polled_loop(
        pass.run, [&](int64_t first, int64_t last) { body(p, p + 1, first, last); }, pass.radix);
  }
}

}  // namespace

Fourier::Fourier(int64_t length, bool real) : length_(length), padded_(length), real_(real) {
  if (real && length % 2 == 0) {
    base::TerminatePoll poll;
    for (int64_t k = 0; k <= length / 2; ++k) {  // -i e^(-2 pi i k / length)
      poll.work(32);
      add_turn(unfolding_, static_cast<uint64_t>(4 * k + length), 4 * static_cast<uint64_t>(length));
    }
  }
  std::vector<int64_t> factors;
  padded_ = core();
  if (take_factors(core(), factors) != 1) padded_ = easy_length(2 * core() - 1);
  add_passes();
  if (padded_ != core()) add_chirp();
}

void Fourier::add_passes() {
  std::vector<int64_t> factors;
  take_factors(padded_, factors);
  base::TerminatePoll poll;
  int64_t n = padded_;
  for (int64_t radix : factors) {
    Pass& pass = passes_.emplace_back(Pass{radix, {}, {}});
    pass.turns.reserve(static_cast<size_t>(2 * (n - n / radix)));
    for (int64_t p = 0; p < n / radix; ++p) {
      poll.work(32 * radix);
      for (int64_t u = 1; u < radix; ++u) add_turn(pass.turns, static_cast<uint64_t>(p * u), static_cast<uint64_t>(n));
    }
    for (int64_t j = 0; j < radix; ++j) add_turn(pass.roots, static_cast<uint64_t>(j), static_cast<uint64_t>(radix));
    n /= radix;
  }
}

void Fourier::add_chirp() {
  const int64_t n = core();
  base::TerminatePoll poll;
  for (int64_t k = 0; k < n; ++k) {
    poll.work(32);
    const auto square = static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k);
    add_turn(chirp_, static_cast<uint64_t>(square % static_cast<uint64_t>(2 * n)), 2 * static_cast<uint64_t>(n));
  }
  for (double v : chirp_) end_chirp_.push_back(v / static_cast<double>(padded_));
  const Scratch<double> space(4 * padded_);
  std::fill_n(space.data(), 4 * padded_, 0.0);
  const FourierPlanes x{space.data(), space.data() + padded_};
  for (int64_t k = 0; k < n; ++k) {
    for (int64_t at : {k, (padded_ - k) % padded_}) x.re[at] = chirp_[2 * k], x.im[at] = -chirp_[2 * k + 1];
  }
  const FourierPlanes y = run_passes(1, x, {space.data() + 2 * padded_, space.data() + 3 * padded_});
  for (int64_t k = 0; k < padded_; ++k) filter_.push_back(y.re[k]), filter_.push_back(y.im[k]);
}

int64_t Fourier::rows() const { return std::max(padded_, core() + 1); }

int64_t Fourier::lines_at_once(int64_t count) const {
  const int64_t lanes = kernels().fourier->lanes;
  return std::clamp<int64_t>(count, 1, 4 * rows() * lanes <= kNearNumbers ? lanes : 1);
}

double Fourier::line_ns() const {
  constexpr double kNumberNs = 0.5;  // a complex number in a pass, on one line of several
  const double times = chirp_.empty() ? 1 : 2;
  return static_cast<double>(padded_) * (static_cast<double>(passes_.size()) * times + 4) * kNumberNs;
}

FourierPlanes Fourier::run_passes(int64_t lines, FourierPlanes x, FourierPlanes room) const {
  const auto run_pass = kernels().fourier->pass;
  int64_t points = padded_, run = lines;
  for (const Pass& pass : passes_) {
    points /= pass.radix;
    const FourierPass f{pass.radix, points, run, x, room, pass.turns.data(), pass.roots.data()};
    polled_pass(f,
                [&](int64_t begin, int64_t end, int64_t first, int64_t last) { run_pass(f, begin, end, first, last); });
    std::swap(x, room);
    run *= pass.radix;
  }
  return x;
}

FourierPlanes Fourier::run_chirp(int64_t lines, FourierPlanes x, FourierPlanes room) const {
  const auto turn = [&](int64_t rows, const FourierPlanes& of, const std::vector<double>& factors) {
    base::polled_loop(
        rows,
        [&](int64_t begin, int64_t end) {
          const FourierPlanes part{of.re + begin * lines, of.im + begin * lines};
          kernels().fourier->turn(end - begin, lines, part, factors.data() + 2 * begin, part);
        },
        lines);
  };
  const int64_t used = core() * lines, all = padded_ * lines;
  turn(core(), x, chirp_);
  for (double* plane : {x.re, x.im}) {
    base::polled_loop(all - used,
                      [&](int64_t begin, int64_t end) { std::fill(plane + used + begin, plane + used + end, 0.0); });
  }
  const auto other = [&](const FourierPlanes& one) { return one.re == x.re ? room : x; };
  FourierPlanes now = run_passes(lines, x, room);
  turn(padded_, now, filter_);
  const FourierPlanes rest = other(now), back = run_passes(lines, {now.im, now.re}, {rest.im, rest.re});
  now = {back.im, back.re};
  turn(core(), now, end_chirp_);
  return now;
}

FourierLines::FourierLines(const Fourier& fourier, int64_t lines, bool inverse)
    : fourier_(fourier), lines_(lines), inverse_(inverse), space_(4 * fourier.rows() * lines), x_{}, y_{} {
  double *re = space_.data(), *im = re + fourier.rows() * lines;
  if (inverse) std::swap(re, im);
  x_ = {re, im};
}

void FourierLines::run() {
  const int64_t plane = fourier_.rows() * lines_;
  const FourierPlanes first{space_.data(), space_.data() + plane};
  const FourierPlanes second{space_.data() + 2 * plane, space_.data() + 3 * plane};
  if (fourier_.real_ && !fourier_.halves()) {
    base::polled_loop(fourier_.length() * lines_,
                      [&](int64_t begin, int64_t end) { std::fill(first.im + begin, first.im + end, 0.0); });
  }
  FourierPlanes y =
      fourier_.chirp_.empty() ? fourier_.run_passes(lines_, first, second) : fourier_.run_chirp(lines_, first, second);
  if (fourier_.halves()) {
    const FourierPlanes z = y;
    y = z.re == first.re ? second : first;
    base::polled_loop(
        fourier_.core() + 1,
        [&](int64_t begin, int64_t end) {
          kernels().fourier->unfold(fourier_.core(), begin, end, lines_, z, fourier_.unfolding_.data(), y);
        },
        lines_);
  }
  y_ = inverse_ ? FourierPlanes{y.im, y.re} : y;
}

}  // namespace ortolan::cpu::kernels
