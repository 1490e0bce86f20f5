// Reading the layout of generation graphs.
#include "ops/generation_layout.h"

namespace ortolan::ops {
namespace {

GenerationModel model_of(const Node& node) {
  int64_t number = node.int_or("model_type", node.op_type == "WhisperBeamSearch" ? 2 : 0);
  require(number >= 0 && number <= 2, ErrorCode::kInvalidGraph, "model_type is ", number,
          "; give 0 (GPT), 1 (encoder and decoder) or 2 (Whisper)");
  return static_cast<GenerationModel>(number);
}

[[noreturn]] void fail_counts(const char* attribute, const Graph& graph, const char* wanted) {
  fail(ErrorCode::kInvalidGraph, "the graph '", attribute, "' has ", graph.inputs.size(), " inputs and ",
       graph.outputs.size(), " outputs, but it must take ", wanted);
}

/** Inputs that hold a cache of fixed length and say how much of it is used. */
void refuse_shared_buffers(const Graph& graph) {
  for (const ValueInfo* input : graph.inputs) {
    require(input->name != "past_sequence_length", ErrorCode::kNotImplemented,
            "the decoder takes 'past_sequence_length': states that share one buffer with the past are for GPUs only; "
            "export the model without past_present_share_buffer");
  }
}

TypeInfo tensor_of_rank(ElementType type, size_t rank) {
  return TypeInfo::of_tensor(type, SymbolicShape::of_rank(rank));
}

/** Token ids: int32 [rows, tokens]. */
TypeInfo ids() { return tensor_of_rank(ElementType::kInt32, 2); }

TypeInfo state_type(const GenerationLayout& layout) {
  DimVector dims = {Dim{}, layout.heads, Dim{}, layout.head_size};
  if (layout.is_gpt()) dims.insert(dims.begin(), Dim(2));
  return TypeInfo::of_tensor(layout.past_type, SymbolicShape(dims));
}

std::vector<TypeInfo> encoder_feeds(const GenerationLayout& layout, ElementType first) {
  if (layout.is_whisper()) return {tensor_of_rank(first, 3), ids()};
  std::vector<TypeInfo> feeds = {ids(), ids()};
  if (layout.encoder_gives_logits) feeds.push_back(ids());
  return feeds;
}

std::vector<TypeInfo> decoder_feeds(const GenerationLayout& layout, size_t count) {
  std::vector<TypeInfo> feeds = {ids()};
  if (layout.is_gpt()) {
    feeds.push_back(ids());
  } else if (!layout.takes_all_tokens) {
    feeds[0].shape[1] = 1;
  }
  if (layout.takes_source) feeds.push_back(ids());
  if (layout.takes_mask) feeds.push_back(ids());
  if (layout.takes_hidden) feeds.push_back(tensor_of_rank(layout.past_type, 3));
  feeds.resize(count, state_type(layout));
  return feeds;
}

void require_types(std::string_view attribute, const Graph& graph, const std::vector<TypeInfo>& feeds) {
  for (size_t i = 0; i < feeds.size(); ++i) {
    ElementType stated = graph.inputs[i]->type.element;
    require(stated == feeds[i].element || stated == ElementType::kUndefined, ErrorCode::kInvalidGraph, "input ", i,
            " '", graph.inputs[i]->name, "' of the graph '", attribute, "' is ", name_of(stated), ", but it is fed ",
            name_of(feeds[i].element), "; change its type and cast inside");
  }
}

}  // namespace

GenerationLayout::GenerationLayout(const Node& node) : model(model_of(node)) {
  if (is_gpt()) {
    read_gpt(node);
  } else {
    read_encoder(node.graph_of("encoder"));
    read_decoder(node.graph_of("decoder"));
  }
}

void GenerationLayout::read_gpt(const Node& node) {
  read_gpt_decoder(node.graph_of("decoder"), "decoder");
  if (!node.has_attribute("init_decoder")) return;
  size_t known = layers;
  read_gpt_decoder(node.graph_of("init_decoder"), "init_decoder");
  require(layers == known, ErrorCode::kInvalidGraph, "the graph 'init_decoder' has ", layers,
          " states, but 'decoder' has ", known);
}

void GenerationLayout::read_gpt_decoder(const Graph& decoder, const char* attribute) {
  refuse_shared_buffers(decoder);
  if (decoder.outputs.size() < 2 || decoder.inputs.size() != decoder.outputs.size() + 2) {
    fail_counts(attribute, decoder, "ids, positions, mask and a past for each present it gives after the logits");
  }
  layers = decoder.outputs.size() - 1;
  read_state(*decoder.inputs[3], 5);
  require(heads.known() && head_size.known(), ErrorCode::kInvalidGraph, "the input '", decoder.inputs[3]->name,
          "' of the graph '", attribute, "' has shape ", decoder.inputs[3]->type.shape,
          "; it must state the heads (dimension 2) and their size (dimension 4)");
}

void GenerationLayout::read_encoder(const Graph& encoder) {
  size_t inputs = encoder.inputs.size(), outputs = encoder.outputs.size();
  encoder_gives_logits = is_whisper() || inputs == 3;
  bool fits = encoder_gives_logits ? inputs == (is_whisper() ? 2 : 3) && outputs >= 6 && (outputs - 2) % 4 == 0
                                   : inputs == 2 && outputs >= 2 && outputs % 2 == 0;
  if (!fits) fail_counts("encoder", encoder, "what its model_type says and give states for each layer");
  layers = encoder_gives_logits ? (outputs - 2) / 4 : outputs / 2;
}

void GenerationLayout::read_decoder(const Graph& decoder) {
  refuse_shared_buffers(decoder);
  auto is_called = [&](size_t i, const char* name) {
    return i < decoder.inputs.size() && decoder.inputs[i]->name == name;
  };
  takes_mask = !is_whisper();
  takes_source = takes_mask && is_called(1, "encoder_input_ids");
  first_past = is_whisper() ? 1 : takes_source ? 3 : 2;
  takes_hidden = is_called(first_past, "encoder_hidden_states");
  if (takes_hidden) ++first_past;
  if (decoder.inputs.size() != first_past + 4 * layers || decoder.outputs.size() != 1 + 2 * layers) {
    fail_counts("decoder", decoder, "four states a layer of the encoder and give logits and two states a layer");
  }
  require(!takes_hidden || encoder_gives_logits, ErrorCode::kInvalidGraph,
          "the decoder takes encoder_hidden_states, but an encoder of 2 inputs does not give them");
  const SymbolicShape& tokens = decoder.inputs[0]->type.shape;
  takes_all_tokens = !(tokens.has_rank() && tokens.rank() == 2 && tokens[1].is(1));
  read_state(*decoder.inputs[first_past], 4);
}

void GenerationLayout::read_state(const ValueInfo& past, size_t rank) {
  const SymbolicShape& shape = past.type.shape;
  require(!shape.has_rank() || shape.rank() == rank, ErrorCode::kInvalidGraph, "the decoder's input '", past.name,
          "' has shape ", shape, "; a state of this model_type has rank ", rank);
  if (past.type.element != ElementType::kUndefined) past_type = past.type.element;
  if (!shape.has_rank()) return;
  auto number = [](Dim dim) { return dim.known() ? dim : Dim{}; };
  heads = number(shape[rank - 3]);
  head_size = number(shape[rank - 1]);
}

std::vector<TypeInfo> generation_feeds(const Node& node, const GenerationLayout& layout, std::string_view attribute,
                                       ElementType first) {
  const Graph& graph = node.graph_of(attribute);
  std::vector<TypeInfo> feeds =
      attribute == "encoder" ? encoder_feeds(layout, first) : decoder_feeds(layout, graph.inputs.size());
  require_types(attribute, graph, feeds);
  return feeds;
}

}  // namespace ortolan::ops
