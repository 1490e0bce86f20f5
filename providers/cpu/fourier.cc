// The discrete Fourier transform of any length.
#include "cpu/fourier.h"

#include <bit>
#include <cmath>
#include <numbers>

namespace ortolan::cpu {
namespace {

using Complex = std::complex<double>;

Complex turn(double part) { return std::polar(1.0, -2 * std::numbers::pi * part); }

/** The plain product; std::complex's own looks for infinities. */
Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

void reverse_bits(Complex* x, int64_t n) {
  for (int64_t i = 1, j = 0; i < n; ++i) {
    int64_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap(x[i], x[j]);
  }
}

}  // namespace

Fourier::Fourier(int64_t length) : length_(length) {
  bool power = std::has_single_bit(static_cast<uint64_t>(length));
  padded_ = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(power ? length : 2 * length - 1)));
  for (int64_t k = 0; k < padded_ / 2; ++k) roots_.push_back(turn(double(k) / double(padded_)));
  if (power) return;
  for (int64_t k = 0; k < length; ++k) {
    auto square = static_cast<unsigned __int128>(k) * static_cast<unsigned __int128>(k);
    chirp_.push_back(
        turn(double(static_cast<int64_t>(square % static_cast<uint64_t>(2 * length))) / double(2 * length)));
  }
  filter_.assign(padded_, 0);
  for (int64_t k = 0; k < length; ++k) filter_[k] = filter_[(padded_ - k) % padded_] = std::conj(chirp_[k]);
  transform_power(filter_.data(), false);
}

void Fourier::transform_power(Complex* x, bool inverse) const {
  reverse_bits(x, padded_);
  for (int64_t half = 1; half < padded_; half *= 2) {
    int64_t step = padded_ / (2 * half);
    for (int64_t first = 0; first < padded_; first += 2 * half) {
      for (int64_t i = 0; i < half; ++i) {
        Complex root = inverse ? std::conj(roots_[i * step]) : roots_[i * step];
        Complex odd = times(x[first + half + i], root), even = x[first + i];
        x[first + i] = even + odd;
        x[first + half + i] = even - odd;
      }
    }
  }
}

void Fourier::transform(Complex* x, bool inverse) const {
  if (chirp_.empty()) return transform_power(x, inverse);
  std::vector<Complex> work(padded_);
  auto value = [&](Complex v) { return inverse ? std::conj(v) : v; };
  for (int64_t k = 0; k < length_; ++k) work[k] = times(value(x[k]), chirp_[k]);
  transform_power(work.data(), false);
  for (int64_t k = 0; k < padded_; ++k) work[k] = times(work[k], filter_[k]);
  transform_power(work.data(), true);
  double scale = 1.0 / static_cast<double>(padded_);
  for (int64_t k = 0; k < length_; ++k) x[k] = value(times(work[k], chirp_[k]) * scale);
}

}  // namespace ortolan::cpu
