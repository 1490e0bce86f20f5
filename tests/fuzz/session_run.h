// Sessions of made-up models on made-up inputs, all through the C API, within limits of memory and time.
#pragma once

#include <onnxruntime_c_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ortolan::fuzz {

const OrtApi& api();
/** True when the call succeeded; the status is released. */
bool ok(OrtStatus* status);
/** The process' one environment; its messages are made and thrown away. */
OrtEnv* environment();

/** New options of one thread under which a run takes little memory; the caller releases them. */
OrtSessionOptions* limited_options(GraphOptimizationLevel level);

/** Runs the session on inputs that follow from `seed`, unless an input is none or too large; a run that takes too long
   is told to stop. `run_options` may be NULL. */
void run_once(OrtSession* session, uint8_t seed, OrtRunOptions* run_options = nullptr);

/** Makes a session of the bytes and runs it once, if they are a model. */
void load_and_run(std::span<const uint8_t> model, const OrtSessionOptions* options);

}  // namespace ortolan::fuzz
