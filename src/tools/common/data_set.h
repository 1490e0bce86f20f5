// One data set of a model: a folder with input_N.pb and output_N.pb.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compare_values.h"
#include "random_value.h"
#include "session.h"

namespace ortolan::tools {

struct DataSet {
  std::vector<Value> inputs;                       // by input of the session
  std::vector<bool> given;                         // ... whether the folder has it
  std::vector<std::pair<size_t, Value>> expected;  // output of the session, its value
};

// Files belong to the port that their name in the file says, else to the port in the same place.
DataSet read_data_set(const std::string& folder, const Session& session);

// What the folder's tol.txt says: relative, absolute, share that may miss.
std::optional<Tolerance> stated_tolerance(const std::string& folder);

// A value for each input, made up by the rules.
DataSet made_up_data(const Session& session, const RandomRules& rules);

// Values in the library, by input; null where an input is not given, and for optionals without content.
std::vector<Handle<OrtValue>> make_inputs(const Session& session, const OrtEnv* environment, const DataSet& data);
std::vector<const OrtValue*> pointers(const std::vector<Handle<OrtValue>>& values);

}  // namespace ortolan::tools
