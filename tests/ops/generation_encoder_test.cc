// BeamSearch and WhisperBeamSearch with an encoder, against searches by hand.
#include <cmath>

#include "generation_fixture.h"

namespace ortolan::test {
namespace {

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

}  // namespace
}  // namespace ortolan::test
