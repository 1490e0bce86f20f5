// Decoding with an encoder graph, run once, and a decoder graph: models like T5 and Whisper.
#include "cpu/generation/decoder.h"
#include "cpu/generation/feeds.h"
#include "cpu/moves/stacked_slices.h"

namespace ortolan::cpu::generation {
namespace {

class EncoderDecoder final : public Decoder {
 public:
  EncoderDecoder(KernelContext& context, const Graphs& graphs, const Attributes& attributes,
                 const Parameters& parameters)
      : context_(context), graphs_(graphs), layout_(graphs.layout), parameters_(parameters), source_(context.input(0)) {
    size_t rank = layout_.is_whisper() ? 3 : 2;
    require(source_.rank() == rank, ErrorCode::kInvalidArgument, "input 0 has shape ", source_.shape(),
            "; this model_type takes rank ", rank);
    require(source_.type() == graphs.source_type, ErrorCode::kInvalidArgument, "input 0 is ", name_of(source_.type()),
            ", but the encoder takes ", name_of(graphs.source_type));
    make_prompt(attributes);
    if (!layout_.is_whisper()) make_mask(attributes.pad);
  }

  const Tensor& prompt() const override { return prompt_; }

  Tensor start() override {
    std::vector<Value> feeds = {source_};
    if (layout_.takes_mask) feeds.emplace_back(mask_);
    if (layout_.encoder_gives_logits) feeds.emplace_back(prompt_);
    std::vector<Value> results = graphs_.encoder->run(context_, feeds);
    size_t cross = layout_.encoder_gives_logits ? 2 + 2 * layout_.layers : 0;
    for (size_t i = cross; i < results.size(); ++i) add(cross_, results[i], i);
    state_rows_ = parameters_.batch;
    if (!layout_.encoder_gives_logits) return first_step();
    for (size_t i = 2; i < cross; ++i) add(states_, results[i], i);
    if (layout_.takes_hidden) hidden_ = on_host(context_, results[1].tensor());
    require(!layout_.takes_hidden || hidden_has_shape(), ErrorCode::kInvalidGraph, "the encoder's hidden states are ",
            name_of(hidden_.type()), hidden_.shape(), "; they must be [batch, length, size] of the states' type");
    return on_host(context_, results[0].tensor());
  }

  Tensor next(std::span<const int32_t> tokens, std::span<const int32_t> parents, const Sequences& sequences) override {
    int64_t rows = std::ssize(tokens);
    bool expand = rows != state_rows_;
    std::vector<int32_t> sources = entries_of_rows(rows, rows / state_rows_);
    if (expand) {
      for (Tensor& state : cross_) state = take_rows(context_, std::exchange(state, {}), 0, sources);
      if (layout_.takes_source) source_ = take_rows(context_, std::exchange(source_, {}), 0, sources);
      if (layout_.takes_mask) mask_ = take_rows(context_, mask_, 0, sources);
      if (layout_.takes_hidden) hidden_ = take_rows(context_, std::exchange(hidden_, {}), 0, sources);
    } else if (!parents.empty()) {
      sources.assign(parents.begin(), parents.end());
    }
    for (Tensor& state : states_) state = take_rows(context_, std::exchange(state, {}), 0, sources);
    state_rows_ = rows;
    return run(layout_.takes_all_tokens ? all_tokens(context_, sequences) : column(context_, tokens));
  }

 private:
  /** An encoder without logits leaves the prompt to the decoder. */
  Tensor first_step() {
    require(layout_.heads.known() && layout_.head_size.known(), ErrorCode::kInvalidGraph,
            "the decoder's states must state their heads (dimension 1) and size (dimension 3)");
    require(layout_.takes_all_tokens || prompt_.shape()[1] == 1, ErrorCode::kInvalidArgument,
            "decoder_input_ids has shape ", prompt_.shape(), ", but the decoder takes one token at a time");
    states_.assign(2 * layout_.layers, empty_state(context_, layout_, parameters_.batch));
    return run(prompt_);
  }

  Tensor run(Tensor tokens) {
    std::vector<Value> feeds = {std::move(tokens)};
    if (layout_.takes_source) feeds.emplace_back(source_);
    if (layout_.takes_mask) feeds.emplace_back(mask_);
    if (layout_.takes_hidden) feeds.emplace_back(hidden_);
    for (Tensor& state : states_) feeds.emplace_back(std::move(state));
    for (const Tensor& state : cross_) feeds.emplace_back(state);
    states_.clear();
    std::vector<Value> results = graphs_.decoder->run(context_, feeds);
    for (size_t i = 1; i < results.size(); ++i) add(states_, results[i], i);
    return on_host(context_, results[0].tensor());
  }

  void add(std::vector<Tensor>& states, const Value& given, size_t index) {
    states.push_back(on_host(context_, given.tensor()));
    require_state(states.back(), layout_, state_rows_, index);
  }

  bool hidden_has_shape() const {
    return hidden_.type() == layout_.past_type && hidden_.rank() == 3 && hidden_.shape()[0] == parameters_.batch;
  }

  /** decoder_input_ids, else the start token for each entry. */
  void make_prompt(const Attributes& attributes) {
    if (parameters_.decoder_ids != nullptr) {
      prompt_ = *parameters_.decoder_ids;
    } else {
      require(attributes.start >= 0, ErrorCode::kInvalidArgument,
              "there is neither the attribute decoder_start_token_id nor the input decoder_input_ids");
      std::vector<int32_t> tokens(static_cast<size_t>(parameters_.batch), attributes.start);
      prompt_ = column(context_, tokens);
    }
    require(prompt_.shape()[1] > 0, ErrorCode::kInvalidArgument, "decoder_input_ids has shape ", prompt_.shape(),
            "; give one token or more");
    state_rows_ = parameters_.batch;
  }

  /** 1 for each token that counts: by the input attention_mask, else from the first that is no padding on. */
  void make_mask(int32_t pad) {
    if (const Tensor* given = parameters_.attention_mask) {
      require(given->shape() == source_.shape() && given->type() == ElementType::kInt32, ErrorCode::kInvalidArgument,
              "attention_mask is ", name_of(given->type()), given->shape(), "; it must be int32", source_.shape());
      mask_ = *given;
      return;
    }
    mask_ = Tensor(ElementType::kInt32, source_.shape(), context_.services().allocator);
    int64_t length = source_.shape()[1];
    for (int64_t entry = 0; entry < parameters_.batch; ++entry) {
      bool begun = false;
      for (int64_t i = entry * length; i < (entry + 1) * length; ++i) {
        begun |= source_.data<int32_t>()[i] != pad;
        mask_.mutable_data<int32_t>()[i] = begun;
      }
    }
  }

  KernelContext& context_;
  const Graphs& graphs_;
  const ops::GenerationLayout& layout_;
  const Parameters& parameters_;
  Tensor source_, prompt_, mask_, hidden_;
  std::vector<Tensor> states_, cross_;
  int64_t state_rows_ = 0;
};

}  // namespace

std::unique_ptr<Decoder> make_encoder_decoder(KernelContext& context, const Graphs& graphs,
                                              const Attributes& attributes, const Parameters& parameters) {
  return std::make_unique<EncoderDecoder>(context, graphs, attributes, parameters);
}

}  // namespace ortolan::cpu::generation
