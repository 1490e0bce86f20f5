// What a profile says of one execution of a node beside its time: the kernel, the work, types and shapes.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace ortolan::runtime {
using namespace graph;

class StepContext;

/** The arguments of a node's event. */
struct NodeReport {
  std::vector<std::pair<std::string, std::string>> args;
  std::vector<std::pair<std::string, std::string>> json_args;  // whose values are JSON
};

/** Of a step whose compute() has just returned: `kernel` (what ran), `isa` (the instruction set, where the provider
    says it), `flops` (where the operator counts them) and `bytes` as ops/work.h has them, the bytes of its constant
    inputs, other inputs and outputs, and all types and shapes. The last five are named as in ONNX Runtime's profiles.
 */
NodeReport report_of(const StepContext& context);

}  // namespace ortolan::runtime
