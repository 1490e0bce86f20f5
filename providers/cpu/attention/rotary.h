// Rotary position embedding: each position of a sequence turns pairs of a head's elements by angles of its own.
#pragma once

#include <initializer_list>

#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** Elements between neighbours along batch, sequence and heads; a head's own elements lie side by side. */
struct RotaryStrides {
  int64_t batch = 0, sequence = 0, head = 0;
};

/** What is turned. `pairs` elements stand in a row of the caches; the first 2*pairs elements of a head are turned, the
    others copied. Pairs are (i, pairs + i) or, interleaved, (2i, 2i + 1). */
struct RotaryGeometry {
  int64_t batch = 0, sequence = 0, heads = 0, head_size = 0, pairs = 0;
  bool interleaved = false;
  RotaryStrides from, to;
};

/** The geometry of a tensor [batch, sequence, heads*head_size] or [batch, heads, sequence, head_size] that is turned
    where it lies or into one of the same shape. A tensor of rank 3 needs `heads` > 0, which divide its rows. Throws
    where a head has fewer than 2*pairs elements. */
RotaryGeometry rotary_geometry(const Shape& shape, int64_t heads, int64_t pairs, bool interleaved);

/** Cosines and sines, [rows][pairs], elements of float, float16, bfloat16 or double. */
struct RotaryCaches {
  const void* cosine = nullptr;
  const void* sine = nullptr;
  ElementType type = ElementType::kFloat;
  int64_t rows = 0;
};

/** y = x turned, for elements of `type` (float, float16, bfloat16, double): computed in fp32 (double: in fp64) and
    rounded once. `rows` names the row of the caches for each [batch][sequence]; it is checked here, since it usually
    comes from an input. x and y may be the same memory with the same strides. `pool` may be NULL. */
void rotate(ThreadPool* pool, const RotaryGeometry& geometry, const RotaryCaches& caches, const int64_t* rows,
            ElementType type, const void* x, void* y);

/** Turns floats where they lie: pair i of position p by p / 10000^(i / pairs). Rows stand at `first_position` and the
    positions after it; `parts` have the same geometry. */
void rotate_by_position(KernelContext& context, const RotaryGeometry& geometry, int64_t first_position,
                        std::initializer_list<float*> parts);

}  // namespace ortolan::cpu
