// Spans of quantised bytes: functions of one byte by table, sums and products of two, sums of many. One thread.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** y[i] = table[x[i]]; the table has 256 entries, for bytes read as unsigned. y may be x. */
void map_bytes(const uint8_t* table, const uint8_t* x, int64_t n, uint8_t* y);

/** How two quantised bytes become a third: real values are factor * (byte - zero). */
struct BytePair {
  int32_t zero_a = 0, zero_b = 0, zero_y = 0;
  float factor_a = 1, factor_b = 1;         // in units of the result's scale; of a product, factor_a alone
  bool is_signed = false;                   // all three
  bool scalar_a = false, scalar_b = false;  // that operand is one byte; at most one of them
};

/** y = saturate(round_half_even(factor_a * (a - zero_a) + factor_b * (b - zero_b)) + zero_y). y may be a or b. */
void add_bytes(const BytePair& pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y);
/** y = saturate(round_half_even(factor_a * (a - zero_a) * (b - zero_b)) + zero_y). y may be a or b. */
void multiply_bytes(const BytePair& pair, const uint8_t* a, const uint8_t* b, int64_t n, uint8_t* y);

/** The sum of n bytes. */
int64_t sum_bytes(const uint8_t* x, int64_t n, bool is_signed);
/** sums[i] += x[i]. */
void accumulate_bytes(const uint8_t* x, int64_t n, bool is_signed, int32_t* sums);
/** The sum of products of 16-bit integers, modulo 2^32. */
int32_t dot_s16(const int16_t* a, const int16_t* b, int64_t n);

}  // namespace ortolan::cpu::kernels
