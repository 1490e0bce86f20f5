// Which operators there are, and how a node of each is judged and lowered. A family of operators is a file of ops/.
#pragma once

#include <span>
#include <string>

#include "gpu/core/lowering.h"

namespace ortolan::gpu {

/** A node before it is taken: what is known of its tensors then. Nothing is known of inputs and outputs that it has
 * not.
 */
class Candidate {
 public:
  Candidate(const Graph& graph, const Node& node, const DeviceTraits& traits)
      : graph_(graph), node_(node), traits_(traits) {}
  const Node& node() const { return node_; }
  const DeviceTraits& traits() const { return traits_; }
  bool has(size_t i) const { return node_.has_input(i); }
  ElementType type(size_t i) const { return value(i).type; }
  ElementType output_type(size_t i) const {
    return node_.has_output(i) ? graph_.values[node_.outputs[i]].type : ElementType::kUndefined;
  }
  /** -1 where it is not known. */
  int rank(size_t i) const { return value(i).shape ? static_cast<int>(value(i).shape->size()) : -1; }
  const std::optional<Shape>& shape(size_t i) const { return value(i).shape; }
  bool is_constant(size_t i) const { return value(i).constant.has_value(); }
  /** The elements of a constant; NULL where the input is none. */
  const HostBytes* constant(size_t i) const { return is_constant(i) ? &*value(i).constant : nullptr; }

 private:
  const Value& value(size_t i) const {
    static const Value none;
    return has(i) ? graph_.values[node_.inputs[i]] : none;
  }

  const Graph& graph_;
  const Node& node_;
  const DeviceTraits& traits_;
};

struct Operator {
  std::string_view domain;  // "" is ONNX's own
  std::string_view name;
  int since, until;  // the versions of the schema that it follows; kNewest: all that come
  /** Why the node is not taken, for people: "Y is double; float and float16 are supported". Empty: it is taken. */
  std::string (*refuse)(const Candidate& candidate);
  /** Makes launches of the node; says the shape of each output. Throws kInvalid. */
  void (*lower)(Lowering& lowering);
  /** Whether lower asks for the elements of input i, as of a target shape. NULL: never. */
  bool (*knows)(const Node& node, size_t i) = nullptr;
  /** Whether launches may see parts of input i, or of output i, where it is too long for one. NULL: of none. */
  bool (*comes_in_parts)(const Candidate& candidate, size_t i, bool is_output) = nullptr;
};

inline constexpr int kNewest = 1 << 30;

/** The operator of a node; NULL where there is none. */
const Operator* find_operator(const Node& node);

/** Lowers a node as its operator does; fails where there is none. */
void lower_node(Lowering lowering);
/** Lowers the parts of the node, one after the other. */
void lower_parts(const Lowering& lowering);

/** All operators, a span for each file of ops/. */
std::span<const std::span<const Operator>> all_operators();

/** A refusal that many operators share; the empty string where input i has one of the types. */
std::string refuse_unless(const Candidate& candidate, size_t i, std::initializer_list<ElementType> types);

}  // namespace ortolan::gpu
