// Session entries read as what they mean.
#pragma once

#include "base/fp32_precision.h"
#include "runtime/session/session_options.h"

namespace ortolan::runtime {

bool is_on(const SessionOptions& options, std::string_view key, bool fallback);
/** Throws kInvalidArgument where the entry is no positive number. */
int64_t number_or(const SessionOptions& options, std::string_view key, int64_t fallback);
/** The switch `ortolan.numa`; throws kInvalidArgument where it is neither 0 nor 1. */
bool follows_nodes(const SessionOptions& options);
/** Of `ortolan.cpu.fp32_precision`; where it is missing, on arm64, of ONNX Runtime's switch for bfloat16 there. */
base::Fp32Precision precision_of(const SessionOptions& options);

}  // namespace ortolan::runtime
