// Routing of tokens to experts.
#include "cpu/products/moe_routing.h"

#include <algorithm>
#include <cmath>

#include "base/threads/polled_loop.h"

namespace ortolan::cpu {
namespace {

constexpr float kJitter = 0.01f;  // of the sparse mixer

/** The expert with the largest logit among those not chosen; any, where they are no numbers. */
int32_t best(const float* logits, int64_t experts, std::span<const int32_t> chosen) {
  int32_t found = -1;
  for (int64_t e = 0; e < experts; ++e) {
    if (std::find(chosen.begin(), chosen.end(), static_cast<int32_t>(e)) != chosen.end()) continue;
    if (found < 0 || logits[e] >= logits[found]) found = static_cast<int32_t>(e);
  }
  return found;
}

void softmax_all(const float* logits, int64_t experts, std::span<const int32_t> chosen, float* weights) {
  float largest = logits[chosen[0]], sum = 0;
  for (int64_t e = 0; e < experts; ++e) sum += std::exp(logits[e] - largest);
  for (size_t j = 0; j < chosen.size(); ++j) weights[j] = std::exp(logits[chosen[j]] - largest) / sum;
}

void softmax_chosen(const float* logits, std::span<const int32_t> chosen, float* weights) {
  float largest = logits[chosen[0]], sum = 0;
  for (size_t j = 0; j < chosen.size(); ++j) sum += weights[j] = std::exp(logits[chosen[j]] - largest);
  for (size_t j = 0; j < chosen.size(); ++j) weights[j] /= sum;
}

/** The weight of `chosen.back()` in the softmax of the experts that are close to it, without those before it. */
float sparse_weight(const float* logits, int64_t experts, std::span<const int32_t> chosen) {
  float largest = logits[chosen.back()], sum = 0;
  auto before = chosen.first(chosen.size() - 1);
  for (int64_t e = 0; e < experts; ++e) {
    if (std::find(before.begin(), before.end(), static_cast<int32_t>(e)) != before.end()) continue;
    float factor = std::max(std::abs(logits[e]), largest);
    if (!((largest - logits[e]) / factor > 2 * kJitter)) sum += std::exp(logits[e] - largest);
  }
  return 1 / sum;
}

void normalize(std::span<float> weights) {
  float sum = 0;
  for (float w : weights) sum += w;
  for (float& w : weights) w = sum == 0 ? 0 : w / sum;
}

}  // namespace

Routes route_tokens(const Routing& routing, int64_t tokens, int64_t experts, const float* logits, const float* given) {
  Routes routes;
  routes.experts.resize(static_cast<size_t>(tokens * routing.top));
  routes.weights.resize(routes.experts.size());
  auto top = static_cast<size_t>(routing.top);
  base::TerminatePoll poll;
  for (int64_t t = 0; t < tokens; ++t) {
    poll.work(experts * (4 + routing.top * routing.top / 2));
    const float* row = logits + t * experts;
    std::span<int32_t> chosen(routes.experts.data() + t * routing.top, top);
    std::span<float> weights(routes.weights.data() + t * routing.top, top);
    for (size_t j = 0; j < top; ++j) {
      chosen[j] = best(row, experts, chosen.first(j));
      if (routing.weights == RoutingWeights::kGiven) weights[j] = given[t * experts + chosen[j]];
      if (routing.weights == RoutingWeights::kSparseMixer)
        weights[j] = sparse_weight(row, experts, chosen.first(j + 1));
    }
    if (routing.weights == RoutingWeights::kSoftmax) softmax_all(row, experts, chosen, weights.data());
    if (routing.weights == RoutingWeights::kSoftmaxOfTop) softmax_chosen(row, chosen, weights.data());
    if (routing.normalize && routing.weights != RoutingWeights::kSparseMixer) normalize(weights);
  }
  return routes;
}

RoutesByExpert::RoutesByExpert(const Routes& routes, int64_t experts)
    : starts(static_cast<size_t>(experts) + 1), order(routes.experts.size()) {
  for (int32_t e : routes.experts) ++starts[static_cast<size_t>(e) + 1];
  for (size_t e = 1; e < starts.size(); ++e) starts[e] += starts[e - 1];
  std::vector<int64_t> next(starts.begin(), starts.end() - 1);
  for (size_t i = 0; i < routes.experts.size(); ++i) order[next[routes.experts[i]]++] = static_cast<int64_t>(i);
}

}  // namespace ortolan::cpu
