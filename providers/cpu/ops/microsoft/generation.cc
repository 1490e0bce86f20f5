// Kernels of BeamSearch, WhisperBeamSearch, GreedySearch and Sampling: outputs around the loop of cpu/generation.
#include <cmath>

#include "cpu/elements/float_tensors.h"
#include "cpu/generation/beam_scorer.h"
#include "cpu/generation/generate.h"
#include "cpu/generation/token_picker.h"
#include "cpu/kernels/rows/normalization_f32.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::microsoft {
namespace {

using namespace generation;

constexpr InputPlaces kBeamPlaces = {.num_beams = 3,
                                     .num_return_sequences = 4,
                                     .length_penalty = 5,
                                     .repetition_penalty = 6,
                                     .vocab_mask = 7,
                                     .prefix_vocab_mask = 8,
                                     .attention_mask = 9,
                                     .decoder_input_ids = 10,
                                     .logits_processor = 11};
constexpr InputPlaces kWhisperPlaces = [] {
  InputPlaces places = kBeamPlaces;
  places.extra_decoding_ids = 13;
  places.temperature = 14;
  return places;
}();
constexpr InputPlaces kGreedyPlaces = {
    .repetition_penalty = 3, .vocab_mask = 4, .prefix_vocab_mask = 5, .attention_mask = 6};
constexpr InputPlaces kSamplingPlaces = {.repetition_penalty = 3,
                                         .vocab_mask = 4,
                                         .prefix_vocab_mask = 5,
                                         .attention_mask = 6,
                                         .presence_mask = 7,
                                         .seed = 8};

/** One run, begun: the prompt's logits are there. */
struct Run {
  Run(KernelContext& context, const Graphs& graphs, const Attributes& attributes, const Parameters& parameters)
      : decoder(graphs.layout.is_gpt() ? make_gpt_decoder(context, graphs, attributes, parameters)
                                       : make_encoder_decoder(context, graphs, attributes, parameters)),
        length(checked_length(decoder->prompt(), parameters)),
        sequences(decoder->prompt().span<int32_t>(), length, parameters.beams, parameters.max_length) {
    logits = decoder->start();
    vocabulary = vocabulary_of(attributes, logits);
    scores = context.scratch<float>(checked_mul(parameters.rows(), vocabulary));
  }

  static int64_t checked_length(const Tensor& prompt, const Parameters& parameters) {
    int64_t length = prompt.shape()[1];
    require(length < parameters.max_length, ErrorCode::kInvalidArgument, "max_length is ", parameters.max_length,
            ", but the prompt has ", length, " tokens already; it must be greater");
    return length;
  }

  std::unique_ptr<Decoder> decoder;
  int64_t length;  // of the prompt
  Sequences sequences;
  Tensor logits;
  int64_t vocabulary;
  std::span<float> scores;
};

/** Writes the tokens and, behind them, padding. */
void write_sequence(std::span<const int32_t> tokens, int32_t pad, std::span<int32_t> to) {
  std::ranges::fill(std::ranges::copy(tokens, to.begin()).out, to.end(), pad);
}

class BeamSearch : public OpKernel {
 public:
  explicit BeamSearch(const KernelInfo& info)
      : graphs_(info),
        attributes_(info.node()),
        places_(info.node().op_type == "BeamSearch" ? kBeamPlaces : kWhisperPlaces) {
    require(!info.has_output(3) && info.node().int_or("decoder_output_cross_qk", 0) == 0, ErrorCode::kNotImplemented,
            "the output cross_qk needs a decoder for GPUs; leave it and decoder_output_cross_qk out");
  }

  void compute(KernelContext& context) const override {
    Parameters parameters(context, places_, attributes_);
    if (parameters.batch == 0) return write_nothing(context, parameters);
    Run run(context, graphs_, attributes_, parameters);
    if (context.has_output(4)) write_no_speech(context, run);
    LogitsProcessors processors(attributes_, parameters, run.vocabulary);
    std::optional<OutputAs<float>> log = output_scores(context, parameters, run);
    BeamScorer scorer(attributes_, parameters, run.vocabulary, context.threads(), log ? log->data() : nullptr);
    generate(context, *run.decoder, processors, scorer, std::move(run.logits), run.scores, run.sequences);
    if (log) log->finish();
    scorer.finish(run.sequences);
    write(context, parameters, scorer);
  }

 private:
  void write_nothing(KernelContext& context, const Parameters& parameters) const {
    context.output(0, Shape{0, parameters.returned, parameters.max_length});
    if (context.has_output(1)) context.output(1, Shape{0, parameters.returned});
    if (context.has_output(2)) {
      context.output(2, Shape{0, 0, parameters.beams, std::max<int64_t>(0, attributes_.vocabulary)});
    }
    if (context.has_output(4)) context.output(4, Shape{0});
  }

  /** Zeros, for steps that do not come to pass. */
  static std::optional<OutputAs<float>> output_scores(KernelContext& context, const Parameters& parameters,
                                                      const Run& run) {
    if (!context.has_output(2)) return std::nullopt;
    Shape shape = {parameters.max_length - run.length, parameters.batch, parameters.beams, run.vocabulary};
    OutputAs<float> scores(context, context.output(2, shape));
    std::fill_n(scores.data(), shape.element_count(), 0.0f);
    return scores;
  }

  void write(KernelContext& context, const Parameters& parameters, const BeamScorer& scorer) const {
    int64_t length = parameters.max_length;
    Tensor& sequences = context.output(0, Shape{parameters.batch, parameters.returned, length});
    for (int64_t i = 0; i < parameters.batch * parameters.returned; ++i) {
      const Hypothesis& best = scorer.best(i / parameters.returned, i % parameters.returned);
      auto place = sequences.mutable_span<int32_t>().subspan(static_cast<size_t>(i * length));
      write_sequence(best.tokens, attributes_.pad, place.first(static_cast<size_t>(length)));
    }
    if (!context.has_output(1)) return;
    OutputAs<float> scores(context, context.output(1, Shape{parameters.batch, parameters.returned}));
    for (int64_t i = 0; i < parameters.batch * parameters.returned; ++i) {
      scores.data()[i] = scorer.best(i / parameters.returned, i % parameters.returned).score;
    }
    scores.finish();
  }

  /** The probability of the token for silence after the prompt. */
  void write_no_speech(KernelContext& context, const Run& run) const {
    int32_t token = attributes_.whisper.no_speech;
    require(token >= 0 && token < run.vocabulary, ErrorCode::kInvalidGraph, "no_speech_token_id is ", token,
            "; the output non_speech_probs needs it within the vocabulary of ", run.vocabulary, " tokens");
    int64_t batch = run.decoder->prompt().shape()[0];
    OutputAs<float> silence(context, context.output(4, Shape{batch}));
    read_last_logits(run.logits, batch, run.vocabulary, run.scores.data());
    kernels::softmax(&context.threads(), run.scores.data(), batch, run.vocabulary, 1, false, run.scores.data());
    for (int64_t i = 0; i < batch; ++i) silence.data()[i] = run.scores[i * run.vocabulary + token];
    silence.finish();
  }

  Graphs graphs_;
  Attributes attributes_;
  const InputPlaces& places_;
};

class GreedySearch : public OpKernel {
 public:
  explicit GreedySearch(const KernelInfo& info)
      : graphs_(info), attributes_(info.node()), samples_(info.node().op_type == "Sampling") {
    require(!samples_ || (attributes_.top_p >= 0 && attributes_.top_p <= 1), ErrorCode::kInvalidGraph, "top_p is ",
            attributes_.top_p, "; it must be from 0 to 1");
  }

  void compute(KernelContext& context) const override {
    Parameters parameters(context, samples_ ? kSamplingPlaces : kGreedyPlaces, attributes_);
    Tensor& output = context.output(0, Shape{parameters.batch, parameters.max_length});
    if (parameters.batch == 0) return write_filtered(context, 0, {});
    Run run(context, graphs_, attributes_, parameters);
    LogitsProcessors processors(attributes_, parameters, run.vocabulary);
    TokenPicker picker(attributes_, parameters, run.vocabulary, samples_);
    generate(context, *run.decoder, processors, picker, std::move(run.logits), run.scores, run.sequences);
    for (int64_t row = 0; row < parameters.batch; ++row) {
      auto place = output.mutable_span<int32_t>().subspan(static_cast<size_t>(row * parameters.max_length));
      write_sequence(run.sequences.row(row), attributes_.pad, place.first(static_cast<size_t>(parameters.max_length)));
    }
    write_filtered(context, parameters.batch, run.scores);
  }

 private:
  /** The logits that the last tokens were drawn by. */
  static void write_filtered(KernelContext& context, int64_t batch, std::span<const float> scores) {
    if (!context.has_output(1)) return;
    int64_t vocabulary = batch == 0 ? 0 : std::ssize(scores) / batch;
    std::ranges::copy(scores, context.output(1, ElementType::kFloat, Shape{batch, vocabulary}).mutable_data<float>());
  }

  Graphs graphs_;
  Attributes attributes_;
  bool samples_;
};

constexpr KernelRow kRows[] = {
    {"com.microsoft", "BeamSearch", 1, kLatest, make_kernel<BeamSearch>},
    {"com.microsoft", "WhisperBeamSearch", 1, kLatest, make_kernel<BeamSearch>},
    {"com.microsoft", "GreedySearch", 1, kLatest, make_kernel<GreedySearch>},
    {"com.microsoft", "Sampling", 1, kLatest, make_kernel<GreedySearch>},
};

}  // namespace

extern const KernelTable generation_rows;
const KernelTable generation_rows(kRows);

}  // namespace ortolan::cpu::microsoft
