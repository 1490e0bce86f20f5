// One run of a decoder graph, token by token.
#pragma once

#include <memory>
#include <span>

#include "cpu/generation/parameters.h"
#include "cpu/generation/sequences.h"
#include "ops/generation_layout.h"

namespace ortolan::cpu::generation {

/** The graphs of a node, ready to run. */
struct Graphs {
  explicit Graphs(const KernelInfo& info);

  ops::GenerationLayout layout;
  const SubgraphRunner* decoder;
  const SubgraphRunner* init_decoder = nullptr;   // GPT: for the first run, where present
  const SubgraphRunner* encoder = nullptr;        // of the others
  ElementType source_type = ElementType::kInt32;  // that the encoder takes
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  /** The tokens that sequences begin with: int32 [batch, length], length > 0. */
  virtual const Tensor& prompt() const = 0;
  /** Runs the prompt, each entry once; gives logits [batch, tokens, vocabulary]. */
  virtual Tensor start() = 0;
  /** Appends tokens[i] to what row parents[i] was, which makes row i; `sequences` has them already. Without parents
      rows continue themselves. Gives logits [rows, tokens, vocabulary]. */
  virtual Tensor next(std::span<const int32_t> tokens, std::span<const int32_t> parents,
                      const Sequences& sequences) = 0;
};

/** All must outlive the decoder. */
std::unique_ptr<Decoder> make_gpt_decoder(KernelContext& context, const Graphs& graphs, const Attributes& attributes,
                                          const Parameters& parameters);
std::unique_ptr<Decoder> make_encoder_decoder(KernelContext& context, const Graphs& graphs,
                                              const Attributes& attributes, const Parameters& parameters);

}  // namespace ortolan::cpu::generation
