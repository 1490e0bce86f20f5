// The processors, each a function on the scores of one row.
#include "cpu/generation/logits_processors.h"

#include <algorithm>
#include <cmath>

#include "base/threads/thread_pool.h"
#include "cpu/generation/timestamps.h"
#include "cpu/kernels/division/work_cost.h"
#include "cpu/kernels/division/work_division.h"

namespace ortolan::cpu::generation {
namespace {

void forbid(std::span<float> scores, int64_t token) {
  if (token >= 0 && token < static_cast<int64_t>(scores.size())) scores[token] = kForbidden;
}

void penalise_repetition(float penalty, const RowState& row, std::span<float> scores) {
  std::vector<int32_t> tokens(row.tokens.begin(), row.tokens.end());
  std::ranges::sort(tokens);
  tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
  for (int32_t token : tokens) {
    if (token < 0 || static_cast<size_t>(token) >= scores.size()) continue;
    scores[token] = scores[token] < 0 ? scores[token] * penalty : scores[token] / penalty;
  }
}

/** Forbids what would end an n-gram that the row already has. */
void forbid_repeated(int64_t size, const RowState& row, std::span<float> scores) {
  auto length = static_cast<int64_t>(row.tokens.size());
  if (size > length) return;
  auto prefix = row.tokens.last(static_cast<size_t>(size - 1));
  for (int64_t i = 0; i + size <= length; ++i) {
    if (std::equal(prefix.begin(), prefix.end(), row.tokens.begin() + i)) forbid(scores, row.tokens[i + size - 1]);
  }
}

void apply_mask(const int32_t* mask, std::span<float> scores) {
  for (size_t i = 0; i < scores.size(); ++i) scores[i] = mask[i] == 0 ? kForbidden : scores[i];
}

void force(int32_t token, std::span<float> scores) {
  if (token < 0 || static_cast<size_t>(token) >= scores.size()) return;
  std::ranges::fill(scores, kForbidden);
  scores[token] = 0;
}

}  // namespace

LogitsProcessors::LogitsProcessors(const Attributes& attributes, const Parameters& parameters, int64_t vocabulary)
    : vocabulary_(vocabulary), beams_(parameters.beams) {
  parameters.require_vocabulary(vocabulary);
  add_penalties(attributes, parameters);
  add_masks(parameters);
  if (int64_t least = parameters.min_length; least > 0) {
    processors_.push_back([least, eos = attributes.eos](const RowState& row, std::span<float> scores) {
      if (static_cast<int64_t>(row.tokens.size()) < least) forbid(scores, eos);
    });
  }
  if (float temperature = parameters.temperature; temperature > 0 && temperature != 1) {
    processors_.push_back([temperature](const RowState&, std::span<float> scores) {
      for (float& score : scores) score /= temperature;
    });
  }
  if (float penalty = attributes.presence_penalty; penalty != 0 && !parameters.presence_mask.empty()) {
    processors_.push_back([penalty, &parameters](const RowState& row, std::span<float> scores) {
      const int32_t* mask = parameters.presence_mask.data() + row.entry * static_cast<int64_t>(scores.size());
      for (size_t i = 0; i < scores.size(); ++i) scores[i] -= static_cast<float>(mask[i]) * penalty;
    });
  }
  add_whisper(attributes, parameters);
}

void LogitsProcessors::add_penalties(const Attributes& attributes, const Parameters& parameters) {
  if (float penalty = parameters.repetition_penalty; penalty != 1) {
    processors_.push_back(
        [penalty](const RowState& row, std::span<float> scores) { penalise_repetition(penalty, row, scores); });
  }
  if (int64_t size = attributes.no_repeat_ngram; size > 0) {
    processors_.push_back([size](const RowState& row, std::span<float> scores) { forbid_repeated(size, row, scores); });
  }
}

void LogitsProcessors::add_masks(const Parameters& parameters) {
  if (const int32_t* mask = parameters.vocab_mask.data(); !parameters.vocab_mask.empty()) {
    processors_.push_back([mask](const RowState&, std::span<float> scores) { apply_mask(mask, scores); });
  }
  if (const int32_t* mask = parameters.prefix_mask.data(); !parameters.prefix_mask.empty()) {
    processors_.push_back([mask](const RowState& row, std::span<float> scores) {
      if (row.step == 0) apply_mask(mask + row.entry * static_cast<int64_t>(scores.size()), scores);
    });
  }
}

void LogitsProcessors::add_whisper(const Attributes& attributes, const Parameters& parameters) {
  if (parameters.logits_processor == 1) {
    processors_.push_back([rule = TimestampRule(attributes, vocabulary_)](
                              const RowState& row, std::span<float> scores) { rule.apply(row.tokens, scores); });
  }
  if (parameters.forced_length > 0) {
    processors_.push_back([&parameters](const RowState& row, std::span<float> scores) {
      if (row.step >= parameters.forced_length) return;
      force(parameters.forced[row.entry * parameters.forced_length + row.step], scores);
    });
  }
}

void LogitsProcessors::apply(ThreadPool& threads, const Sequences& sequences, int64_t step,
                             std::span<float> scores) const {
  if (processors_.empty()) return;
  const int64_t least = kernels::least_rows(vocabulary_, kernels::kActivationNs);
  threads.parallel_for(sequences.rows(), least, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      RowState row{sequences.row(i), i / beams_, step};
      auto own = scores.subspan(static_cast<size_t>(i * vocabulary_), static_cast<size_t>(vocabulary_));
      for (const Processor& processor : processors_) processor(row, own);
    }
  });
}

}  // namespace ortolan::cpu::generation
