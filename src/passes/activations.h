// Activations as nodes: which nodes are one, and how attributes ortolan.activation and ortolan.activation_params say
// it.
#pragma once

#include "passes/edit.h"

namespace ortolan::passes {

/** A function of one element. */
struct Activation {
  std::string name;
  std::vector<float> parameters;
  bool epilogue = true;  // products and convolutions take it
};

/** What the node applies to each element of its first input; nothing where it is no such node. */
std::optional<Activation> activation_of(const Node& node);

}  // namespace ortolan::passes
