// Which experts each token of a mixture goes to, and with what weight.
#pragma once

#include <vector>

#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** How weights come from the router's logits. */
enum class RoutingWeights : uint8_t {
  kSoftmax,       // of all experts
  kSoftmaxOfTop,  // of the chosen ones only
  kGiven,         // chosen by the logits, weighed by another row
  kSparseMixer,   // of two experts, each among those close to it
};

struct Routing {
  int64_t top = 1;
  RoutingWeights weights = RoutingWeights::kSoftmax;
  bool normalize = false;  // weights of a token sum to 1; not for the sparse mixer
};

/** For each token `top` experts, the best first, with weights. */
struct Routes {
  std::vector<int32_t> experts;
  std::vector<float> weights;
};

/** `logits` and, for kGiven, `given` are [tokens][experts]; 0 < top <= experts. Equal logits: the later expert. */
Routes route_tokens(const Routing& routing, int64_t tokens, int64_t experts, const float* logits, const float* given);

/** Routes by expert: those of expert e are order[starts[e]] to order[starts[e + 1] - 1]. */
struct RoutesByExpert {
  RoutesByExpert(const Routes& routes, int64_t experts);
  std::vector<int64_t> starts, order;
};

}  // namespace ortolan::cpu
