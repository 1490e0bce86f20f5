// Nodes of every operator that packs its constant inputs, or reads them in another way than as elements.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace ortolan::across {
using namespace graph;

/** One input of a node. */
struct CaseInput {
  enum class Kind { kLeftOut, kGiven, kConstant };
  Kind kind = Kind::kLeftOut;
  ElementType type = ElementType::kFloat;
  Shape shape = {};
  double low = -1, high = 1;  // of its random values
};

struct OperatorCase {
  std::string op, domain;
  std::vector<CaseInput> inputs;
  std::vector<Attribute> attributes = {};
  std::string label() const;
};

/** Weights that fit several cases have one shape, so that nodes of them can share them. */
const std::vector<OperatorCase>& operator_cases();

/** Random values for an input: equal ones for inputs of one type, shape and range in the same variant. */
Tensor values_for(const CaseInput& input, uint32_t variant);

}  // namespace ortolan::across
