// The answers to a shape rule's questions.
#include "ops/infer_context.h"

#include <algorithm>

namespace ortolan::ops {
namespace {

constexpr size_t kMostContent = 64;  // longer integer tensors are not followed as dimensions
constexpr size_t kMostElements = 1024;

/** False for long tensors, which many nodes may share: a rule reads no more than belongs to its node. */
bool is_short(const Tensor& tensor, const InferContext& context) {
  return tensor.element_count() <= static_cast<int64_t>(std::max(kMostElements, context.output_count()));
}

}  // namespace

const TypeInfo& InferContext::input_type(size_t i) const {
  static const TypeInfo* const kUnknown = new TypeInfo;
  return has_input(i) ? inputs_[i].type : *kUnknown;
}

std::optional<std::vector<int64_t>> InferContext::int64s(size_t i) const {
  if (const Tensor* tensor = value(i)) {
    return is_short(*tensor, *this) ? std::optional(to_int64s(*tensor)) : std::nullopt;
  }
  if (!has_input(i) || inputs_[i].content == nullptr) return std::nullopt;
  std::vector<int64_t> values;
  for (Dim dim : *inputs_[i].content) {
    if (!dim.known()) return std::nullopt;
    values.push_back(dim.value());
  }
  return values;
}

std::optional<DimVector> InferContext::dims(size_t i) const {
  if (!kIndexTypes.contains(element(i))) return std::nullopt;
  if (const Tensor* tensor = value(i)) {
    if (!is_short(*tensor, *this)) return std::nullopt;
    DimVector dims;
    for (int64_t value : to_int64s(*tensor)) {
      if (value < 0) return std::nullopt;
      dims.push_back(value);
    }
    return dims;
  }
  if (has_input(i) && inputs_[i].content != nullptr) return *inputs_[i].content;
  const SymbolicShape& known = shape(i);
  if (!known.has_rank() || known.rank() != 1 || !known[0].known()) return std::nullopt;
  if (known[0].value() > static_cast<int64_t>(kMostContent)) return std::nullopt;
  return DimVector(static_cast<size_t>(known[0].value()), Dim{});
}

void InferContext::set_type(size_t output, TypeInfo type) {
  if (!has_output(output)) return;
  require(type.shape.rank() <= static_cast<size_t>(kMaxRank), ErrorCode::kInvalidGraph, "output ", output,
          " would have rank ", type.shape.rank(), "; ranks up to ", kMaxRank, " are supported");
  outputs_[output].type = std::move(type);
}

void InferContext::set_output(size_t output, ElementType element, SymbolicShape shape) {
  set_type(output, TypeInfo::of_tensor(element, std::move(shape)));
}

void InferContext::set_output_like(size_t output, size_t input) {
  if (has_output(output) && has_input(input)) outputs_[output].type = inputs_[input].type;
}

void InferContext::set_content(size_t output, DimVector content) {
  if (has_output(output) && content.size() <= kMostContent) outputs_[output].content = std::move(content);
}

std::vector<TypeInfo> InferContext::infer_subgraph(std::string_view attribute, std::span<const TypeInfo> inputs) const {
  Graph& subgraph = node_.graph_of(attribute);
  if (infer_subgraph_ == nullptr) return std::vector<TypeInfo>(subgraph.outputs.size());
  return (*infer_subgraph_)(subgraph, inputs);
}

void InferContext::require_rank(size_t i, size_t min, size_t max) const {
  const SymbolicShape& known = shape(i);
  if (!known.has_rank() || (known.rank() >= min && known.rank() <= max)) return;
  std::string wanted = min == max ? join(min) : max == SIZE_MAX ? join(min, " or more") : join(min, " to ", max);
  fail(ErrorCode::kInvalidGraph, "input ", i, " has rank ", known.rank(), " (shape ", known, "), but it must be ",
       wanted);
}

void infer(InferContext& context) {
  try {
    context.node().schema->rule(context);
  } catch (const Error& error) {
    throw error.within(context.node().label());
  }
}

}  // namespace ortolan::ops
