// Conversion of a tensor's elements to another type.
#pragma once

#include "base/threads/thread_pool.h"
#include "tensor/tensor.h"

namespace ortolan::cpu {
using namespace tensor;

/** How a float becomes a power of two (float8e8m0). */
enum class PowerRounding : uint8_t { kUp, kDown, kNearest };

struct ConversionOptions {
  bool saturate = true;  // values beyond a narrow float's range become its largest, else infinity or NaN
  PowerRounding rounding = PowerRounding::kUp;
};

/** Sets `to`, of equal element count, from the elements of `from`; any two types but complex ones. Floats to integers
    drop the fraction; integers that do not fit wrap around; floats beyond int64 give its lowest value, and so does NaN.
    Text is read and written by number_text.h. Both tensors are on the CPU and do not overlap, unless they are equal. */
void convert_elements(const Tensor& from, Tensor& to, const ConversionOptions& options, ThreadPool& threads);

}  // namespace ortolan::cpu
