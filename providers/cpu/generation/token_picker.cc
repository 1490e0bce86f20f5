// Greedy choice and sampling.
#include "cpu/generation/token_picker.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "cpu/kernels/rows/normalization_f32.h"

namespace ortolan::cpu::generation {
namespace {

/** exp() of less is 0 in double. */
constexpr double kVanishes = -746;

/** NaN below everything, so that sorting is well defined. */
float key(float value) { return std::isnan(value) ? -INFINITY : value; }

/** Unsigned numbers in the order of the floats. */
uint32_t order_of(float value) {
  auto bits = std::bit_cast<uint32_t>(key(value) + 0.0f);  // one zero only
  return bits >> 31 ? ~bits : bits | 0x80000000u;
}

/** Lower places first among equals. */
std::vector<int32_t> sorted_places(std::span<const float> logits, bool largest_first) {
  std::vector<uint64_t> keys(logits.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    uint32_t order = order_of(logits[i]);
    keys[i] = uint64_t{largest_first ? ~order : order} << 32 | i;
  }
  std::ranges::sort(keys);
  std::vector<int32_t> places(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) places[i] = static_cast<int32_t>(keys[i]);
  return places;
}

std::vector<float> probabilities(std::span<const float> logits, const std::vector<int32_t>& places) {
  std::vector<float> values(places.size());
  for (size_t i = 0; i < values.size(); ++i) values[i] = key(logits[places[i]]);
  kernels::softmax(nullptr, values.data(), 1, std::ssize(values), 1, false, values.data());
  return values;
}

}  // namespace

int32_t best_token(std::span<const float> scores) {
  size_t best = 0;
  for (size_t i = 1; i < scores.size(); ++i) {
    if (scores[i] > scores[best] || (std::isnan(scores[best]) && !std::isnan(scores[i]))) best = i;
  }
  return static_cast<int32_t>(best);
}

void filter_top_p(const Attributes& attributes, std::span<float> logits) {
  std::vector<int32_t> places = sorted_places(logits, attributes.custom);
  std::vector<float> weights = probabilities(logits, places);
  auto count = std::ssize(places);
  float sum = 0;
  if (attributes.custom) {
    for (int64_t i = 0; i + 1 < count; ++i) {
      sum += weights[i];
      if (sum > attributes.top_p) logits[places[i + 1]] = attributes.filter_value;
    }
    return;
  }
  int64_t last = count - std::clamp<int64_t>(attributes.min_tokens_to_keep, 0, count);
  for (int64_t i = 0; i < last; ++i) {
    sum += weights[i];
    if (sum <= 1 - attributes.top_p) logits[places[i]] = attributes.filter_value;
  }
}

int32_t TokenSampler::draw(std::span<const float> logits) {
  float most = kForbidden;
  for (float logit : logits) most = std::isfinite(logit) ? std::max(most, logit) : most;
  sums_.resize(logits.size());
  double sum = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    double below = static_cast<double>(logits[i]) - static_cast<double>(most);
    if (std::isfinite(logits[i]) && below > kVanishes) sum += std::exp(below);
    sums_[i] = sum;
  }
  std::uniform_real_distribution<double> uniform(0, 1);
  double wanted = uniform(generator_) * sum;
  auto found = std::ranges::upper_bound(sums_, wanted);
  return found == sums_.end() ? best_token(logits) : static_cast<int32_t>(found - sums_.begin());
}

TokenPicker::TokenPicker(const Attributes& attributes, const Parameters& parameters, int64_t vocabulary, bool samples)
    : attributes_(attributes),
      vocabulary_(vocabulary),
      samples_(samples),
      sampler_(parameters.seed),
      tokens_(parameters.rows()),
      ended_(parameters.rows()) {}

void TokenPicker::choose(std::span<float> scores, const Sequences&) {
  for (size_t row = 0; row < tokens_.size(); ++row) {
    auto own = scores.subspan(row * static_cast<size_t>(vocabulary_), static_cast<size_t>(vocabulary_));
    if (samples_) filter_top_p(attributes_, own);
    int32_t token = samples_ ? sampler_.draw(own) : best_token(own);
    ended_[row] |= token == attributes_.eos;
    tokens_[row] = ended_[row] ? attributes_.pad : token;
  }
}

bool TokenPicker::done() const {
  return std::ranges::all_of(ended_, [](uint8_t ended) { return ended != 0; });
}

}  // namespace ortolan::cpu::generation
