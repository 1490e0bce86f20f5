// Nodes that generate with a GPT, and checks of what they found against searches by hand.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "language_model.h"

namespace ortolan::test {

inline constexpr int32_t kPad = 0;
using Inputs = std::vector<std::pair<std::string, Value>>;

inline Tensor number(int32_t value) { return tensor_of<int32_t>({1}, {value}); }
inline Tensor number(float value) { return tensor_of<float>({1}, {value}); }

inline std::vector<int32_t> ints_of(const Tensor& tensor) {
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

inline const Names kBeamInputs = {
    "input_ids",         "max_length",         "min_length",          "num_beams",          "num_return_sequences",
    "length_penalty",    "repetition_penalty", "vocab_mask",          "prefix_vocab_mask",  "attention_mask",
    "decoder_input_ids", "logits_processor",   "cross_qk_layer_head", "extra_decoding_ids", "temperature"};
inline const Names kGreedyInputs = {"input_ids",          "max_length",    "min_length",
                                    "repetition_penalty", "vocab_mask",    "prefix_vocab_mask",
                                    "attention_mask",     "presence_mask", "seed"};

inline Generation gpt(const char* op, const LanguageModel& model, Tensor prompt, const SearchOptions& options) {
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
inline auto gpt_step(const LanguageModel& model, std::vector<int32_t> mask) {
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

inline std::vector<int32_t> mask_of(const std::vector<int32_t>& prompt) {
  std::vector<int32_t> mask;
  for (int32_t token : prompt) mask.push_back(token != kPad);
  return mask;
}

inline void expect_found(const std::vector<Value>& results, size_t entry, const std::vector<Found>& wanted,
                         int64_t length) {
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

}  // namespace ortolan::test
