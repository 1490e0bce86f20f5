// Small models of different kinds of inputs and outputs, for targets whose input is not the model.
#pragma once

#include <string>
#include <vector>

namespace ortolan::fuzz {

/** Bytes of models: of floats [N, 2] with weights, of strings, of a sequence, and of a loop. */
const std::vector<std::string>& small_models();

}  // namespace ortolan::fuzz
