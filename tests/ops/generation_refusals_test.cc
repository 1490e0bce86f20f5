// What BeamSearch refuses: inputs that cannot be, and graphs that are no decoders.
#include <cmath>
#include <utility>

#include "generation_fixture.h"

namespace ortolan::test {
namespace {

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

}  // namespace
}  // namespace ortolan::test
