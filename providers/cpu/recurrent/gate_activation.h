// The activation functions of recurrent cells, with their alpha and beta.
#pragma once

#include <array>

#include "cpu/kernels/elementwise/activation.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** One function; kIdentity with `affine` is alpha*x + beta, kTanh with `scaled` alpha*tanh(beta*x). */
struct GateActivation {
  kernels::Activation function;
  bool affine = false, scaled = false;
  float alpha = 1, beta = 0;
  /** Whether `function` alone says it all. */
  bool plain() const { return !affine && !scaled; }
  /** x[i] = f(x[i]), after limiting x to [-clip, clip] where clip > 0. */
  void apply(float* x, int64_t n, float clip = 0) const;
  void apply(double* x, int64_t n, double clip = 0) const;
};

/** f, g and h of one direction (RNN has f only, GRU f and g). */
using GateActivations = std::array<GateActivation, 3>;

/** Reads attributes activations, activation_alpha and activation_beta: `count` functions for each direction. Values of
    alpha and beta go to the functions that take them, in order. Names beyond those needed are left unread: the default
    that ONNX states for RNN names two, also for one direction. Throws for unknown names. */
std::vector<GateActivations> gate_activations(const Node& node, size_t directions, size_t count);

}  // namespace ortolan::cpu
