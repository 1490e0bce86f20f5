// Decoding with a GPT graph: the prompt once an entry, then one token a row with the states of the step before.
#include "cpu/generation/decoder.h"
#include "cpu/generation/feeds.h"
#include "cpu/moves/stacked_slices.h"

namespace ortolan::cpu::generation {
namespace {

class GptDecoder final : public Decoder {
 public:
  GptDecoder(KernelContext& context, const Graphs& graphs, const Attributes& attributes, const Parameters& parameters)
      : context_(context), graphs_(graphs), parameters_(parameters), prompt_(context.input(0)) {
    require(prompt_.rank() == 2 && prompt_.shape()[1] > 0, ErrorCode::kInvalidArgument, "input_ids has shape ",
            prompt_.shape(), "; it must be [batch, tokens] with one token or more");
    make_mask(attributes.pad);
  }

  const Tensor& prompt() const override { return prompt_; }

  Tensor start() override {
    const SubgraphRunner& graph = graphs_.init_decoder ? *graphs_.init_decoder : *graphs_.decoder;
    std::vector<Value> feeds = {prompt_, prompt_positions(), mask_};
    feeds.resize(graph.input_count(), empty_state(context_, graphs_.layout, parameters_.batch));
    state_rows_ = parameters_.batch;
    return run(graph, feeds);
  }

  Tensor next(std::span<const int32_t> tokens, std::span<const int32_t> parents, const Sequences& sequences) override {
    int64_t rows = std::ssize(tokens);
    mask_ = longer_mask(rows, sequences.length());
    std::vector<Value> feeds = {column(context_, tokens), positions(rows), mask_};
    std::vector<int32_t> sources = sources_of(rows, parents);
    for (Tensor& state : states_) feeds.emplace_back(take_rows(context_, std::exchange(state, {}), 1, sources));
    state_rows_ = rows;
    return run(*graphs_.decoder, feeds);
  }

 private:
  Tensor run(const SubgraphRunner& graph, const std::vector<Value>& feeds) {
    std::vector<Value> results = graph.run(context_, feeds);
    states_.clear();
    for (size_t i = 1; i < results.size(); ++i) {
      states_.push_back(on_host(context_, results[i].tensor()));
      require_state(states_.back(), graphs_.layout, state_rows_, i - 1);
    }
    return on_host(context_, results[0].tensor());
  }

  /** The row of the states that each new row continues: those of the prompt have one row an entry. */
  std::vector<int32_t> sources_of(int64_t rows, std::span<const int32_t> parents) const {
    std::vector<int32_t> sources = entries_of_rows(rows, rows / state_rows_);
    if (state_rows_ == rows && !parents.empty()) sources.assign(parents.begin(), parents.end());
    return sources;
  }

  /** 1 for each token that counts: by the input attention_mask, else all but padding. */
  void make_mask(int32_t pad) {
    const Tensor* given = parameters_.attention_mask;
    require(given == nullptr || given->shape() == prompt_.shape(), ErrorCode::kInvalidArgument,
            "attention_mask has another shape than input_ids, ", prompt_.shape());
    mask_ = Tensor(ElementType::kInt32, prompt_.shape(), context_.services().allocator);
    auto tokens = prompt_.span<int32_t>();
    auto mask = mask_.mutable_span<int32_t>();
    for (size_t i = 0; i < mask.size(); ++i) mask[i] = given ? given->data<int32_t>()[i] : tokens[i] != pad;
  }

  /** Tokens that count are numbered from 0, others get 0. Remembers where each entry goes on. */
  Tensor prompt_positions() {
    Tensor result(ElementType::kInt32, prompt_.shape(), context_.services().allocator);
    int64_t length = prompt_.shape()[1];
    for (int64_t entry = 0; entry < parameters_.batch; ++entry) {
      int32_t position = 0;
      for (int64_t i = entry * length; i < (entry + 1) * length; ++i) {
        bool counts = mask_.data<int32_t>()[i] != 0;
        result.mutable_data<int32_t>()[i] = counts ? position : 0;
        position += counts;
      }
      next_positions_.push_back(position);
    }
    return result;
  }

  Tensor positions(int64_t rows) {
    Tensor result(ElementType::kInt32, Shape{rows, 1}, context_.services().allocator);
    int64_t copies = rows / parameters_.batch;
    for (int64_t row = 0; row < rows; ++row) result.mutable_data<int32_t>()[row] = next_positions_[row / copies];
    for (int32_t& position : next_positions_) ++position;
    return result;
  }

  /** The mask with ones behind, one row a row. */
  Tensor longer_mask(int64_t rows, int64_t length) const {
    Tensor result(ElementType::kInt32, Shape{rows, length}, context_.services().allocator);
    int64_t have = mask_.shape()[1], copies = rows / mask_.shape()[0];
    for (int64_t row = 0; row < rows; ++row) {
      int32_t* to = result.mutable_data<int32_t>() + row * length;
      std::copy_n(mask_.data<int32_t>() + row / copies * have, have, to);
      std::fill(to + have, to + length, 1);
    }
    return result;
  }

  KernelContext& context_;
  const Graphs& graphs_;
  const Parameters& parameters_;
  Tensor prompt_, mask_;
  std::vector<Tensor> states_;
  int64_t state_rows_ = 0;
  std::vector<int32_t> next_positions_;  // one an entry
};

}  // namespace

std::unique_ptr<Decoder> make_gpt_decoder(KernelContext& context, const Graphs& graphs, const Attributes& attributes,
                                          const Parameters& parameters) {
  return std::make_unique<GptDecoder>(context, graphs, attributes, parameters);
}

}  // namespace ortolan::cpu::generation
