// BeamSearch, GreedySearch and Sampling on tiny language models, against searches by hand.
#include <algorithm>
#include <cmath>

#include "generation_fixture.h"

namespace ortolan::test {
namespace {

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
