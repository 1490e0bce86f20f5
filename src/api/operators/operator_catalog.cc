// OrtOperatorCatalog: the operators of the library as constant tables.
#include "runtime/kernels/operator_catalog.h"

#include <deque>

#include "api/guard.h"
#include "ortolan.h"

namespace ortolan::api {
namespace {

/** The catalog in the C interface's structs, with what they point to. */
class Catalog {
 public:
  Catalog() {
    std::vector<runtime::CatalogForm> forms = runtime::operator_catalog(cpu::all_kernel_tables());
    forms_.reserve(forms.size());
    for (const runtime::CatalogForm& form : forms) forms_.push_back(convert(form));
  }
  const std::vector<OrtOperatorForm>& forms() const { return forms_; }

 private:
  OrtOperatorForm convert(const runtime::CatalogForm& form) {
    const ops::SchemaRow& schema = *form.schema;
    OrtOperatorForm result{};
    result.domain = *schema.domain == '\0' ? "ai.onnx" : schema.domain;
    result.name = schema.name;
    result.provider = form.has_kernel ? "CPUExecutionProvider" : "";
    result.since_version = form.since;
    result.until_version = form.until == ops::kLatest ? 0 : form.until;
    result.deprecated = (schema.flags & ops::kDeprecated) != 0;
    result.inputs = convert(form.inputs, schema.inputs);
    result.outputs = convert(form.outputs, schema.outputs);
    return result;
  }

  OrtOperatorSide convert(const std::vector<runtime::CatalogValue>& values, ops::Arity arity) {
    std::vector<OrtOperatorValue>& list = lists_.emplace_back();
    for (const runtime::CatalogValue& value : values) {
      std::string types;
      for (const std::string& type : value.types) types += (types.empty() ? "" : "|") + type;
      list.push_back({keep(value.name), keep(value.parameter), keep(std::move(types))});
    }
    return {list.data(), list.size(), arity.min, arity.max == ops::kVariadic ? SIZE_MAX : arity.max};
  }

  const char* keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

  std::vector<OrtOperatorForm> forms_;
  std::deque<std::vector<OrtOperatorValue>> lists_;
  std::deque<std::string> texts_;
};

}  // namespace
}  // namespace ortolan::api

const OrtOperatorForm* ORT_API_CALL OrtOperatorCatalog(size_t* count) noexcept {
  return ortolan::api::guard_or<const OrtOperatorForm*>(nullptr, [&] {
    static const auto& catalog = *new ortolan::api::Catalog;
    *count = catalog.forms().size();
    return catalog.forms().data();
  });
}
