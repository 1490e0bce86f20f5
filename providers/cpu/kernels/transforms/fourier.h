// The discrete Fourier transform of any length in double precision.
#pragma once

#include <cstdint>
#include <vector>

#include "cpu/kernels/scratch.h"
#include "cpu/kernels/transforms/fourier_kernels.h"

namespace ortolan::cpu::kernels {

/**
 * Transforms of lines of one length; made once, used by many threads. Lengths whose prime factors are at most 31 run in
 * passes (Stockham's), others by Bluestein's chirp transform (L. Bluestein, 1970). Where lines are `real` and their
 * length is even, the transform is that of half as many complex numbers.
 */
class Fourier {
 public:
  static constexpr int64_t kMostLines = 8;
  /** A positive length. */
  explicit Fourier(int64_t length, bool real = false);
  int64_t length() const { return length_; }
  /** How many of `count` lines are best transformed at once: kMostLines or fewer. */
  int64_t lines_at_once(int64_t count) const;
  /** Of all arithmetic of a line, about, in ns. */
  double line_ns() const;

 private:
  friend class FourierLines;
  struct Pass {
    int64_t radix;
    std::vector<double> turns, roots;
  };

  bool halves() const { return !unfolding_.empty(); }
  int64_t core() const { return halves() ? length_ / 2 : length_; }
  int64_t rows() const;  // of a plane
  void add_passes();
  void add_chirp();
  FourierPlanes run_passes(int64_t lines, FourierPlanes x, FourierPlanes room) const;
  FourierPlanes run_chirp(int64_t lines, FourierPlanes x, FourierPlanes room) const;

  int64_t length_, padded_;  // padded: of the passes
  bool real_;
  std::vector<Pass> passes_;
  std::vector<double> chirp_;      // complex: e^(-pi i k^2 / core); empty where the passes are those of the core
  std::vector<double> end_chirp_;  // the same / padded
  std::vector<double> filter_;     // transform of the conjugate chirp
  std::vector<double> unfolding_;  // factors of FourierKernels::unfold
};

/** Some lines and their transforms, side by side: of each value there are `lines` numbers. For one thread. */
class FourierLines {
 public:
  /** `inverse`: by e^(+2 pi i k n / N), of complex lines only. Neither direction divides by N. */
  FourierLines(const Fourier& fourier, int64_t lines, bool inverse);

  /** Where value i of the lines is to be written, i below the length, before each run; what is there is not defined. */
  FourierPlanes complex_value(int64_t i) { return at(x_, i); }
  /** The same of real lines: one number each. */
  double* real_value(int64_t i) {
    if (!fourier_.halves()) return x_.re + i * lines_;
    return (i % 2 == 0 ? x_.re : x_.im) + i / 2 * lines_;
  }
  void run();
  /** Result k, of complex lines below the length, of real ones at most half of it. */
  FourierPlanes result(int64_t k) { return at(y_, k); }

 private:
  FourierPlanes at(const FourierPlanes& planes, int64_t i) const {
    return {planes.re + i * lines_, planes.im + i * lines_};
  }

  const Fourier& fourier_;
  int64_t lines_;
  bool inverse_;
  Scratch<double> space_;
  FourierPlanes x_, y_;  // swapped where inverse
};

}  // namespace ortolan::cpu::kernels
