// Reading the attributes and inputs of generation nodes.
#include "cpu/generation/parameters.h"

#include "base/checked.h"
#include "cpu/elements/float_tensors.h"

namespace ortolan::cpu::generation {
namespace {

int32_t token_of(const Node& node, const char* name) {
  int64_t token = node.int_or(name, -1);
  require(token >= -1 && token <= INT32_MAX, ErrorCode::kInvalidGraph, name, " is ", token,
          "; a token id is from 0 to 2^31 - 1");
  return static_cast<int32_t>(token);
}

const Tensor* input(const KernelContext& context, int place) {
  return place < 0 ? nullptr : context.input_if(static_cast<size_t>(place));
}

void require_single(const Tensor& tensor, const char* name) {
  require(tensor.element_count() == 1, ErrorCode::kInvalidArgument, "input ", name, " has shape ", tensor.shape(),
          "; it must hold one number");
}

int64_t int_input(const KernelContext& context, int place, const char* name, int64_t fallback) {
  const Tensor* tensor = input(context, place);
  if (tensor == nullptr) return fallback;
  require_single(*tensor, name);
  return *tensor->data<int32_t>();
}

int64_t int_within(const KernelContext& context, int place, const char* name, int64_t fallback, int64_t least,
                   int64_t most) {
  int64_t value = int_input(context, place, name, fallback);
  require(value >= least && value <= most, ErrorCode::kInvalidArgument, "input ", name, " is ", value,
          "; it must be from ", least, " to ", most);
  return value;
}

float float_input(const KernelContext& context, int place, const char* name, float fallback) {
  const Tensor* tensor = input(context, place);
  if (tensor == nullptr) return fallback;
  require_single(*tensor, name);
  return *to_float_tensor(*tensor).data<float>();
}

std::span<const int32_t> ints(const KernelContext& context, int place) {
  const Tensor* tensor = input(context, place);
  return tensor ? tensor->span<int32_t>() : std::span<const int32_t>{};
}

/** Input `place` as [batch, tokens]. */
const Tensor* token_table(const KernelContext& context, int place, const char* name, int64_t batch) {
  const Tensor* tensor = input(context, place);
  if (tensor == nullptr) return nullptr;
  require(tensor->rank() == 2 && tensor->shape()[0] == batch, ErrorCode::kInvalidArgument, "input ", name,
          " has shape ", tensor->shape(), "; it must be [", batch, ", tokens]");
  require(tensor->type() == ElementType::kInt32, ErrorCode::kInvalidArgument, "input ", name, " is ",
          name_of(tensor->type()), "; it must be int32");
  return tensor;
}

void require_size(std::span<const int32_t> mask, int64_t size, const char* name) {
  require(mask.empty() || static_cast<int64_t>(mask.size()) == size, ErrorCode::kInvalidArgument, "input ", name,
          " has ", mask.size(), " elements; the vocabulary asks for ", size);
}

}  // namespace

Attributes::Attributes(const Node& node)
    : eos(token_of(node, "eos_token_id")),
      pad(token_of(node, "pad_token_id")),
      start(token_of(node, "decoder_start_token_id")),
      vocabulary(node.int_or("vocab_size", -1)),
      no_repeat_ngram(node.int_or("no_repeat_ngram_size", 0)),
      early_stopping(node.int_or("early_stopping", 0) != 0),
      whisper{token_of(node, "translate_token_id"),     token_of(node, "transcribe_token_id"),
              token_of(node, "start_of_lm_token_id"),   token_of(node, "no_speech_token_id"),
              token_of(node, "no_timestamps_token_id"), token_of(node, "beginning_timestamp_token_id")},
      temperature(node.float_or("temperature", 1)),
      top_p(node.float_or("top_p", 0)),
      filter_value(node.float_or("filter_value", -1e20f)),
      presence_penalty(node.float_or("presence_penalty", 0)),
      min_tokens_to_keep(node.int_or("min_tokens_to_keep", 0)),
      custom(node.int_or("custom", 0) != 0) {}

Parameters::Parameters(const KernelContext& context, const InputPlaces& places, const Attributes& attributes) {
  const Tensor& prompt = context.input(0);
  require(prompt.rank() >= 2, ErrorCode::kInvalidArgument, "input 0 has shape ", prompt.shape(),
          "; it must be [batch, tokens], or [batch, features, frames] for Whisper");
  batch = prompt.shape()[0];
  max_length = int_within(context, 1, "max_length", kMostTokens, 1, kMostTokens);
  min_length = int_input(context, 2, "min_length", 0);
  beams = int_within(context, places.num_beams, "num_beams", 1, 1, kMostBeams);
  returned = int_within(context, places.num_return_sequences, "num_return_sequences", 1, 1, beams);
  length_penalty = float_input(context, places.length_penalty, "length_penalty", 1);
  repetition_penalty = float_input(context, places.repetition_penalty, "repetition_penalty", 1);
  require(repetition_penalty > 0, ErrorCode::kInvalidArgument, "input repetition_penalty is ", repetition_penalty,
          "; it must be positive");
  temperature = float_input(context, places.temperature, "temperature", attributes.temperature);
  logits_processor = int_within(context, places.logits_processor, "logits_processor", 0, 0, INT32_MAX);
  seed = static_cast<uint32_t>(int_within(context, places.seed, "seed", 0, 0, INT32_MAX));
  decoder_ids = token_table(context, places.decoder_input_ids, "decoder_input_ids", batch);
  attention_mask = input(context, places.attention_mask);
  vocab_mask = ints(context, places.vocab_mask);
  prefix_mask = ints(context, places.prefix_vocab_mask);
  presence_mask = ints(context, places.presence_mask);
  checked_mul(rows(), kMostTokens);
  const Tensor* extra = token_table(context, places.extra_decoding_ids, "extra_decoding_ids", batch);
  if (extra == nullptr) return;
  forced = extra->span<int32_t>();
  forced_length = extra->shape()[1];
}

void Parameters::require_vocabulary(int64_t size) const {
  require_size(vocab_mask, size, "vocab_mask");
  require_size(prefix_mask, checked_mul(batch, size), "prefix_vocab_mask");
  require_size(presence_mask, checked_mul(batch, size), "presence_mask");
}

}  // namespace ortolan::cpu::generation
