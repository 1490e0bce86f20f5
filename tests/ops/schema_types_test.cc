// What schema rows say of input types, against the specification's signatures: a kernel relies on it that inputs which
// must have one type have it.
#include <algorithm>
#include <bit>
#include <map>
#include <set>

#include "hostile_draw.h"
#include "ops/input_types.h"
#include "ops/signatures.h"

namespace ortolan::test {
namespace {

/** Operators whose kernels take each input by the type it has. */
constexpr std::string_view kLenient[] = {
    "BatchNormalization", "GridSample", "QLinearMatMul", "QuantizeLinear", "STFT", "Split", "Tile"};
/** Operators with inputs of any type, and those whose rows have no place for all and whose kernels check the type. */
constexpr std::string_view kAnyType[] = {"Loop", "Scan", "QLinearConv", "QLinearMatMul"};

bool of_tensors(const ops::TypeParameter& parameter) {
  return std::ranges::all_of(parameter.types,
                             [](const char* type) { return std::string_view(type).starts_with("tensor("); });
}

/** What is wrong with the row at that version, a line each. */
std::set<std::string> gaps(const ops::SchemaRow& row, int version) {
  std::set<std::string> found;
  const ops::OperatorSignature* signature = ops::find_signature(row.domain, row.name, version);
  if (signature == nullptr) return found;
  std::map<int, char> variables;
  for (size_t i = 0; i < signature->inputs.size() && i < row.inputs.max; ++i) {
    int parameter = signature->inputs[i].parameter;
    const ops::InputTypes* limit = ops::limit_of(row, i);
    if (parameter >= 0 && !of_tensors(signature->parameters[static_cast<size_t>(parameter)])) continue;
    if (limit == nullptr) {
      if (std::ranges::count(kAnyType, row.name)) continue;
      found.insert(join(row.domain, ":", row.name, " input ", i, " has no types"));
      continue;
    }
    if (parameter < 0 || signature->parameters[static_cast<size_t>(parameter)].inputs.size() < 2) continue;
    if (std::has_single_bit(limit->types.bits) || std::ranges::count(kLenient, row.name)) continue;
    auto [known, first] = variables.try_emplace(parameter, limit->variable);
    if (known->second != limit->variable || limit->variable == 0) {
      found.insert(join(row.domain, ":", row.name, " input ", i, " has the variable ",
                        limit->variable ? limit->variable : '0', ", an earlier one of its kind ",
                        known->second ? known->second : '0'));
    }
  }
  return found;
}

TEST(SchemaRows, BindTypesAsTheSpecificationDoes) {
  std::set<std::string> found;
  size_t checked = 0;
  for (const auto& rows : all_operators()) {
    for (const ops::SchemaRow* row : rows) {
      if (!std::string_view(row->domain).starts_with("ai.onnx") && row->domain[0] != '\0') continue;
      for (int version = row->since; version <= std::min(row->until, 28); ++version, ++checked) {
        found.merge(gaps(*row, version));
      }
    }
  }
  EXPECT_GT(checked, 1000u);
  for (const std::string& gap : found) ADD_FAILURE() << gap;
}

}  // namespace
}  // namespace ortolan::test
