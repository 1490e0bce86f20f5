// Building tiny language models, and searching by hand.
#include "language_model.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace ortolan::test {
namespace {

TypeInfo ids(SymbolicShape shape = SymbolicShape::of_rank(2)) {
  return TypeInfo::of_tensor(ElementType::kInt32, shape);
}

Tensor axes(std::vector<int64_t> values) { return vector_tensor<int64_t>(values); }

void add_tables(GraphBuilder& g, const LanguageModel& model) {
  g.constant("last", model.last).constant("weight", model.weight).constant("code", model.code);
}

/** Adds `value` = [rows] to `logits` = [rows, tokens, vocabulary], times the weights. */
void add_weighted(GraphBuilder& g, const std::string& logits, const std::string& value, const std::string& result) {
  g.constant(result + "_axes", axes({1, 2}));
  g.node("Unsqueeze", {value, result + "_axes"}, {result + "_cube"});
  g.node("Mul", {result + "_cube", "weight"}, {result + "_product"});
  g.node("Add", {logits, result + "_product"}, {result});
}

/** state = [rows, tokens] of codes. */
void add_codes(GraphBuilder& g, const std::string& tokens) {
  g.node("Gather", {"last", tokens}, {"by_token"});
  g.node("Gather", {"code", tokens}, {"codes"});
}

void sum_all_but(GraphBuilder& g, const std::string& from, std::vector<int64_t> over, const std::string& to) {
  g.constant(to + "_over", axes(std::move(over)));
  g.node("ReduceSum", {from, to + "_over"}, {to})->set_attribute("keepdims", int64_t{0});
}

/** From "codes" and, where named, the past: present key and value [rows, 1, tokens, 1] and their sum [rows]. */
void add_self_states(GraphBuilder& g, const std::string& past) {
  g.constant("state_axes", axes({1, 3}));
  g.node("Unsqueeze", {"codes", "state_axes"}, {past.empty() ? "key" : "new_key"});
  if (!past.empty()) g.node("Concat", {past, "new_key"}, {"key"})->set_attribute("axis", int64_t{2});
  g.node("Identity", {"key"}, {"present_key_self_0"});
  g.node("Identity", {"key"}, {"present_value_self_0"});
  sum_all_but(g, "key", {1, 2, 3}, "self_sum");
}

/** logits = by_token + weight * (self_sum + 0.1 * the sum of the cross key). */
void add_cross_logits(GraphBuilder& g, const std::string& cross) {
  sum_all_but(g, cross, {1, 2, 3}, "cross_sum");
  g.constant("tenth", scalar(0.1f));
  g.node("Mul", {"cross_sum", "tenth"}, {"scaled"});
  g.node("Add", {"self_sum", "scaled"}, {"both"});
  add_weighted(g, "by_token", "both", "logits");
}

}  // namespace

LanguageModel::LanguageModel(int64_t vocabulary, uint32_t seed)
    : vocabulary(vocabulary),
      last(random_tensor<float>({vocabulary, vocabulary}, seed, -2, 2)),
      weight(random_tensor<float>({vocabulary}, seed + 1)),
      code(random_tensor<float>({vocabulary}, seed + 2)) {}

std::vector<double> LanguageModel::logits(const std::vector<int32_t>& tokens, const std::vector<int32_t>& positions,
                                          double mask_sum) const {
  double sum = 0.001 * mask_sum;
  for (size_t i = 0; i < tokens.size(); ++i) sum += code.data<float>()[tokens[i]] + 0.01 * positions[i];
  std::vector<double> result(static_cast<size_t>(vocabulary));
  for (int64_t v = 0; v < vocabulary; ++v) {
    result[v] = last.data<float>()[tokens.back() * vocabulary + v] + weight.data<float>()[v] * sum;
  }
  return result;
}

void build_gpt(GraphBuilder& g, const LanguageModel& model, ElementType type) {
  g.input("input_ids", ids()).input("position_ids", ids()).input("attention_mask", ids());
  g.input("past_0", TypeInfo::of_tensor(type, DimVector{2, Dim{}, 1, Dim{}, 1}));
  g.node("Cast", {"past_0"}, {"past"})->set_attribute("to", int64_t{1});
  add_tables(g, model);
  add_codes(g, "input_ids");
  g.constant("hundredth", scalar(0.01f)).constant("thousandth", scalar(0.001f)).constant("state_axes", axes({0, 2, 4}));
  g.node("Cast", {"position_ids"}, {"positions"})->set_attribute("to", int64_t{1});
  g.node("Mul", {"positions", "hundredth"}, {"shift"});
  g.node("Add", {"codes", "shift"}, {"state"});
  g.node("Unsqueeze", {"state", "state_axes"}, {"one"});
  g.node("Concat", {"one", "one"}, {"two"})->set_attribute("axis", int64_t{0});
  g.node("Concat", {"past", "two"}, {"present"})->set_attribute("axis", int64_t{3});
  g.constant("half", scalar(0.5f));
  sum_all_but(g, "present", {0, 2, 3, 4}, "twice");
  g.node("Mul", {"twice", "half"}, {"sum"});
  g.node("Cast", {"attention_mask"}, {"mask"})->set_attribute("to", int64_t{1});
  sum_all_but(g, "mask", {1}, "mask_sum");
  g.node("Mul", {"mask_sum", "thousandth"}, {"mask_part"});
  g.node("Add", {"sum", "mask_part"}, {"all"});
  add_weighted(g, "by_token", "all", "exact");
  for (auto [from, to] : {std::pair("exact", "logits"), std::pair("present", "present_0")}) {
    g.node("Cast", {from}, {to})->set_attribute("to", static_cast<int64_t>(type));
    g.output(to);
  }
}

namespace {

/** [rows, tokens] as [rows, 1, tokens, 1]. */
void add_key(GraphBuilder& g, const std::string& from, const std::string& key) {
  g.constant("cross_axes", axes({1, 3}));
  g.node("Unsqueeze", {from, "cross_axes"}, {key});
}

/** The encoder's ids where the mask is 1, as a key. */
void add_source(GraphBuilder& g, const std::string& key) {
  g.node("Mul", {"encoder_input_ids", "encoder_attention_mask"}, {"masked"});
  g.node("Cast", {"masked"}, {"source"})->set_attribute("to", int64_t{1});
  add_key(g, "source", key);
}

}  // namespace

void build_encoder(GraphBuilder& g, const LanguageModel& model, const EncoderOptions& options) {
  add_tables(g, model);
  if (options.features) {
    g.input("encoder_input_ids", TypeInfo::of_tensor(ElementType::kFloat, SymbolicShape::of_rank(3)));
    sum_all_but(g, "encoder_input_ids", {1}, "source");
    add_key(g, "source", "present_key_cross_0");
  } else {
    g.input("encoder_input_ids", ids()).input("encoder_attention_mask", ids());
    add_source(g, "present_key_cross_0");
  }
  g.constant("hidden_axes", axes({2}));
  g.node("Identity", {"present_key_cross_0"}, {"present_value_cross_0"});
  if (options.logits) {
    g.input("decoder_input_ids", ids());
    add_codes(g, "decoder_input_ids");
    add_self_states(g, "");
    add_cross_logits(g, "present_key_cross_0");
    g.node("Unsqueeze", {"source", "hidden_axes"}, {"encoder_hidden_states"});
    g.output("logits").output("encoder_hidden_states").output("present_key_self_0").output("present_value_self_0");
  }
  g.output("present_key_cross_0").output("present_value_cross_0");
}

void build_decoder(GraphBuilder& g, const LanguageModel& model, const EncoderOptions& options) {
  g.input("input_ids", ids(DimVector{Dim{}, 1}));
  if (options.source) g.input("encoder_input_ids", ids());
  if (!options.features) g.input("encoder_attention_mask", ids());
  if (options.hidden) {
    g.input("encoder_hidden_states", TypeInfo::of_tensor(ElementType::kFloat, SymbolicShape::of_rank(3)));
  }
  TypeInfo state = TypeInfo::of_tensor(ElementType::kFloat, DimVector{Dim{}, 1, Dim{}, 1});
  for (const char* name : {"past_key_self_0", "past_value_self_0", "past_key_cross_0", "past_value_cross_0"}) {
    g.input(name, state);
  }
  add_tables(g, model);
  add_codes(g, "input_ids");
  add_self_states(g, "past_key_self_0");
  if (options.source) add_source(g, "source_key");
  add_cross_logits(g, options.source ? "source_key" : "past_key_cross_0");
  g.output("logits").output("present_key_self_0").output("present_value_self_0");
}

namespace {

constexpr double kNever = -1e30;

void process(const SearchOptions& options, const std::vector<int32_t>& tokens, size_t prompt,
             std::vector<double>& scores) {
  for (int32_t token : std::set<int32_t>(tokens.begin(), tokens.end())) {
    scores[token] = scores[token] < 0 ? scores[token] * options.repetition : scores[token] / options.repetition;
  }
  auto size = static_cast<size_t>(options.no_repeat);
  for (size_t i = 0; size > 0 && i + size <= tokens.size(); ++i) {
    if (std::equal(tokens.end() - (size - 1), tokens.end(), tokens.begin() + i)) scores[tokens[i + size - 1]] = kNever;
  }
  for (size_t v = 0; v < scores.size(); ++v) {
    if (!options.vocab_mask.empty() && options.vocab_mask[v] == 0) scores[v] = kNever;
    if (!options.prefix_mask.empty() && tokens.size() == prompt && options.prefix_mask[v] == 0) scores[v] = kNever;
  }
  if (options.eos >= 0 && static_cast<int64_t>(tokens.size()) < options.min_length) scores[options.eos] = kNever;
}

void take_logarithm(std::vector<double>& scores) {
  double sum = 0, most = *std::ranges::max_element(scores);
  for (double score : scores) sum += std::exp(score - most);
  for (double& score : scores) score -= most + std::log(sum);
}

void keep_best(std::vector<Found>& found, size_t count) {
  std::ranges::stable_sort(found, std::greater<>(), &Found::score);
  if (found.size() > count) found.resize(count);
}

}  // namespace

std::vector<Found> beam_search(const SearchOptions& options, const std::vector<int32_t>& prompt, StepFunction step) {
  auto beams = static_cast<size_t>(options.beams);
  std::vector<Found> open = {{0, prompt}}, ended;
  auto final_score = [&](const Found& found) {
    return found.score / std::pow(static_cast<double>(found.tokens.size()), options.length_penalty);
  };
  bool done = false;
  while (!done && static_cast<int64_t>(open[0].tokens.size()) < options.max_length) {
    std::vector<Found> candidates;
    for (const Found& beam : open) {
      std::vector<double> scores = step(beam.tokens);
      take_logarithm(scores);
      process(options, beam.tokens, prompt.size(), scores);
      for (size_t v = 0; v < scores.size(); ++v) {
        candidates.push_back({beam.score + scores[v], beam.tokens});
        candidates.back().tokens.push_back(static_cast<int32_t>(v));
      }
    }
    double length = static_cast<double>(open[0].tokens.size());
    keep_best(candidates, 2 * beams);
    open.clear();
    for (size_t i = 0; i < candidates.size() && open.size() < beams; ++i) {
      if (candidates[i].tokens.back() != options.eos) {
        open.push_back(candidates[i]);
      } else if (i < beams) {
        candidates[i].tokens.pop_back();
        ended.push_back({final_score(candidates[i]), candidates[i].tokens});
        keep_best(ended, beams);
      }
    }
    double hope = candidates[0].score / std::pow(length, options.length_penalty);
    done = ended.size() == beams && (options.early_stopping || ended.back().score >= hope);
  }
  for (const Found& beam : open) {
    if (!done) ended.push_back({final_score(beam), beam.tokens});
  }
  keep_best(ended, beams);
  return ended;
}

std::vector<int32_t> greedy_search(const SearchOptions& options, const std::vector<int32_t>& prompt, int32_t pad,
                                   StepFunction step) {
  std::vector<int32_t> tokens = prompt;
  while (static_cast<int64_t>(tokens.size()) < options.max_length) {
    std::vector<double> scores = step(tokens);
    process(options, tokens, prompt.size(), scores);
    auto best = static_cast<int32_t>(std::ranges::max_element(scores) - scores.begin());
    if (best == options.eos) break;
    tokens.push_back(best);
  }
  tokens.resize(static_cast<size_t>(options.max_length), pad);
  return tokens;
}

}  // namespace ortolan::test
