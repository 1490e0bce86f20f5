// What a shape rule sees of its node, and how it answers.
#pragma once

#include <span>
#include <vector>

#include "base/function_ref.h"
#include "ops/schema.h"

namespace ortolan::ops {

/** What is known of one input. */
struct InferInput {
  bool present = false;
  TypeInfo type;                       // kind kNone when unknown
  const Tensor* value = nullptr;       // its elements, when constant or (at run time) on the CPU
  const DimVector* content = nullptr;  // for integer tensors of rank 0 or 1: its elements as dimensions, where known
};

/** What the rule said of one output. */
struct InferOutput {
  bool wanted = false;
  TypeInfo type;
  std::optional<DimVector> content;
};

/** Runs inference on a subgraph attribute with these input types; gives the types of its outputs. */
using InferSubgraph = FunctionRef<std::vector<TypeInfo>(Graph& subgraph, std::span<const TypeInfo> inputs)>;

/** One call of a shape rule. Rules throw Error for what can never be right; what they cannot know they leave unset. */
class InferContext {
 public:
  InferContext(const Node& node, std::span<const InferInput> inputs, std::span<InferOutput> outputs,
               const InferSubgraph* infer_subgraph = nullptr)
      : node_(node), inputs_(inputs), outputs_(outputs), infer_subgraph_(infer_subgraph) {}

  const Node& node() const { return node_; }
  int opset() const { return node_.opset; }
  size_t input_count() const { return inputs_.size(); }
  size_t output_count() const { return outputs_.size(); }
  bool has_input(size_t i) const { return i < inputs_.size() && inputs_[i].present; }
  bool has_output(size_t i) const { return i < outputs_.size() && outputs_[i].wanted; }

  /** Type of input i; unknown (kind kNone) when it is missing. */
  const TypeInfo& input_type(size_t i) const;
  /** Element type of tensor input i, kUndefined when unknown. */
  ElementType element(size_t i) const { return input_type(i).element; }
  /** Shape of tensor input i; without rank when unknown or missing. */
  const SymbolicShape& shape(size_t i) const { return input_type(i).shape; }
  bool has_shape(size_t i) const { return shape(i).has_rank(); }
  /** The elements of input i, NULL when they are not known. */
  const Tensor* value(size_t i) const { return has_input(i) ? inputs_[i].value : nullptr; }
  /** The elements of an int32 or int64 tensor input as dimensions; each may be unknown. Nothing when even their number
      is unknown. Negative elements make the whole unknown: rules that expect them (axes, pads) use int64s(). */
  std::optional<DimVector> dims(size_t i) const;
  /** The elements of an int32 or int64 tensor input, when all are known. */
  std::optional<std::vector<int64_t>> int64s(size_t i) const;

  void set_type(size_t output, TypeInfo type);
  /** A tensor of that element type and shape. Does nothing when the output is not wanted or does not exist. */
  void set_output(size_t output, ElementType element, SymbolicShape shape);
  /** As the input: type and shape. */
  void set_output_like(size_t output, size_t input);
  /** States what an integer tensor output of rank 0 or 1 holds. */
  void set_content(size_t output, DimVector content);
  std::vector<TypeInfo> infer_subgraph(std::string_view attribute, std::span<const TypeInfo> inputs) const;

  /** Throws kInvalidGraph unless the rank of input i is unknown or within [min, max]. */
  void require_rank(size_t i, size_t min, size_t max) const;

 private:
  const Node& node_;
  std::span<const InferInput> inputs_;
  std::span<InferOutput> outputs_;
  const InferSubgraph* infer_subgraph_;
};

/** Runs the node's rule, adding "node 'x' (Op)" to errors. */
void infer(InferContext& context);

}  // namespace ortolan::ops
