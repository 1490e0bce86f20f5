// BeamSearch, GreedySearch, Sampling and WhisperBeamSearch on tiny language models, against searches by hand.
#include <cmath>
#include <map>
#include <numeric>

#include "language_model.h"

namespace ortolan::test {
namespace {

constexpr int32_t kPad = 0;
using Inputs = std::vector<std::pair<std::string, Value>>;

Tensor number(int32_t value) { return tensor_of<int32_t>({1}, {value}); }
Tensor number(float value) { return tensor_of<float>({1}, {value}); }

std::vector<int32_t> ints_of(const Tensor& tensor) {
  auto span = tensor.span<int32_t>();
  return {span.begin(), span.end()};
}

/** One generation node as a model. */
struct Generation {
  std::string op;
  Names order;  // the names of the node's inputs; those without value are left out
  std::map<std::string, Value> values;
  std::map<std::string, AttributeValue> attributes;
  std::map<std::string, std::function<void(GraphBuilder&)>> graphs;

  std::vector<Value> run(const Names& outputs, RunOptions* options = nullptr) const {
    Inputs inputs;
    Names names;
    for (const std::string& name : order) {
      auto found = values.find(name);
      names.push_back(found == values.end() ? "" : name);
      if (found != values.end()) inputs.emplace_back(name, found->second);
    }
    while (names.back().empty()) names.pop_back();
    Names wanted;
    for (const std::string& name : outputs) {
      if (!name.empty()) wanted.push_back(name);
    }
    auto fill = [&](GraphBuilder& b) {
      Node* node = b.node(op, names, outputs, "com.microsoft");
      for (const auto& [name, value] : attributes) node->set_attribute(name, value);
      for (const auto& [name, build] : graphs) node->set_attribute(name, b.subgraph(build));
    };
    return run_model(13, inputs, wanted, fill, options);
  }
  std::string error(const Names& outputs = {"sequences"}) const {
    return error_of([&] { run(outputs); });
  }
};

const Names kBeamInputs = {
    "input_ids",         "max_length",         "min_length",          "num_beams",          "num_return_sequences",
    "length_penalty",    "repetition_penalty", "vocab_mask",          "prefix_vocab_mask",  "attention_mask",
    "decoder_input_ids", "logits_processor",   "cross_qk_layer_head", "extra_decoding_ids", "temperature"};
const Names kGreedyInputs = {"input_ids",          "max_length",    "min_length",
                             "repetition_penalty", "vocab_mask",    "prefix_vocab_mask",
                             "attention_mask",     "presence_mask", "seed"};

Generation gpt(const char* op, const LanguageModel& model, Tensor prompt, const SearchOptions& options) {
  Generation node{op, std::string(op) == "BeamSearch" ? kBeamInputs : kGreedyInputs, {}, {}, {}};
  node.values["input_ids"] = std::move(prompt);
  node.values["max_length"] = number(static_cast<int32_t>(options.max_length));
  node.values["min_length"] = number(static_cast<int32_t>(options.min_length));
  if (node.op == "BeamSearch") {
    node.values["num_beams"] = number(static_cast<int32_t>(options.beams));
    node.values["num_return_sequences"] = number(static_cast<int32_t>(options.beams));
    node.values["length_penalty"] = number(static_cast<float>(options.length_penalty));
    node.attributes["early_stopping"] = int64_t{options.early_stopping};
  }
  node.values["repetition_penalty"] = number(static_cast<float>(options.repetition));
  auto size = static_cast<int64_t>(options.vocab_mask.size());
  if (size > 0) node.values["vocab_mask"] = tensor_of<int32_t>({size}, options.vocab_mask);
  node.attributes["eos_token_id"] = int64_t{options.eos};
  node.attributes["pad_token_id"] = int64_t{kPad};
  node.attributes["no_repeat_ngram_size"] = options.no_repeat;
  node.graphs["decoder"] = [&model](GraphBuilder& g) { build_gpt(g, model); };
  return node;
}

/** The GPT's step for a prompt in which token 0 is padding. */
auto gpt_step(const LanguageModel& model, std::vector<int32_t> mask) {
  return [&model, mask](const std::vector<int32_t>& tokens) {
    std::vector<int32_t> positions;
    int32_t position = 0;
    double sum = 0;
    for (size_t i = 0; i < tokens.size(); ++i) {
      bool counts = i >= mask.size() || mask[i] != 0;
      positions.push_back(counts ? position : 0);
      position += counts;
      sum += counts;
    }
    return model.logits(tokens, positions, sum);
  };
}

std::vector<int32_t> mask_of(const std::vector<int32_t>& prompt) {
  std::vector<int32_t> mask;
  for (int32_t token : prompt) mask.push_back(token != kPad);
  return mask;
}

void expect_found(const std::vector<Value>& results, size_t entry, const std::vector<Found>& wanted, int64_t length) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    size_t place = entry * wanted.size() + i;
    auto tokens =
        results[0].tensor().span<int32_t>().subspan(place * static_cast<size_t>(length), static_cast<size_t>(length));
    std::vector<int32_t> padded = wanted[i].tokens;
    padded.resize(static_cast<size_t>(length), kPad);
    EXPECT_EQ(std::vector<int32_t>(tokens.begin(), tokens.end()), padded) << "entry " << entry << " rank " << i;
    EXPECT_NEAR(results[1].tensor().data<float>()[place], wanted[i].score, 2e-4 * std::max(1.0, -wanted[i].score));
  }
}

TEST(BeamSearch, SearchesAsByHand) {
  uint32_t seed = test_seed();
  std::vector<SearchOptions> cases = {
      {.beams = 1},
      {.beams = 3, .eos = 4},
      {.beams = 4, .max_length = 12, .eos = 2, .length_penalty = 2},
      {.beams = 4, .max_length = 12, .eos = 2, .length_penalty = 0, .early_stopping = true},
      {.beams = 2, .min_length = 7, .eos = 5, .repetition = 1.5},
      {.beams = 5, .max_length = 10, .no_repeat = 2, .eos = 1},
      {.beams = 3, .max_length = 9, .no_repeat = 1, .eos = 1, .vocab_mask = {0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 1}},
  };
  for (size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(i);
    LanguageModel model(12, seed + static_cast<uint32_t>(i) * 10);
    std::vector<std::vector<int32_t>> prompts = {{3, 7, 11, 4}, {0, 0, 6, 9}, {0, 5, 5, 8}};
    std::vector<int32_t> all;
    for (const auto& prompt : prompts) all.insert(all.end(), prompt.begin(), prompt.end());
    auto results =
        gpt("BeamSearch", model, tensor_of<int32_t>({3, 4}, all), cases[i]).run({"sequences", "sequences_scores"});
    EXPECT_EQ(results[0].tensor().shape(), (Shape{3, cases[i].beams, cases[i].max_length}));
    for (size_t entry = 0; entry < prompts.size(); ++entry) {
      auto wanted = beam_search(cases[i], prompts[entry], gpt_step(model, mask_of(prompts[entry])));
      expect_found(results, entry, wanted, cases[i].max_length);
    }
  }
}

TEST(BeamSearch, TakesHalfPrecision) {
  LanguageModel model(12, 20);  // by these numbers no two sequences come so close that rounding decides
  SearchOptions options{.beams = 3, .max_length = 8, .eos = 4};
  Generation node = gpt("BeamSearch", model, tensor_of<int32_t>({1, 4}, {3, 7, 11, 4}), options);
  node.graphs["decoder"] = [&](GraphBuilder& g) { build_gpt(g, model, ElementType::kFloat16); };
  for (const char* name : {"length_penalty", "repetition_penalty"})
    node.values[name] = random_tensor<base::Half>({1}, 1, 1, 1.00001);
  auto results = node.run({"sequences", "sequences_scores"});
  auto wanted = beam_search(options, {3, 7, 11, 4}, gpt_step(model, {1, 1, 1, 1}));
  auto scores = doubles(results[1].tensor());
  EXPECT_EQ(results[1].tensor().type(), ElementType::kFloat16);
  for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(scores[i], wanted[i].score, 2e-2);
  auto best = results[0].tensor().span<int32_t>().first(8);
  wanted[0].tokens.resize(8, kPad);
  EXPECT_EQ(std::vector<int32_t>(best.begin(), best.end()), wanted[0].tokens);
}

TEST(BeamSearch, FindsTheBestOfAllSequences) {
  LanguageModel model(4, test_seed() + 99);
  SearchOptions options{.beams = 64, .max_length = 5, .eos = -1, .length_penalty = 0};
  Generation node = gpt("BeamSearch", model, tensor_of<int32_t>({1, 2}, {1, 3}), options);
  node.values["num_return_sequences"] = number(1);
  auto results = node.run({"sequences", "sequences_scores"});
  double best = -1e9;
  std::vector<int32_t> best_tokens;
  auto step = gpt_step(model, {1, 1});
  for (int code = 0; code < 64; ++code) {
    std::vector<int32_t> tokens = {1, 3};
    double score = 0;
    for (int32_t next : {code / 16, code / 4 % 4, code % 4}) {
      auto logits = step(tokens);
      double sum = 0;
      for (double logit : logits) sum += std::exp(logit);
      score += logits[next] - std::log(sum);
      tokens.push_back(next);
    }
    if (score > best) best = score, best_tokens = tokens;
  }
  EXPECT_EQ(ints_of(results[0].tensor()), best_tokens);
  EXPECT_NEAR(results[1].tensor().data<float>()[0], best, 1e-4);
}

TEST(BeamSearch, GivesScoresOfEachStep) {
  LanguageModel model(6, test_seed() + 5);
  SearchOptions options{.beams = 2, .max_length = 5, .eos = -1};
  std::vector<int32_t> prompt = {2, 4};
  auto results = gpt("BeamSearch", model, tensor_of<int32_t>({1, 2}, prompt), options)
                     .run({"sequences", "sequences_scores", "scores"});
  const Tensor& scores = results[2].tensor();
  ASSERT_EQ(scores.shape(), (Shape{3, 1, 2, 6}));
  auto logits = gpt_step(model, {1, 1})(prompt);
  double sum = 0;
  for (double logit : logits) sum += std::exp(logit);
  for (int v = 0; v < 6; ++v) EXPECT_NEAR(scores.data<float>()[v], logits[v] - std::log(sum), 1e-4);
}

TEST(BeamSearch, TakesMasksOfEntriesAndPrompts) {
  LanguageModel model(6, test_seed() + 6);
  SearchOptions options{.beams = 2, .max_length = 6, .eos = 3};
  std::vector<std::vector<int32_t>> prompts = {{1, 4, 5}, {2, 2, 1}}, masks = {{1, 0, 1}, {0, 1, 1}},
                                    prefixes = {{1, 0, 1, 0, 1, 0}, {0, 0, 0, 0, 1, 1}};
  Generation node = gpt("BeamSearch", model, tensor_of<int32_t>({2, 3}, {1, 4, 5, 2, 2, 1}), options);
  node.values["attention_mask"] = tensor_of<int32_t>({2, 3}, {1, 0, 1, 0, 1, 1});
  node.values["prefix_vocab_mask"] = tensor_of<int32_t>({2, 6}, {1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 1});
  auto results = node.run({"sequences", "sequences_scores"});
  for (size_t entry = 0; entry < 2; ++entry) {
    options.prefix_mask = prefixes[entry];
    expect_found(results, entry, beam_search(options, prompts[entry], gpt_step(model, masks[entry])), 6);
  }
}

TEST(BeamSearch, RunsTheFirstStepWithItsOwnGraph) {
  LanguageModel first(6, test_seed() + 7), other(6, test_seed() + 8);
  SearchOptions options{.beams = 3, .max_length = 6, .eos = 3};
  Generation node = gpt("BeamSearch", other, tensor_of<int32_t>({1, 2}, {1, 4}), options);
  other.code = first.code;
  node.graphs["init_decoder"] = [&](GraphBuilder& g) { build_gpt(g, first); };
  auto results = node.run({"sequences", "sequences_scores"});
  auto step = [&](const std::vector<int32_t>& tokens) {
    return gpt_step(tokens.size() == 2 ? first : other, {1, 1})(tokens);
  };
  expect_found(results, 0, beam_search(options, {1, 4}, step), 6);
}

TEST(GreedySearch, SearchesAsByHand) {
  uint32_t seed = test_seed();
  for (SearchOptions options : {SearchOptions{.max_length = 12, .eos = 4}, SearchOptions{.max_length = 9, .eos = -1},
                                SearchOptions{.max_length = 10, .min_length = 8, .eos = 2, .repetition = 1.3}}) {
    LanguageModel model(9, ++seed + 50);
    std::vector<std::vector<int32_t>> prompts = {{3, 7, 4}, {0, 6, 2}};
    Tensor result = gpt("GreedySearch", model, tensor_of<int32_t>({2, 3}, {3, 7, 4, 0, 6, 2}), options)
                        .run({"sequences"})[0]
                        .tensor();
    std::vector<int32_t> wanted;
    for (const auto& prompt : prompts) {
      auto tokens = greedy_search(options, prompt, kPad, gpt_step(model, mask_of(prompt)));
      wanted.insert(wanted.end(), tokens.begin(), tokens.end());
    }
    EXPECT_TRUE(equal(result, {2, options.max_length}, wanted));
  }
}

TEST(Sampling, KeepsToTheLikeliest) {
  LanguageModel model(9, test_seed() + 60);
  SearchOptions options{.max_length = 9, .eos = -1};
  Generation node = gpt("Sampling", model, tensor_of<int32_t>({1, 3}, {3, 7, 4}), options);
  node.attributes["top_p"] = 1e-6f;  // only the best is left
  node.attributes["min_tokens_to_keep"] = int64_t{1};
  Tensor result = node.run({"sequences"})[0].tensor();
  EXPECT_EQ(ints_of(result), greedy_search(options, {3, 7, 4}, kPad, gpt_step(model, {1, 1, 1})));
  node.attributes["custom"] = int64_t{1};
  EXPECT_EQ(ints_of(node.run({"sequences"})[0].tensor()), ints_of(result));
}

TEST(Sampling, FollowsSeedTemperatureAndPresence) {
  LanguageModel model(9, 61);  // with other numbers two seeds might draw the same
  SearchOptions options{.max_length = 40, .eos = -1};
  Generation node = gpt("Sampling", model, tensor_of<int32_t>({2, 2}, {3, 7, 4, 1}), options);
  node.attributes["top_p"] = 0.95f;
  auto drawn = [&](int32_t seed) {
    node.values["seed"] = number(seed);
    return ints_of(node.run({"sequences", "filtered_logits"})[0].tensor());
  };
  EXPECT_EQ(drawn(5), drawn(5));
  EXPECT_NE(drawn(5), drawn(6));
  node.attributes["temperature"] = 1e-5f;
  EXPECT_EQ(drawn(5), drawn(6));
  node.attributes["temperature"] = 1.0f;
  node.attributes["presence_penalty"] = 1e4f;
  node.values["presence_mask"] = tensor_of<int32_t>({2, 9}, {0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0});
  auto tokens = drawn(5);
  EXPECT_EQ(tokens[20], 0);
  EXPECT_EQ(tokens[60], 8);
}

/** The filtered logits of one step with probabilities 0.1, 0.2, 0.3, 0.4. */
std::vector<double> filtered(float top_p, int64_t keep, bool custom) {
  LanguageModel model(4, 1);
  std::ranges::fill(model.weight.mutable_span<float>(), 0.0f);
  for (int i = 0; i < 16; ++i) model.last.mutable_data<float>()[i] = std::log(0.1f * static_cast<float>(i % 4 + 1));
  Generation node = gpt("Sampling", model, tensor_of<int32_t>({1, 1}, {1}), {.max_length = 2});
  node.attributes["top_p"] = top_p;
  node.attributes["min_tokens_to_keep"] = keep;
  node.attributes["filter_value"] = -99.0f;
  node.attributes["custom"] = int64_t{custom};
  return doubles(node.run({"sequences", "filtered_logits"})[1].tensor());
}

TEST(Sampling, FiltersByTopP) {
  const std::vector<double> all = {std::log(0.1), std::log(0.2), std::log(0.3), std::log(0.4)};
  auto kept = [&](float top_p, int64_t keep, bool custom) {
    std::vector<int> places;
    auto logits = filtered(top_p, keep, custom);
    for (int i = 0; i < 4; ++i) {
      EXPECT_NEAR(logits[i], logits[i] == -99 ? -99 : all[i], 1e-5);
      if (logits[i] != -99) places.push_back(i);
    }
    return places;
  };
  using Places = std::vector<int>;
  EXPECT_EQ(kept(0.6f, 0, false), (Places{2, 3}));
  EXPECT_EQ(kept(0.95f, 0, false), (Places{0, 1, 2, 3}));
  EXPECT_EQ(kept(0.1f, 3, false), (Places{1, 2, 3}));
  EXPECT_EQ(kept(0.3f, 0, true), (Places{3}));
  EXPECT_EQ(kept(0.6f, 0, true), (Places{2, 3}));
}

Generation with_encoder(const char* op, const LanguageModel& model, const EncoderOptions& options, Tensor source,
                        const SearchOptions& search) {
  Generation node = gpt("BeamSearch", model, std::move(source), search);
  node.op = op;
  node.attributes["model_type"] = int64_t{options.features ? 2 : 1};
  node.attributes["decoder_start_token_id"] = int64_t{1};
  node.graphs["encoder"] = [&model, options](GraphBuilder& g) { build_encoder(g, model, options); };
  node.graphs["decoder"] = [&model, options](GraphBuilder& g) { build_decoder(g, model, options); };
  return node;
}

/** A step whose logits know the sum of the source. */
auto encoder_step(const LanguageModel& model, double source) {
  return [&model, source](const std::vector<int32_t>& tokens) {
    return model.logits(tokens, std::vector<int32_t>(tokens.size()), 100 * source);
  };
}

TEST(BeamSearch, SearchesWithAnEncoder) {
  LanguageModel model(8, test_seed() + 70);
  SearchOptions search{.beams = 3, .max_length = 9, .eos = 2};
  Tensor source = tensor_of<int32_t>({2, 4}, {3, 7, 0, 4, 0, 0, 6, 5});  // padding counts once a token came
  for (EncoderOptions options : {EncoderOptions{}, EncoderOptions{.hidden = true}, EncoderOptions{.logits = false},
                                 EncoderOptions{.source = true}, EncoderOptions{.hidden = true, .source = true},
                                 EncoderOptions{.logits = false, .source = true}}) {
    auto results = with_encoder("BeamSearch", model, options, source, search).run({"sequences", "sequences_scores"});
    expect_found(results, 0, beam_search(search, {1}, encoder_step(model, 14)), 9);
    expect_found(results, 1, beam_search(search, {1}, encoder_step(model, 11)), 9);
  }
  Generation node = with_encoder("BeamSearch", model, {}, source, search);
  node.values["attention_mask"] = tensor_of<int32_t>({2, 4}, {1, 0, 1, 1, 1, 1, 1, 0});
  auto results = node.run({"sequences", "sequences_scores"});
  expect_found(results, 0, beam_search(search, {1}, encoder_step(model, 7)), 9);
  expect_found(results, 1, beam_search(search, {1}, encoder_step(model, 6)), 9);
}

TEST(BeamSearch, RefusesSourcesOfAnotherType) {
  LanguageModel model(8, 1);
  for (ElementType type : {ElementType::kFloat, ElementType::kFloat16}) {
    Generation node = with_encoder("BeamSearch", model, {}, Tensor(type, {1, 4}), {.beams = 2});
    node.values["attention_mask"] = tensor_of<int32_t>({1, 4}, {1, 1, 1, 1});
    EXPECT_NE(node.error().find("but the encoder takes int32"), std::string::npos) << node.error();
  }
  Generation node = with_encoder("BeamSearch", model, {}, tensor_of<int32_t>({1, 2}, {1, 1}), {.beams = 2});
  node.attributes["decoder_start_token_id"] = int64_t{8};
  EXPECT_NE(node.error().find("8"), std::string::npos);
  node.attributes.erase("decoder_start_token_id");
  EXPECT_NE(node.error().find("neither the attribute decoder_start_token_id"), std::string::npos);
}

TEST(WhisperBeamSearch, StartsFromFeatures) {
  LanguageModel model(8, test_seed() + 71);
  SearchOptions search{.beams = 3, .max_length = 9, .eos = 2};
  Tensor source = random_tensor<float>({2, 3, 5}, 4);
  double sums[2] = {};
  for (int i = 0; i < 30; ++i) sums[i / 15] += source.data<float>()[i];
  EncoderOptions options{.features = true};
  Generation node = with_encoder("WhisperBeamSearch", model, options, source, search);
  node.values["decoder_input_ids"] = tensor_of<int32_t>({2, 2}, {1, 5, 4, 3});
  node.attributes["no_speech_token_id"] = int64_t{6};
  auto results = node.run({"sequences", "sequences_scores", "", "", "silence"});
  std::vector<std::vector<int32_t>> prompts = {{1, 5}, {4, 3}};
  for (size_t entry = 0; entry < 2; ++entry) {
    auto step = encoder_step(model, sums[entry]);
    expect_found(results, entry, beam_search(search, prompts[entry], step), 9);
    auto logits = step(prompts[entry]);
    double sum = 0;
    for (double logit : logits) sum += std::exp(logit);
    EXPECT_NEAR(results[2].tensor().data<float>()[entry], std::exp(logits[6]) / sum, 1e-5);
  }
  node.values["extra_decoding_ids"] = tensor_of<int32_t>({2, 2}, {7, 6, 5, -1});
  Tensor forced = node.run({"sequences"})[0].tensor();
  EXPECT_EQ(forced.data<int32_t>()[2], 7);
  EXPECT_EQ(forced.data<int32_t>()[3], 6);
  EXPECT_EQ(forced.data<int32_t>()[3 * 9 + 2], 5);
}

TEST(WhisperBeamSearch, ObeysTheTimestampRule) {
  LanguageModel model(30, test_seed() + 72);
  SearchOptions search{.beams = 2, .max_length = 14, .eos = 15};
  Generation node =
      with_encoder("WhisperBeamSearch", model, {.features = true}, random_tensor<float>({1, 1, 2}, 4), search);
  node.values["logits_processor"] = number(1);
  node.attributes["beginning_timestamp_token_id"] = int64_t{20};
  node.attributes["no_timestamps_token_id"] = int64_t{19};
  node.attributes["start_of_lm_token_id"] = int64_t{18};
  auto tokens = ints_of(node.run({"sequences"})[0].tensor());
  int32_t latest = 0;
  for (size_t i = 1; i < 14; ++i) {
    EXPECT_NE(tokens[i], 19);
    EXPECT_NE(tokens[i], 18);
    if (tokens[i] < 20) continue;
    EXPECT_GE(tokens[i], latest);
    latest = tokens[i];
  }
  node.attributes["beginning_timestamp_token_id"] = int64_t{30};
  EXPECT_NE(node.error().find("beginning_timestamp_token_id, which is 30"), std::string::npos);
}

TEST(BeamSearch, RefusesWhatCannotBe) {
  LanguageModel model(6, 3);
  auto error = [&](const char* name, Value value) {
    Generation node = gpt("BeamSearch", model, tensor_of<int32_t>({1, 2}, {1, 4}), {.beams = 2});
    node.values[name] = std::move(value);
    return node.error();
  };
  auto says = [&](const char* name, Value value, const char* text) {
    std::string got = error(name, std::move(value));
    EXPECT_NE(got.find(text), std::string::npos) << got;
  };
  says("max_length", number(0), "max_length is 0; it must be from 1 to 4096");
  says("max_length", number(-7), "max_length is -7");
  says("max_length", number(INT32_MAX), "max_length is 2147483647");
  says("max_length", number(1), "max_length is 1, but the prompt has 2 tokens");
  says("max_length", number(2), "max_length is 2, but the prompt has 2 tokens");
  says("max_length", tensor_of<int32_t>({2}, {4, 5}), "max_length has shape [2]");
  says("max_length", tensor_of<int32_t>({0}, {}), "max_length has shape [0]");
  says("num_beams", number(0), "num_beams is 0; it must be from 1 to 128");
  says("num_beams", number(-1), "num_beams is -1");
  says("num_beams", number(100000), "num_beams is 100000");
  says("num_return_sequences", number(3), "num_return_sequences is 3; it must be from 1 to 2");
  says("num_return_sequences", number(0), "num_return_sequences is 0");
  says("repetition_penalty", number(0.0f), "repetition_penalty is 0");
  says("repetition_penalty", number(NAN), "repetition_penalty is ");
  says("vocab_mask", tensor_of<int32_t>({5}, {1, 1, 1, 1, 1}), "vocab_mask has 5 elements; the vocabulary asks for 6");
  says("prefix_vocab_mask", tensor_of<int32_t>({5}, {1, 1, 1, 1, 1}), "prefix_vocab_mask has 5 elements");
  says("attention_mask", tensor_of<int32_t>({1, 3}, {1, 1, 1}), "attention_mask has another shape");
  says("input_ids", tensor_of<int32_t>({1, 0}, {}), "input_ids has shape [1,0]");
  says("input_ids", tensor_of<int32_t>({2}, {1, 2}), "rank 1");
  says("input_ids", tensor_of<int32_t>({1, 2}, {1, 6}), "6");
  says("input_ids", tensor_of<int32_t>({1, 2}, {1, INT32_MIN}), "-2147483648");
}

TEST(BeamSearch, RefusesOddGraphs) {
  LanguageModel model(6, 3), single(1, 3);
  auto node = [&](const LanguageModel& used) {
    return gpt("BeamSearch", used, tensor_of<int32_t>({1, 2}, {0, 0}), {.beams = 2});
  };
  auto says = [](const Generation& made, const char* text) {
    std::string got = made.error();
    EXPECT_NE(got.find(text), std::string::npos) << got;
  };
  says(node(single), "the vocabulary has 1 tokens");
  Generation wrong = node(model);
  wrong.graphs["decoder"] = [&](GraphBuilder& g) {
    build_gpt(g, model);
    g.graph.outputs.pop_back();
  };
  says(wrong, "the graph 'decoder' has 4 inputs and 1 outputs");
  wrong.graphs["decoder"] = [&](GraphBuilder& g) {
    build_gpt(g, model);
    g.input("another");
  };
  says(wrong, "the graph 'decoder' has 5 inputs and 2 outputs");
  wrong.graphs["decoder"] = [&](GraphBuilder& g) {
    build_gpt(g, model);
    std::swap(g.graph.outputs[0], g.graph.outputs[1]);
  };
  says(wrong, "state 0 that the graph gives is float");
  wrong.graphs["decoder"] = [&](GraphBuilder& g) {
    build_gpt(g, model);
    g.graph.inputs[0]->type.element = ElementType::kInt64;
  };
  says(wrong, "'input_ids' of the graph 'decoder' is int64, but it is fed int32");
  wrong.graphs["decoder"] = [&](GraphBuilder& g) {
    build_gpt(g, model);
    g.graph.inputs[3]->type.shape = {};
  };
  says(wrong, "it must state the heads");
  wrong.graphs.clear();
  says(wrong, "decoder");
  Generation bad = node(model);
  bad.attributes["model_type"] = int64_t{3};
  says(bad, "model_type is 3");
  bad.attributes["model_type"] = int64_t{1};
  says(bad, "encoder");
  bad = node(model);
  bad.attributes["vocab_size"] = int64_t{7};
  says(bad, "vocab_size is 7, but the graph's logits have shape [1,2,6]");
  bad.attributes["vocab_size"] = int64_t{5};
  EXPECT_EQ(bad.error(), "");
  bad.attributes["eos_token_id"] = INT64_MIN;
  says(bad, "eos_token_id is -9223372036854775808");
}

TEST(BeamSearch, TakesEmptyBatches) {
  LanguageModel model(6, 3);
  Generation node = gpt("BeamSearch", model, Tensor(ElementType::kInt32, {0, 2}), {.beams = 2, .max_length = 5});
  auto results = node.run({"sequences", "sequences_scores", "scores"});
  EXPECT_EQ(results[0].tensor().shape(), (Shape{0, 2, 5}));
  EXPECT_EQ(results[1].tensor().shape(), (Shape{0, 2}));
  node = gpt("GreedySearch", model, Tensor(ElementType::kInt32, {0, 2}), {.max_length = 5});
  EXPECT_EQ(node.run({"sequences"})[0].tensor().shape(), (Shape{0, 5}));
}

TEST(BeamSearch, StopsWhereTheRunShallEnd) {
  LanguageModel model(6, 3);
  RunOptions options;
  options.terminate = true;
  Generation node = gpt("BeamSearch", model, tensor_of<int32_t>({1, 2}, {1, 4}), {.beams = 2});
  EXPECT_NE(error_of([&] {
              node.run({"sequences"}, &options);
            }).find("the run was stopped because terminate is set in its run options"),
            std::string::npos);
}

TEST(BeamSearch, TakesScoresThatAreNotNumbers) {
  LanguageModel model(6, 3);
  std::ranges::fill(model.last.mutable_span<float>(), NAN);
  Generation node = gpt("BeamSearch", model, tensor_of<int32_t>({1, 2}, {1, 4}), {.beams = 2});
  EXPECT_EQ(node.error(), "");
  for (const char* op : {"GreedySearch", "Sampling"}) {
    EXPECT_EQ(gpt(op, model, tensor_of<int32_t>({1, 2}, {1, 4}), {}).error(), "");
  }
}

}  // namespace
}  // namespace ortolan::test
