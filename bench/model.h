// What benchmarks run: a model with its sizes, inputs for it, and a library with its options.
#pragma once

#include <string>

#include "common/data_set.h"
#include "common/random_value.h"
#include "common/session.h"

namespace ortolan::bench {

struct Model {
  std::string label;
  std::string path;
  std::string data_folder;  // a test data set for the inputs; empty: made up by the rules
  tools::RandomRules rules;
};

// A library, and which of its providers is asked first: "" for its CPU.
struct Side {
  std::string library, provider;
};

// The model of an argument FILE, FOLDER or either with @name=size,... for symbolic dimensions, which are added to the
// rules. Throws ToolError where there is no such file.
Model read_model(const std::string& argument, const tools::RandomRules& rules);

// The inputs: from the data folder, or made up; sizes and bounds that the rules lack come from the metadata.
tools::DataSet make_data(const tools::Session& session, const Model& model);

// The options that each library gets alike. No worker looks for work between runs.
tools::SessionConfig session_config(const Side& side, int threads, int level);

}  // namespace ortolan::bench
