// The discrete Fourier transform of any length.
#include "cpu/elements/fourier.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "base/threads/polled_loop.h"
#include "base/threads/polled_vector.h"

namespace ortolan::cpu {
namespace {

using Complex = std::complex<double>;

Complex turn(double part) { return std::polar(1.0, -2 * std::numbers::pi * part); }

/** The plain product; std::complex's own looks for infinities. */
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/** Exchanges the values at [begin, end) with those at the reversed indices; `j` is that of begin - 1, and the result
    that of the last. */
int64_t reverse_part(Complex* x, int64_t n, int64_t begin, int64_t end, int64_t j) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
  return j;
}

void reverse_bits(Complex* x, int64_t n) {
  int64_t j = 0;
  base::polled_loop(n - 1, [&](int64_t begin, int64_t end) { j = reverse_part(x, n, begin + 1, end + 1, j); });
}

}  // namespace

Fourier::Fourier(int64_t length) : length_(length) {
  bool power = std::has_single_bit(static_cast<uint64_t>(length));
  padded_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(power ? length : 2 * length - 1)));
  base::TerminatePoll poll;
  roots_.reserve(static_cast<size_t>(padded_ / 2));
  for (int64_t k = 0; k < padded_ / 2; ++k) {
    poll.work(16);
    roots_.push_back(turn(double(k) / double(padded_)));
  }
  if (power) return;
  for (int64_t k = 0; k < length; ++k) {
    poll.work(32);
    auto square = static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k);
    chirp_.push_back(
        turn(double(static_cast<int64_t>(square % static_cast<uint64_t>(2 * length))) / double(2 * length)));
  }
  filter_ = base::polled_vector<Complex>(padded_);
  for (int64_t k = 0; k < length; ++k) {
    poll.work(8);
    filter_[k] = filter_[(padded_ - k) % padded_] = std::conj(chirp_[k]);
  }
  transform_power(filter_.data(), false);
}

void Fourier::join_halves(Complex* x, int64_t half, Range parts, Range of_half, bool inverse) const {
  const int64_t step = padded_ / (2 * half);
  for (Complex* part = x + parts.begin * 2 * half; part < x + parts.end * 2 * half; part += 2 * half) {
    for (int64_t i = of_half.begin; i < of_half.end; ++i) {
      const Complex root = inverse ? std::conj(roots_[i * step]) : roots_[i * step];
      const Complex even = part[i], odd = times(part[half + i], root);
      part[i] = even + odd;
      part[half + i] = even - odd;
    }
  }
}

void Fourier::transform_power(Complex* x, bool inverse) const {
  reverse_bits(x, padded_);
  for (int64_t half = 1; half < padded_; half *= 2) {
    const int64_t parts = padded_ / (2 * half);
    if (half <= base::TerminatePoll::kUnits) {
      auto join = [&](int64_t begin, int64_t end) { join_halves(x, half, {begin, end}, {0, half}, inverse); };
      base::polled_loop(parts, join, 2 * half);
      continue;
    }
    for (int64_t part = 0; part < parts; ++part) {
      base::polled_loop(half, [&](int64_t begin, int64_t end) {
        join_halves(x, half, {part, part + 1}, {begin, end}, inverse);
      });
    }
  }
}

void Fourier::transform(Complex* x, bool inverse) const {
  if (chirp_.empty()) return transform_power(x, inverse);
  auto work = base::polled_vector<Complex>(padded_);
  auto value = [&](Complex v) { return inverse ? std::conj(v) : v; };
  base::polled_loop(length_, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) work[k] = times(value(x[k]), chirp_[k]);
  });
  transform_power(work.data(), false);
  base::polled_loop(padded_, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) work[k] = times(work[k], filter_[k]);
  });
  transform_power(work.data(), true);
  double scale = 1.0 / static_cast<double>(padded_);
  base::polled_loop(length_, [&](int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; ++k) x[k] = value(times(work[k], chirp_[k]) * scale);
  });
}

}  // namespace ortolan::cpu
