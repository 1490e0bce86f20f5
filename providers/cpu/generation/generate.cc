// The loop, and what it reads of logits.
#include "cpu/generation/generate.h"

#include "base/threads/run_scope.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/rows/normalization_f32.h"

namespace ortolan::cpu::generation {

Graphs::Graphs(const KernelInfo& info) : layout(info.node()), decoder(&info.subgraph("decoder")) {
  if (!layout.is_gpt()) {
    encoder = &info.subgraph("encoder");
    source_type = info.node().graph_of("encoder").inputs[0]->type.element;
  } else if (info.node().has_attribute("init_decoder")) {
    init_decoder = &info.subgraph("init_decoder");
  }
}

namespace {

void require_logits(const Tensor& logits) {
  require(logits.rank() == 3 && logits.element_count() > 0, ErrorCode::kInvalidGraph, "the graph's logits have shape ",
          logits.shape(), "; they must be [rows, tokens, vocabulary] and not empty");
  require(kFloatTypes.contains(logits.type()), ErrorCode::kInvalidGraph, "the graph's logits are ",
          name_of(logits.type()), ", not floating-point numbers");
}

}  // namespace

int64_t vocabulary_of(const Attributes& attributes, const Tensor& logits) {
  require_logits(logits);
  int64_t columns = logits.shape()[2];
  require(attributes.vocabulary <= columns, ErrorCode::kInvalidGraph, "vocab_size is ", attributes.vocabulary,
          ", but the graph's logits have shape ", logits.shape());
  return attributes.vocabulary > 0 ? attributes.vocabulary : columns;
}

void read_last_logits(const Tensor& logits, int64_t rows, int64_t vocabulary, float* scores) {
  require_logits(logits);
  int64_t have = logits.shape()[0], tokens = logits.shape()[1], columns = logits.shape()[2];
  require(rows % have == 0 && columns >= vocabulary, ErrorCode::kInvalidGraph, "the graph's logits have shape ",
          logits.shape(), " for ", rows, " rows and a vocabulary of ", vocabulary);
  int64_t size = bits_of(logits.type()) / 8;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t place = (row / (rows / have) * tokens + tokens - 1) * columns;
    convert_floats(nullptr, static_cast<const char*>(logits.raw()) + place * size, logits.type(),
                   scores + row * vocabulary, ElementType::kFloat, vocabulary);
  }
}

void generate(KernelContext& context, Decoder& decoder, const LogitsProcessors& processors, TokenChooser& chooser,
              Tensor logits, std::span<float> scores, Sequences& sequences) {
  int64_t rows = sequences.rows();
  int64_t vocabulary = std::ssize(scores) / rows;
  for (int64_t step = 0;; ++step) {
    base::check_terminate();
    read_last_logits(logits, rows, vocabulary, scores.data());
    if (chooser.wants_log_probabilities()) {
      kernels::softmax(&context.threads(), scores.data(), rows, vocabulary, 1, true, scores.data());
    }
    processors.apply(context.threads(), sequences, step, scores);
    chooser.choose(scores, sequences);
    sequences.append(chooser.tokens(), chooser.parents());
    if (chooser.done() || sequences.full()) return;
    logits = decoder.next(chooser.tokens(), chooser.parents(), sequences);
  }
}

}  // namespace ortolan::cpu::generation
