// The functions of one fp32 argument that kernels can apply, and an activation: one of them with its parameters.
#pragma once

#include <cstdint>

namespace ortolan::cpu::kernels {

/** p0 and p1 are the parameters. All pass NaN on, and are exact or correctly signed at zeros and infinities. Sigmoid
   and Softplus are 0 where they would be denormal, the units that come down to nothing (Gelu, QuickGelu, Silu, Mish)
   where their gate is below 2^-100: arithmetic with denormals is slow, and sums do not feel them. */
enum class UnaryOp : uint8_t {
  kIdentity,
  kAbs,
  kNeg,
  kReciprocal,
  kSqrt,
  kFloor,
  kCeil,
  kRound,  // halves to even
  kSign,
  kExp,
  kLog,
  kSin,
  kCos,
  kErf,
  kTanh,
  kSigmoid,
  kSoftplus,         // log(1 + exp(x))
  kSoftsign,         // x / (1 + |x|)
  kRelu,             // max(x, 0)
  kClip,             // min(max(x, p0), p1)
  kLeakyRelu,        // x < 0 ? p0*x : x
  kThresholdedRelu,  // x > p0 ? x : 0
  kElu,              // x < 0 ? p0*(exp(x) - 1) : x
  kSelu,             // p1 * elu(x, p0)
  kCelu,             // max(x, 0) + min(0, p0*(exp(x/p0) - 1))
  kGelu,             // x/2 * (1 + erf(x/sqrt(2)))
  kGeluTanh,         // the tanh form of gelu
  kQuickGelu,        // x * sigmoid(p0*x)
  kSilu,             // x * sigmoid(x)
  kMish,             // x * tanh(softplus(x))
  kHardSigmoid,      // clip(p0*x + p1, 0, 1)
  kHardSwish,        // x * clip(x/6 + 1/2, 0, 1)
  kShrink,           // x < -p0 ? x + p1 : x > p0 ? x - p1 : 0
  kAtan,
  kAsin,
  kAcos,
  kTan,  // to half a unit in the last place or little more, as the next ones
  kSinh,
  kCosh,
  kAsinh,
  kAcosh,
  kAtanh,
  kCount
};
/** Whether products and convolutions apply it themselves, as a clamp of what they store. */
inline bool is_clamp(UnaryOp op) { return op == UnaryOp::kIdentity || op == UnaryOp::kRelu || op == UnaryOp::kClip; }

struct Activation {
  UnaryOp op = UnaryOp::kIdentity;
  float p0 = 0, p1 = 0;
};

}  // namespace ortolan::cpu::kernels
