// Choosing and keeping beams.
#include "cpu/generation/beam_scorer.h"

#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"

namespace ortolan::cpu::generation {
namespace {

/** Places that are looked at together: a block without a better score is left at once. */
constexpr size_t kBlock = 64;
/** The first beam of an entry starts at 0, the others so low that they do not repeat it. */
constexpr float kUnusedBeam = -1e9f;

/** The best places seen, best first. */
class BestPlaces {
 public:
  BestPlaces(std::span<const float> scores, size_t count) : scores_(scores), count_(count) {}

  void offer(size_t place) {
    float score = value(place);
    if (places_.size() == count_) {
      if (!(score > value(places_.back()))) return;
      places_.pop_back();
    }
    auto after = std::ranges::find_if(places_, [&](size_t other) { return score > value(other); });
    places_.insert(after, place);
  }
  float limit() const { return places_.size() < count_ ? -INFINITY : value(places_.back()); }
  bool full() const { return places_.size() == count_; }
  const std::vector<size_t>& places() const { return places_; }

 private:
  float value(size_t place) const { return std::isnan(scores_[place]) ? -INFINITY : scores_[place]; }

  std::span<const float> scores_;
  size_t count_;
  std::vector<size_t> places_;
};

bool any_above(const float* scores, size_t count, float limit) {
  int above = 0;
  for (size_t i = 0; i < count; ++i) above |= scores[i] > limit;
  return above != 0;
}

}  // namespace

void Hypotheses::add(float score, std::span<const int32_t> tokens, size_t most) {
  if (best_.size() == most) {
    if (!(score > worst())) return;
    best_.pop_back();
  }
  auto after = std::ranges::find_if(best_, [&](const Hypothesis& other) { return score > other.score; });
  best_.insert(after, {score, {tokens.begin(), tokens.end()}});
}

std::vector<Candidate> best_candidates(std::span<const float> scores, int64_t vocabulary, size_t count) {
  BestPlaces best(scores, count);
  for (size_t begin = 0; begin < scores.size(); begin += kBlock) {
    size_t size = std::min(kBlock, scores.size() - begin);
    if (best.full() && !any_above(scores.data() + begin, size, best.limit())) continue;
    for (size_t i = begin; i < begin + size; ++i) best.offer(i);
  }
  std::vector<Candidate> candidates;
  for (size_t place : best.places()) {
    auto at = static_cast<int64_t>(place);
    candidates.push_back({scores[place], static_cast<int32_t>(at / vocabulary), static_cast<int32_t>(at % vocabulary)});
  }
  return candidates;
}

BeamScorer::BeamScorer(const Attributes& attributes, const Parameters& parameters, int64_t vocabulary,
                       ThreadPool& threads, float* log)
    : beams_(parameters.beams),
      vocabulary_(vocabulary),
      length_penalty_(parameters.length_penalty),
      early_stopping_(attributes.early_stopping),
      eos_(attributes.eos),
      pad_(attributes.pad),
      threads_(threads),
      log_(log),
      sums_(parameters.rows(), kUnusedBeam),
      tokens_(parameters.rows()),
      parents_(parameters.rows()),
      ended_(parameters.batch),
      done_(parameters.batch) {
  require(vocabulary >= 2, ErrorCode::kInvalidArgument, "the vocabulary has ", vocabulary,
          " tokens; beam search needs two or more");
  for (int64_t entry = 0; entry < parameters.batch; ++entry) sums_[entry * beams_] = 0;
}

void BeamScorer::choose(std::span<float> scores, const Sequences& sequences) {
  const int64_t least = kernels::least_rows(vocabulary_, kernels::kElementNs);
  threads_.parallel_for(sequences.rows(), least, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      float* own = scores.data() + row * vocabulary_;
      for (int64_t i = 0; i < vocabulary_; ++i) own[i] += sums_[row];
    }
  });
  if (log_ != nullptr) log_ = std::ranges::copy(scores, log_).out;
  auto size = static_cast<size_t>(beams_ * vocabulary_);
  int64_t entries = std::ssize(ended_);
  const int64_t least_entries = kernels::least_rows(beams_ * vocabulary_, kernels::kElementNs);
  threads_.parallel_for(entries, least_entries, [&](int64_t begin, int64_t end) {
    for (int64_t entry = begin; entry < end; ++entry) {
      choose_for(entry, scores.subspan(static_cast<size_t>(entry) * size, size), sequences);
    }
  });
}

void BeamScorer::choose_for(int64_t entry, std::span<const float> scores, const Sequences& sequences) {
  int64_t first = entry * beams_;
  if (done_[entry]) {
    for (int64_t row = first; row < first + beams_; ++row) set(row, 0, pad_, row);
    return;
  }
  auto candidates = best_candidates(scores, vocabulary_, static_cast<size_t>(2 * beams_));
  auto most = static_cast<size_t>(beams_);
  int64_t kept = 0;
  for (size_t i = 0; i < candidates.size() && kept < beams_; ++i) {
    const Candidate& candidate = candidates[i];
    if (eos_ < 0 || candidate.token != eos_) {
      set(first + kept++, candidate.score, candidate.token, first + candidate.beam);
    } else if (i < most) {
      auto ended = sequences.row(first + candidate.beam);
      ended_[entry].add(final_score(candidate.score, std::ssize(ended)), ended, most);
    }
  }
  if (!ended_[entry].holds(most)) return;
  float hope = final_score(candidates[0].score, sequences.length());
  done_[entry] = early_stopping_ || !(ended_[entry].worst() < hope);
}

void BeamScorer::set(int64_t row, float score, int32_t token, int64_t parent) {
  sums_[row] = score;
  tokens_[row] = token;
  parents_[row] = static_cast<int32_t>(parent);
}

float BeamScorer::final_score(float sum, int64_t length) const {
  return sum / std::pow(static_cast<float>(length), length_penalty_);
}

bool BeamScorer::done() const {
  return std::ranges::all_of(done_, [](uint8_t done) { return done != 0; });
}

void BeamScorer::finish(const Sequences& sequences) {
  for (int64_t entry = 0; entry < std::ssize(ended_); ++entry) {
    if (done_[entry]) continue;
    for (int64_t row = entry * beams_; row < (entry + 1) * beams_; ++row) {
      auto tokens = sequences.row(row);
      ended_[entry].add(final_score(sums_[row], std::ssize(tokens)), tokens, static_cast<size_t>(beams_));
    }
  }
}

}  // namespace ortolan::cpu::generation
