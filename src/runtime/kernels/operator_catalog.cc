// Putting schema rows, kernel rows and signatures together.
#include "runtime/kernels/operator_catalog.h"

#include <algorithm>
#include <map>
#include <set>

#include "ops/signatures.h"

namespace ortolan::runtime {
namespace {

using ops::OperatorSignature;
using ops::SchemaRow;
using Key = std::pair<std::string_view, std::string_view>;

/** Sets of types that values are limited to; nothing where there is no limit. */
using Limit = std::optional<TypeSet>;

Limit both(Limit a, Limit b) {
  if (!a || !b) return a ? a : b;
  return TypeSet::from_bits(a->bits & b->bits);
}

Limit schema_limit(const SchemaRow& row, size_t input) {
  size_t listed = 0;
  for (const ops::InputTypes& entry : row.types) {
    if (entry.types.empty()) break;
    bool rest = entry.index == ops::kTheRest;
    if (rest ? input >= listed : input == static_cast<size_t>(entry.index)) return entry.types;
    if (!rest) listed = std::max<size_t>(listed, entry.index + 1);
  }
  return std::nullopt;
}

Limit kernel_limit(const KernelRow& row, size_t place, bool output) {
  for (const TypeLimit& limit : row.limits) {
    if (limit.types.empty()) break;
    if (limit.output == output && static_cast<size_t>(limit.index) == place) return limit.types;
  }
  return std::nullopt;
}

/** What at least one of the kernels accepts. */
Limit kernel_limit(std::span<const KernelRow* const> kernels, size_t place, bool output) {
  TypeSet all;
  for (const KernelRow* row : kernels) {
    Limit limit = kernel_limit(*row, place, output);
    if (!limit) return std::nullopt;
    all = all | *limit;
  }
  return kernels.empty() ? Limit() : all;
}

/** The element type in "seq(tensor(int8))"; undefined in maps. */
ElementType element_in(std::string_view type) {
  size_t begin = type.rfind("tensor(");
  if (begin == std::string_view::npos) return ElementType::kUndefined;
  begin += 7;
  return element_type_called(type.substr(begin, type.find(')', begin) - begin));
}

void append_tensors(TypeSet set, std::vector<std::string>& types) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    auto type = static_cast<ElementType>(i);
    if (set.contains(type)) types.push_back(join("tensor(", name_of(type), ")"));
  }
}

/** The declared types within the limit; tensors beyond the declaration too, where the rows accept them. */
std::vector<std::string> accepted(std::span<const char* const> declared, Limit limit) {
  TypeSet tensors;
  std::vector<std::string> others;
  for (std::string_view type : declared) {
    ElementType element = element_in(type);
    if (type.starts_with("tensor(")) {
      tensors = tensors | element;
    } else if (!limit || element == ElementType::kUndefined || limit->contains(element)) {
      others.emplace_back(type);
    }
  }
  if (limit && (declared.empty() || !tensors.empty())) tensors = *limit;
  std::vector<std::string> types;
  append_tensors(tensors, types);
  types.insert(types.end(), others.begin(), others.end());
  return types;
}

/** One operator in versions in which all rows stay the same. */
class FormBuilder {
 public:
  FormBuilder(const SchemaRow& schema, const OperatorSignature* signature, std::span<const KernelRow* const> kernels)
      : schema_(schema), signature_(signature), kernels_(kernels) {}

  std::vector<CatalogValue> inputs() const {
    return signature_ ? values(signature_->inputs, false) : unnamed(schema_.inputs, "input", false);
  }
  std::vector<CatalogValue> outputs() const {
    return signature_ ? values(signature_->outputs, true) : unnamed(schema_.outputs, "output", true);
  }

 private:
  Limit limit_at(size_t place, bool output) const {
    return both(output ? Limit() : schema_limit(schema_, place), kernel_limit(kernels_, place, output));
  }

  Limit limit_of(const ops::TypeParameter& parameter) const {
    Limit limit;
    for (size_t i : parameter.inputs) limit = both(limit, limit_at(i, false));
    for (size_t i : parameter.outputs) limit = both(limit, limit_at(i, true));
    return limit;
  }

  std::vector<CatalogValue> values(const std::vector<ops::FormalValue>& formals, bool output) const {
    std::vector<CatalogValue> result;
    for (size_t i = 0; i < formals.size(); ++i) {
      const ops::FormalValue& formal = formals[i];
      if (formal.parameter < 0) {
        Limit limit = limit_at(i, output);
        result.push_back({formal.name, "", limit ? accepted({}, limit) : std::vector<std::string>()});
      } else {
        const ops::TypeParameter& parameter = signature_->parameters[formal.parameter];
        result.push_back({formal.name, parameter.name, accepted(parameter.types, limit_of(parameter))});
      }
    }
    return result;
  }

  std::vector<CatalogValue> unnamed(ops::Arity arity, const char* word, bool output) const {
    std::vector<CatalogValue> result;
    size_t count = arity.max == ops::kVariadic ? arity.min : arity.max;
    for (size_t i = 0; i < count; ++i) {
      Limit limit = limit_at(i, output);
      result.push_back({join(word, i), "", limit ? accepted({}, limit) : std::vector<std::string>()});
    }
    return result;
  }

  const SchemaRow& schema_;
  const OperatorSignature* signature_;
  std::span<const KernelRow* const> kernels_;
};

/** The rows of one operator, and its forms. */
struct Operator {
  std::vector<const SchemaRow*> schemas;
  std::vector<const KernelRow*> kernels;

  /** The versions at which something changes, within the schema row. */
  std::set<int> starts(const SchemaRow& schema) const {
    std::set<int> result{schema.since};
    auto add = [&](int version) {
      if (version > schema.since && version <= schema.until) result.insert(version);
    };
    for (const KernelRow* row : kernels) {
      add(row->since);
      if (row->until != kLatest) add(row->until + 1);
    }
    for (int version = schema.until; version > schema.since;) {
      const auto* signature = ops::find_signature(schema.domain, schema.name, version);
      if (signature == nullptr) break;
      add(signature->since);
      version = signature->since - 1;
    }
    return result;
  }

  void append_forms(const SchemaRow& schema, std::vector<CatalogForm>& forms) const {
    std::set<int> all = starts(schema);
    for (auto at = all.begin(); at != all.end(); ++at) {
      int until = std::next(at) == all.end() ? schema.until : *std::next(at) - 1;
      std::vector<const KernelRow*> fitting;
      std::copy_if(kernels.begin(), kernels.end(), std::back_inserter(fitting),
                   [&](const KernelRow* row) { return row->since <= *at && row->until >= until; });
      FormBuilder builder(schema, ops::find_signature(schema.domain, schema.name, *at), fitting);
      forms.push_back({&schema, *at, until, !fitting.empty(), builder.inputs(), builder.outputs()});
    }
  }
};

}  // namespace

std::vector<CatalogForm> operator_catalog(std::span<const KernelTable* const> kernels) {
  std::map<Key, Operator> operators;
  for (const ops::SchemaTable* table : ops::all_schema_tables()) {
    for (const SchemaRow& row : std::span(table->rows, table->count)) {
      operators[{row.domain, row.name}].schemas.push_back(&row);
    }
  }
  for (const KernelTable* table : kernels) {
    for (const KernelRow& row : std::span(table->rows, table->count)) {
      operators[{row.domain, row.name}].kernels.push_back(&row);
    }
  }
  std::vector<CatalogForm> forms;
  for (auto& [key, one] : operators) {
    std::ranges::sort(one.schemas, {}, &SchemaRow::since);
    for (const SchemaRow* schema : one.schemas) one.append_forms(*schema, forms);
  }
  return forms;
}

}  // namespace ortolan::runtime
