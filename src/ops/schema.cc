// Finding a node's schema and checking the node against it.
#include "ops/schema.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <vector>

#include "ops/input_types.h"

namespace ortolan::ops {
namespace {

using RowsByName = std::unordered_map<std::string, std::vector<const SchemaRow*>>;

std::string key_of(std::string_view domain, std::string_view name) { return join(domain, ":", name); }

const RowsByName& rows_by_name() {
  static const RowsByName& rows = *[] {
    auto* map = new RowsByName;
    for (const SchemaTable* table : all_schema_tables()) {
      for (size_t i = 0; i < table->count; ++i) {
        const SchemaRow& row = table->rows[i];
        (*map)[key_of(row.domain, row.name)].push_back(&row);
      }
    }
    return map;
  }();
  return rows;
}

const std::vector<const SchemaRow*>* find_rows(std::string_view domain, std::string_view name) {
  auto found = rows_by_name().find(key_of(domain, name));
  return found == rows_by_name().end() ? nullptr : &found->second;
}

std::string_view domain_name(const std::string& domain) {
  return domain.empty() ? std::string_view("ai.onnx") : std::string_view(domain);
}

[[noreturn]] void fail_unknown(const Node& node) {
  const auto* rows = find_rows(node.domain, node.op_type);
  if (rows == nullptr) {
    fail(ErrorCode::kNotImplemented, node.label(), ": operator '", node.op_type, "' of domain '",
         domain_name(node.domain),
         "' is unknown; check the spelling, or register a custom operator of that name in the session options");
  }
  std::string ranges;
  for (const SchemaRow* row : *rows) {
    base::append(ranges, join(ranges.empty() ? "" : ", ", row->since, row->until == kLatest ? " and later" : ""));
    if (row->until != kLatest) base::append(ranges, join(" to ", row->until));
  }
  fail(ErrorCode::kNotImplemented, node.label(), ": operator '", node.op_type, "' is not defined in opset ", node.opset,
       " of domain '", domain_name(node.domain), "', but in ", ranges, "; convert the model to one of these");
}

void check_count(const Node& node, size_t count, Arity arity, const char* what) {
  bool within = arity.max == kVariadic || count <= arity.max;
  if (count >= arity.min && within) return;
  std::string expected = join(arity.min);
  if (arity.max == kVariadic) {
    expected += " or more";
  } else if (arity.max != arity.min) {
    base::append(expected, join(" to ", arity.max));
  }
  fail(ErrorCode::kInvalidGraph, node.label(), ": has ", count, " ", what, ", but '", node.op_type, "' of opset ",
       node.opset, " takes ", expected);
}

size_t count_without_trailing_blanks(const std::vector<ValueInfo*>& values) {
  size_t count = values.size();
  while (count > 0 && values[count - 1] == nullptr) --count;
  return count;
}

/** Blanks at the end count towards the two or more inputs that operators with any number of them begin with: those may
    be left out, as a Loop's condition. */
size_t count_of_inputs(const Node& node) {
  size_t count = count_without_trailing_blanks(node.inputs());
  Arity arity = node.schema->inputs;
  bool may_be_blank = arity.max == kVariadic && arity.min > 1;
  return may_be_blank && count < arity.min ? std::min<size_t>(node.inputs().size(), arity.min) : count;
}

void check_required_inputs(const Node& node) {
  for (size_t i = 0; i < node.schema->inputs.min; ++i) {
    require(node.input(i) != nullptr || node.schema->inputs.max == kVariadic, ErrorCode::kInvalidGraph, node.label(),
            ": required input ", i, " is left out; connect it");
  }
}

bool types_fit(const Node& node, const SchemaRow& row) {
  for (const InputTypes& limit : row.types) {
    if (limit.types.empty()) break;
    const ValueInfo* input = limit.index == kTheRest ? nullptr : node.input(limit.index);
    if (input && input->type.is_tensor() && input->type.element != ElementType::kUndefined &&
        !limit.types.contains(input->type.element)) {
      return false;
    }
  }
  return true;
}

const SchemaRow* find_custom(const Node& node, std::span<const SchemaRow* const> rows) {
  const SchemaRow* first = nullptr;
  for (const SchemaRow* row : rows) {
    if (row->name != node.op_type || row->domain != node.domain) continue;
    if (node.opset < row->since || node.opset > row->until) continue;
    if (types_fit(node, *row)) return row;
    if (first == nullptr) first = row;
  }
  return first;
}

/** Checks one input's type; `bound` holds the type that each type variable took so far. */
void check_input(const Node& node, size_t i, const InputTypes& limit, ElementType (&bound)[128]) {
  const ValueInfo* input = node.input(i);
  if (input == nullptr || !input->type.is_tensor() || input->type.element == ElementType::kUndefined) return;
  ElementType type = input->type.element;
  require(limit.types.contains(type), ErrorCode::kInvalidGraph, node.label(), ": input ", i, " '", input->name, "' is ",
          name_of(type), ", but '", node.op_type, "' of opset ", node.opset, " takes ", limit.types);
  if (limit.variable == 0) return;
  ElementType& first = bound[static_cast<unsigned char>(limit.variable) & 127];
  if (first == ElementType::kUndefined) first = type;
  require(first == type, ErrorCode::kInvalidGraph, node.label(), ": input ", i, " '", input->name, "' is ",
          name_of(type), ", but an earlier input of the same kind is ", name_of(first), "; cast one of them");
}

}  // namespace

const SchemaRow* find_schema(std::string_view domain, std::string_view name, int version) {
  const auto* rows = find_rows(domain, name);
  if (rows == nullptr) return nullptr;
  for (const SchemaRow* row : *rows) {
    if (version >= row->since && version <= row->until) return row;
  }
  return nullptr;
}

const InputTypes* limit_of(const SchemaRow& row, size_t i) {
  const InputTypes* rest = nullptr;
  for (const InputTypes& limit : row.types) {
    if (limit.types.empty()) break;
    if (limit.index == kTheRest) {
      rest = &limit;
    } else if (static_cast<size_t>(limit.index) == i) {
      return &limit;
    }
  }
  return rest;
}

void resolve_schema(Node& node, std::span<const SchemaRow* const> custom) {
  node.schema = find_custom(node, custom);
  if (node.schema == nullptr) node.schema = find_schema(node.domain, node.op_type, node.opset);
  if (node.schema == nullptr) fail_unknown(node);
  check_count(node, count_of_inputs(node), node.schema->inputs, "inputs");
  check_count(node, count_without_trailing_blanks(node.outputs()), node.schema->outputs, "outputs");
  check_required_inputs(node);
}

void check_input_types(const Node& node) {
  ElementType bound[128] = {};
  for (size_t i = 0; i < node.inputs().size(); ++i) {
    if (const InputTypes* limit = limit_of(*node.schema, i)) check_input(node, i, *limit, bound);
  }
}

}  // namespace ortolan::ops
