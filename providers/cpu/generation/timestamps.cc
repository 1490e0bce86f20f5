// The timestamp rule, on log-probabilities of one row.
#include "cpu/generation/timestamps.h"

#include <algorithm>
#include <cmath>

namespace ortolan::cpu::generation {
namespace {

constexpr int64_t kLatestFirst = 50;  // steps of 20 ms

/** Forbids the tokens in [first, last), cut to the vocabulary. */
void forbid_range(std::span<float> scores, int64_t first, int64_t last) {
  auto size = static_cast<int64_t>(scores.size());
  first = std::clamp<int64_t>(first, 0, size);
  last = std::clamp<int64_t>(last, first, size);
  std::fill(scores.begin() + first, scores.begin() + last, kForbidden);
}

void forbid_token(std::span<float> scores, int64_t token) {
  if (token >= 0) forbid_range(scores, token, token + 1);
}

}  // namespace

TimestampRule::TimestampRule(const Attributes& attributes, int64_t vocabulary)
    : whisper_(attributes.whisper), start_(attributes.start), eos_(attributes.eos) {
  int64_t first = whisper_.first_timestamp;
  require(first > 0 && first < vocabulary, ErrorCode::kInvalidArgument, "logits_processor 1 needs attribute ",
          "beginning_timestamp_token_id, which is ", first, ", within the vocabulary of ", vocabulary, " tokens");
}

void TimestampRule::apply(std::span<const int32_t> tokens, std::span<float> scores) const {
  auto first = std::ranges::find_if(tokens, [&](int32_t token) { return is_timestamp(token); });
  auto begin = std::min<size_t>(static_cast<size_t>(first - tokens.begin()) + 1, tokens.size());
  forbid_token(scores, whisper_.no_timestamps);
  forbid_token(scores, whisper_.start_of_lm);
  if (tokens.size() > begin) {
    for (int32_t token : {start_, whisper_.translate, whisper_.transcribe}) forbid_token(scores, token);
  }
  keep_pairs(tokens, begin, scores);
  if (tokens.size() == begin) forbid_range(scores, whisper_.first_timestamp + kLatestFirst + 1, INT32_MAX);
  prefer_timestamp(scores);
}

void TimestampRule::keep_pairs(std::span<const int32_t> tokens, size_t begin, std::span<float> scores) const {
  bool last = !tokens.empty() && is_timestamp(tokens.back());
  bool before_last = tokens.size() <= begin || is_timestamp(tokens[tokens.size() - 2]);
  if (last && before_last) forbid_range(scores, whisper_.first_timestamp, INT32_MAX);
  if (last && !before_last) forbid_range(scores, 0, eos_);
  auto latest = std::find_if(tokens.rbegin(), tokens.rend(), [&](int32_t token) { return is_timestamp(token); });
  if (latest == tokens.rend()) return;
  int64_t least = int64_t{*latest} + (last && !before_last ? 0 : 1);
  forbid_range(scores, whisper_.first_timestamp, least);
}

void TimestampRule::prefer_timestamp(std::span<float> scores) const {
  auto text = scores.first(static_cast<size_t>(whisper_.first_timestamp));
  auto times = scores.subspan(text.size());
  float most = *std::ranges::max_element(times);
  float sum = 0;
  for (float score : times) sum += score > kForbidden ? std::exp(score - most) : 0;
  if (sum > 0 && std::log(sum) + most > *std::ranges::max_element(text)) std::ranges::fill(text, kForbidden);
}

}  // namespace ortolan::cpu::generation
