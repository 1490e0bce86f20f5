// The discrete Fourier transform of any length in double precision.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace ortolan::cpu {

/** Transforms of one length; made once, used by many threads. Powers of two run by decimation in time, other lengths by
    Bluestein's chirp transform (L. Bluestein, 1970) over the next fitting power of two. */
class Fourier {
 public:
  explicit Fourier(int64_t length);
  int64_t length() const { return length_; }
  /** In place; x holds length() values. Forward has e^(-2 pi i k n / N); neither direction divides by N. */
  void transform(std::complex<double>* x, bool inverse) const;

 private:
  void transform_power(std::complex<double>* x, bool inverse) const;
  struct Range {
    int64_t begin, end;
  };
  /** Of those `parts` of x that are transforms of 2 * half values: the values `of_half` and those `half` behind them,
      from two transforms of half the length. */
  void join_halves(std::complex<double>* x, int64_t half, Range parts, Range of_half, bool inverse) const;

  int64_t length_, padded_;
  std::vector<std::complex<double>> roots_;   // e^(-2 pi i k / padded), half a turn
  std::vector<std::complex<double>> chirp_;   // e^(-pi i k^2 / length); empty for powers of two
  std::vector<std::complex<double>> filter_;  // transform of the conjugate chirp
};

}  // namespace ortolan::cpu
