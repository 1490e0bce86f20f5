// A session of a small model and its input.
#pragma once

#include "api_test_support.h"

class SessionTest : public ::testing::Test {
 protected:
  Env env_ = make_env();
  Session session_ = make_session(env_, add_model().bytes());
  std::vector<float> data_ = {1, 2, 3, 4};
  Value x_ = floats(data_, {2, 2});

  /** Runs with x and gives the output called `name`. */
  Value run(const char* name, OrtRunOptions* options = nullptr) {
    const char* in = "x";
    const OrtValue* inputs[] = {x_};
    OrtValue* output = nullptr;
    EXPECT_OK(api().Run(session_, options, &in, inputs, 1, &name, 1, &output));
    return Value(output);
  }
};
