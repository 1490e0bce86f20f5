// The loop that all generation operators share.
#pragma once

#include "cpu/generation/decoder.h"
#include "cpu/generation/logits_processors.h"
#include "cpu/generation/token_chooser.h"

namespace ortolan::cpu::generation {

/** The size of the vocabulary: that of the attribute, else of the logits. Throws where the logits have no rank 3, no
    tokens, or fewer columns. */
int64_t vocabulary_of(const Attributes& attributes, const Tensor& logits);

/** Appends tokens to `sequences` until they are full or the chooser is done. `logits` are those of decoder.start();
    `scores` has room for [rows][vocabulary], and afterwards holds those that the last tokens were chosen by. Each step
    asks whether the run shall end. */
void generate(KernelContext& context, Decoder& decoder, const LogitsProcessors& processors, TokenChooser& chooser,
              Tensor logits, std::span<float> scores, Sequences& sequences);

/** The logits of the last token as float: row i of `scores` = [rows][vocabulary] gets those of its row or, where
    logits has fewer, of its entry. */
void read_last_logits(const Tensor& logits, int64_t rows, int64_t vocabulary, float* scores);

}  // namespace ortolan::cpu::generation
