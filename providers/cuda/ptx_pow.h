// pow(x, y) of floats, by way of doubles, in C++ for any compiler: for PTX that no library of NVIDIA's is linked with.
// K_BUILTIN is what declares a function. Within an ulp; special values as C has them.

/** log2 of what is finite and above 0. */
K_BUILTIN double k_log2(double x) {
  unsigned long long bits = __builtin_bit_cast(unsigned long long, x);
  int exponent = (int)(bits >> 52) - 1023;
  double m = __builtin_bit_cast(double, (bits & 0xfffffffffffffull) | 0x3ff0000000000000ull);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    exponent++;
  }
  // log(m) = 2 atanh(s)
  double s = (m - 1) / (m + 1), z = s * s, sum = 0;
  for (int i = 19; i >= 1; i -= 2) sum = sum * z + 1.0 / i;
  return exponent + 2.8853900817779268 * s * sum;
}

/** 2 to the x, |x| <= 500. */
K_BUILTIN double k_exp2(double x) {
  int n = (int)(x < 0 ? x - 0.5 : x + 0.5);
  double f = (x - n) * 0.6931471805599453, sum = 1;
  for (int i = 12; i >= 1; i--) sum = 1 + sum * f / i;
  return sum * __builtin_bit_cast(double, (unsigned long long)(n + 1023) << 52);
}

K_BUILTIN bool k_is_odd(float y) {
  float size = __builtin_fabsf(y);
  return size < 16777216.0f && __builtin_floorf(size) == size && ((int)size & 1) != 0;
}

K_BUILTIN float pow(float x, float y) {
  const float inf = __builtin_inff(), size = __builtin_fabsf(x), power = __builtin_fabsf(y);
  if (x == 1.0f || y == 0.0f) return 1.0f;
  if (x != x || y != y) return x + y;
  if (x < 0.0f && size != inf && power != inf && __builtin_floorf(power) != power) return __builtin_nanf("");
  float result;
  if (size == 0.0f || size == inf) {
    result = (size == 0.0f) == (y < 0.0f) ? inf : 0.0f;
  } else if (power == inf) {
    result = size == 1.0f ? 1.0f : (size > 1.0f) == (y > 0.0f) ? inf : 0.0f;
  } else {
    double t = (double)y * k_log2(size);
    result = (float)k_exp2(t > 500 ? 500 : t < -500 ? -500 : t);
  }
  return __builtin_signbitf(x) && k_is_odd(y) ? -result : result;
}
