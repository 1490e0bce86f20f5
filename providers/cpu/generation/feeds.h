// Making the values that decoder graphs are fed.
#pragma once

#include <span>
#include <vector>

#include "cpu/generation/parameters.h"
#include "cpu/generation/sequences.h"
#include "ops/generation_layout.h"

namespace ortolan::cpu::generation {

/** A tensor whose slice i of dimension `axis` is slice rows[i] of `source`: one copy, none where nothing moves.
    Throws for a packed type. */
Tensor take_rows(KernelContext& context, const Tensor& source, size_t axis, std::span<const int32_t> rows);
/** For row i of `rows` = batch * copies its entry i / copies. */
std::vector<int32_t> entries_of_rows(int64_t rows, int64_t copies);
/** A state without any tokens: zero elements in the dimension before the last. */
Tensor empty_state(KernelContext& context, const ops::GenerationLayout& layout, int64_t rows);
/** Throws unless `state`, the graph's state `index`, is one of that layout for so many rows. */
void require_state(const Tensor& state, const ops::GenerationLayout& layout, int64_t rows, size_t index);
/** int32 [tokens.size(), 1]. */
Tensor column(KernelContext& context, std::span<const int32_t> tokens);
/** The tokens of all rows: int32 [rows, length]. */
Tensor all_tokens(KernelContext& context, const Sequences& sequences);

}  // namespace ortolan::cpu::generation
