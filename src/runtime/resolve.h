// Making a freshly read model complete: schemas found, Constant nodes turned to initializers, types and shapes
// inferred.
#pragma once

#include "graph/graph.h"
#include "ops/infer_context.h"

namespace ortolan::runtime {
using namespace graph;

/** Finds schemas and infers types for the whole model, subgraphs included. Sorts the graphs. Throws where the model can
    never run. Shapes that the file states for inner values are not trusted: only inferred ones are kept. */
void resolve_model(Model& model, std::span<const ops::SchemaRow* const> custom);

/** Infers again after a rewrite. */
void infer_types(Graph& graph);

/** What a value that is at hand is, as a type with a concrete shape. */
TypeInfo type_of(const Value& value);

/** The elements of a fixed constant that a shape rule may read; NULL also for large unaligned weights and those that
    only a kernel keeps, which no rule reads. */
const Tensor* known_elements(const ValueInfo& value);

/** Prepares the question that a node's rule is asked at load time. */
ops::InferInput infer_input(const ValueInfo* value);

}  // namespace ortolan::runtime
