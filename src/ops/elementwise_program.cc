// The attributes that hold a chain's program: lists with an entry, or two, for each step.
#include "ops/elementwise_program.h"

#include <algorithm>

namespace ortolan::ops {
namespace {

constexpr const char* kOps = "ops";
constexpr const char* kNodes = "nodes";
constexpr const char* kOperands = "operands";
constexpr const char* kParameters = "parameters";
constexpr const char* kParameterCounts = "parameter_counts";

void require_length(size_t length, size_t wanted, const char* name) {
  require(length == wanted, ErrorCode::kInvalidGraph, "attribute '", name, "' has ", length, " entries, but ", wanted,
          " are needed");
}

/** Takes the step's parameters from the front of `rest`. */
std::vector<float> take_parameters(std::span<const float>& rest, int64_t count) {
  require(count >= 0 && count <= static_cast<int64_t>(rest.size()), ErrorCode::kInvalidGraph, "attribute '",
          kParameterCounts, "' holds ", count, ", but ", rest.size(), " parameters are left");
  std::vector<float> taken(rest.begin(), rest.begin() + count);
  rest = rest.subspan(static_cast<size_t>(count));
  return taken;
}

void check_operands(const ElementwiseProgram& program, size_t inputs) {
  std::vector<bool> used(program.size(), false);
  auto first = static_cast<int64_t>(inputs);
  for (size_t i = 0; i < program.size(); ++i) {
    const ElementwiseStep& step = program[i];
    int64_t end = first + static_cast<int64_t>(i);
    bool fits = step.a >= 0 && step.a < end && step.b >= ElementwiseStep::kNone && step.b < end;
    require(fits, ErrorCode::kInvalidGraph, "step ", i, " has the operands ", step.a, " and ", step.b,
            "; they must be below ", end);
    if (step.a >= first) used[static_cast<size_t>(step.a - first)] = true;
    if (step.b >= first) used[static_cast<size_t>(step.b - first)] = true;
  }
  auto unused = std::ranges::find(used, false) - used.begin();
  require(unused + 1 == static_cast<ptrdiff_t>(used.size()), ErrorCode::kInvalidGraph,
          "nothing uses the result of step ", unused);
}

}  // namespace

std::string ElementwiseStep::label() const { return join("node '", node, "' (", op, ")"); }

void write_program(const ElementwiseProgram& program, Node& node) {
  std::vector<std::string> ops, nodes;
  std::vector<int64_t> operands, counts;
  std::vector<float> parameters;
  for (const ElementwiseStep& step : program) {
    ops.push_back(step.op);
    nodes.push_back(step.node);
    operands.insert(operands.end(), {step.a, step.b});
    counts.push_back(static_cast<int64_t>(step.parameters.size()));
    parameters.insert(parameters.end(), step.parameters.begin(), step.parameters.end());
  }
  node.set_attribute(kOps, std::move(ops));
  node.set_attribute(kNodes, std::move(nodes));
  node.set_attribute(kOperands, std::move(operands));
  node.set_attribute(kParameterCounts, std::move(counts));
  node.set_attribute(kParameters, std::move(parameters));
}

ElementwiseProgram read_program(const Node& node) {
  const auto &ops = node.strings(kOps), &nodes = node.strings(kNodes);
  const auto &operands = node.ints(kOperands), &counts = node.ints(kParameterCounts);
  std::span<const float> parameters = node.floats(kParameters);
  require(!ops.empty(), ErrorCode::kInvalidGraph, "attribute '", kOps, "' is empty; it names the steps");
  require_length(nodes.size(), ops.size(), kNodes);
  require_length(operands.size(), 2 * ops.size(), kOperands);
  require_length(counts.size(), ops.size(), kParameterCounts);
  ElementwiseProgram program;
  for (size_t i = 0; i < ops.size(); ++i) {
    program.push_back({ops[i], nodes[i], take_parameters(parameters, counts[i]), operands[2 * i], operands[2 * i + 1]});
  }
  check_operands(program, node.inputs().size());
  return program;
}

}  // namespace ortolan::ops
