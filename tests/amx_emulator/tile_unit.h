// The tile registers of one thread and what each tile instruction does to them, after Intel's Software Developer's
// Manual.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace ortolan::tests {

/** What the processor would answer with #UD or #GP. */
struct TileFault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/** Which bytes a product takes as signed. */
enum class ByteSigns : uint8_t { kSS, kSU, kUS, kUU };

/** Eight tiles of up to 16 rows of 64 bytes. Each operation throws TileFault where the processor would refuse it. */
class TileUnit {
 public:
  static constexpr int kTiles = 8, kRows = 16, kRowBytes = 64;

  /** `memory`: the 64 bytes that LDTILECFG reads; palette 0 releases all tiles. */
  void configure(const void* memory);
  void store_configuration(void* memory) const;
  void release();

  void zero(int tile);
  void load(int tile, const char* memory, int64_t stride);
  void store(int tile, char* memory, int64_t stride);
  /** sums += a*b. Products of bfloat16 pairs: rounding to nearest, denormals are zero going in and coming out. */
  void multiply_bf16(int sums, int a, int b);
  void multiply_bytes(ByteSigns signs, int sums, int a, int b);

 private:
  struct Shape {
    int rows, row_bytes;
  };

  Shape shape(int tile) const;
  Shape product_shape(int sums, int a, int b) const;
  void clear_beyond(int tile, Shape shape);

  bool configured_ = false;
  uint8_t rows_[kTiles] = {};
  uint16_t row_bytes_[kTiles] = {};
  alignas(64) char data_[kTiles][kRows][kRowBytes] = {};
};

}  // namespace ortolan::tests
