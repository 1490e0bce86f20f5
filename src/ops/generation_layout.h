// The graphs of BeamSearch, GreedySearch and Sampling: where a model's kind has which inputs and outputs.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace ortolan::ops {
using namespace graph;

/** Numbers are those of the attribute model_type. */
enum class GenerationModel { kGpt = 0, kEncoderDecoder = 1, kWhisper = 2 };

/**
 * What a node's subgraphs take and give, read from their inputs and outputs. N layers:
 *
 *     GPT       decoder(ids, positions, mask, past x N) -> logits, present x N
 *     others    encoder(ids, mask, decoder ids)         -> logits, hidden, present self x 2N, present cross x 2N
 *               encoder(ids, mask)                      -> present cross x 2N
 *               decoder(ids, [source], mask, [hidden], past self x 2N, past cross x 2N) -> logits, present self x 2N
 *
 * The source, by the name encoder_input_ids, is what the encoder read. Whisper's graphs take no mask. A GPT state is
 * [2, rows, heads, length, size], others are [rows, heads, length, size].
 * Throws kInvalidGraph where the counts, ranks or types do not fit, kNotImplemented for states of fixed length.
 */
struct GenerationLayout {
  explicit GenerationLayout(const Node& node);

  GenerationModel model;
  size_t layers = 0;
  size_t first_past = 3;          // among the decoder's inputs
  bool takes_source = false;      // the decoder: the encoder's ids, which pointer generators copy from
  bool takes_mask = true;         // the decoder
  bool takes_hidden = false;      // the decoder: the encoder's hidden states
  bool takes_all_tokens = false;  // the decoder: all tokens so far, not only the newest
  bool encoder_gives_logits = false;
  Dim heads, head_size;  // of the decoder's states, where its inputs state them
  ElementType past_type = ElementType::kFloat;

  bool is_gpt() const { return model == GenerationModel::kGpt; }
  bool is_whisper() const { return model == GenerationModel::kWhisper; }

 private:
  void read_gpt(const Node& node);
  void read_gpt_decoder(const Graph& decoder, const char* attribute);
  void read_decoder(const Graph& decoder);
  void read_encoder(const Graph& encoder);
  void read_state(const ValueInfo& past, size_t rank);
};

/** The types of values that the graph of that attribute is fed; `first` is the type of the node's input 0. */
std::vector<TypeInfo> generation_feeds(const Node& node, const GenerationLayout& layout, std::string_view attribute,
                                       ElementType first);

}  // namespace ortolan::ops
