// Options of sessions with one custom operator, and runs of models with one input of floats.
#pragma once

#include "api_test_support.h"

using Domain = Handle<OrtCustomOpDomain, &OrtApi::ReleaseCustomOpDomain>;
inline constexpr auto kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT;

/** Runs a model with float input x and output y. */
inline OrtStatus* run_floats(OrtSession* session, std::vector<float> data, std::vector<float>& result) {
  Value input = floats(data, {static_cast<int64_t>(data.size())});
  const char *in = "x", *out = "y";
  const OrtValue* inputs[] = {input};
  OrtValue* output = nullptr;
  if (OrtStatus* status = api().Run(session, nullptr, &in, inputs, 1, &out, 1, &output)) return status;
  result = content<float>(Value(output));
  return nullptr;
}

inline SessionOptions options_with(const OrtCustomOp& op) {
  SessionOptions options;
  Domain domain;
  EXPECT_OK(api().CreateSessionOptions(options.out()));
  EXPECT_OK(api().CreateCustomOpDomain("test.ops", domain.out()));
  EXPECT_OK(api().CustomOpDomain_Add(domain, &op));
  EXPECT_OK(api().AddCustomOpDomain(options, domain));
  EXPECT_OK(api().AddSessionConfigEntry(options, "test.key", "7"));
  return options;
}
