// Operator schemas: one row for each range of versions in which an operator's signature and shape rule stay the same.
#pragma once

#include <climits>
#include <cstdint>
#include <span>
#include <string_view>

#include "graph/graph.h"

namespace ortolan::ops {
using namespace graph;

class InferContext;

/** Sets types and shapes of a node's outputs from what is known of its inputs; see infer_context.h. The same rule runs
    when a model is loaded (symbolic dimensions) and, for shapes not known then, at each new input shape of a run. */
using ShapeRule = void (*)(InferContext&);

inline constexpr int kLatest = INT_MAX;
inline constexpr uint16_t kVariadic = 0xffff;

/** How many inputs or outputs a node may have. */
struct Arity {
  uint16_t min;
  uint16_t max;
  constexpr Arity(uint16_t count) : min(count), max(count) {}
  constexpr Arity(uint16_t min, uint16_t max) : min(min), max(max) {}
};

/** The element types that input `index` may have; kTheRest names all inputs that no entry lists. Inputs with
    the same `variable` (as 'T' in the specification) must agree; variable 0 stands for itself. Where the type is a
    sequence, optional or map, no limit is checked here. */
struct InputTypes {
  int8_t index;
  TypeSet types;
  char variable = 0;
};
inline constexpr int8_t kTheRest = 127;

/** What a row says beyond shapes. */
enum SchemaFlags : uint8_t {
  kPlain = 0,
  kNonDeterministic = 1,  // random numbers: neither folded nor merged
  kDeprecated = 2,
  kCustom = 4,        // a runtime::CustomOperator
  kStatedShapes = 8,  // the rule reads the shapes that the file states for inputs of its subgraphs
};

struct SchemaRow {
  const char* domain;  // "" for ai.onnx
  const char* name;
  int since;  // the first and the last opset in which the row is valid
  int until;
  Arity inputs;
  Arity outputs;
  ShapeRule rule;
  InputTypes types[9] = {};  // ends at an entry with an empty set
  uint8_t flags = kPlain;
};

/** The rows of one file; defined there as `extern const SchemaTable <domain>::<file>_rows`. */
struct SchemaTable {
  const SchemaRow* rows;
  size_t count;
  template <size_t N>
  constexpr SchemaTable(const SchemaRow (&array)[N]) : rows(array), count(N) {}
};

/** Every table, by the list that the build writes. */
std::span<const SchemaTable* const> all_schema_tables();

/** The row for `name` of `domain` at opset `version`, or NULL when that version does not define it. */
const SchemaRow* find_schema(std::string_view domain, std::string_view name, int version);
/** Finds the node's row, first among `custom`, and checks arity and input types; throws kInvalidGraph or
   kNotImplemented with the reason (unknown operator, opset too old or new, input count, type) and how to mend. Sets
   node.schema. */
void resolve_schema(Node& node, std::span<const SchemaRow* const> custom = {});
/** Checks the element types of known inputs against the row; throws kInvalidGraph. */
void check_input_types(const Node& node);

}  // namespace ortolan::ops
