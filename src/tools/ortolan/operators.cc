// ortolan operators: what the library can compute, with versions, inputs, outputs and types.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <set>

#include "commands.h"
#include "common/files.h"
#include "common/library.h"
#include "common/options.h"
#include "common/terminal.h"
#include "operator_types.h"
#include "ortolan.h"

namespace ortolan::tools {
namespace {

std::string lower(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? char(c + 32) : c;
  return text;
}

/** An operator in versions between which nothing changes that is printed. */
struct Row {
  const OrtOperatorForm* form;
  std::string versions, inputs, outputs, types;

  bool same_but_versions(const Row& other) const {
    return std::string_view(form->domain) == other.form->domain && std::string_view(form->name) == other.form->name &&
           std::string_view(form->provider) == other.form->provider && form->deprecated == other.form->deprecated &&
           inputs == other.inputs && outputs == other.outputs && types == other.types;
  }
};

/** "7", "7-12", "13+". */
std::string versions_of(const OrtOperatorForm& form) {
  if (form.until_version == 0) return join(form.since_version, '+');
  if (form.until_version == form.since_version) return join(form.since_version);
  return join(form.since_version, '-', form.until_version);
}

/** "X, [bias], rest..." where brackets are around what may be left out. */
std::string names_of(const OrtOperatorSide& side) {
  std::string text;
  for (size_t i = 0; i < side.count; ++i) {
    std::string name = side.values[i].name;
    if (i + 1 == side.count && side.max > side.count) name += "...";
    if (*side.values[i].parameter) name += join(":", side.values[i].parameter);
    text += (i ? ", " : "") + (i < side.min ? name : "[" + name + "]");
  }
  return text;
}

/** "T: float, double; size: int64": parameters first met first, then values of a type of their own. */
std::string types_of(const OrtOperatorForm& form, bool brief) {
  std::string text;
  std::set<std::string> told;
  for (const OrtOperatorSide* side : {&form.inputs, &form.outputs}) {
    for (size_t i = 0; i < side->count; ++i) {
      const OrtOperatorValue& value = side->values[i];
      std::string subject = *value.parameter ? value.parameter : value.name;
      if (!*value.types || !told.insert(subject).second) continue;
      text += (text.empty() ? "" : "; ") + subject + ": " + type_list(value.types, brief);
    }
  }
  return text;
}

std::vector<Row> make_rows(const OrtOperatorForm* forms, size_t count, bool brief,
                           const std::function<bool(const OrtOperatorForm&)>& wanted) {
  std::vector<Row> rows;
  for (size_t i = 0; i < count; ++i) {
    if (!wanted(forms[i])) continue;
    Row row{&forms[i], versions_of(forms[i]), names_of(forms[i].inputs), names_of(forms[i].outputs),
            types_of(forms[i], brief)};
    if (!rows.empty() && rows.back().same_but_versions(row)) {
      rows.back().versions += ", " + row.versions;
    } else {
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

/** "CPU"; what is deprecated says so. */
std::string provider_of(const OrtOperatorForm& form) {
  std::string name = form.provider;
  size_t end = name.find("ExecutionProvider");
  name = name.empty() ? "none" : name.substr(0, end);
  return form.deprecated ? name + ", deprecated" : name;
}

void print_text(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    std::printf("%s.%s  %s  (%s)\n  in   %s\n  out  %s\n", row.form->domain, row.form->name, row.versions.c_str(),
                provider_of(*row.form).c_str(), row.inputs.c_str(), row.outputs.c_str());
    for (const std::string& part : split(row.types, ';')) std::printf("  %s\n", trimmed(part).c_str());
  }
}

void print_tsv(const std::vector<Row>& rows) {
  std::puts("domain\toperator\tversions\tinputs\toutputs\ttypes\tprovider");
  for (const Row& row : rows) {
    std::printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", row.form->domain, row.form->name, row.versions.c_str(),
                row.inputs.c_str(), row.outputs.c_str(), row.types.c_str(), provider_of(*row.form).c_str());
  }
}

size_t operators_in(const std::vector<Row>& rows, const std::string& domain) {
  std::set<std::string> names;
  for (const Row& row : rows) {
    if (row.form->domain == domain) names.insert(row.form->name);
  }
  return names.size();
}

void print_markdown(const std::vector<Row>& rows) {
  std::puts(
      "# Operators\n\n"
      "Written by `./dev operators` from the library's own tables; the test `operators_page` fails when it is stale. "
      "A\n"
      "row holds for the versions of the domain that it lists: `7-12` is 7 to 12, `13+` is 13 and all later ones. "
      "Inputs\n"
      "and outputs are `name:type parameter`; `[...]` may be left out, and `name...` stands for any number. Types are "
      "those\n"
      "that run: `int8-64` is int8, int16, int32 and int64, likewise `uint8-64`; `float8` is all four of its kinds.");
  std::string domain;
  for (const Row& row : rows) {
    if (row.form->domain != domain) {
      domain = row.form->domain;
      std::printf("\n## %s\n\n%zu operators.\n\n", domain.c_str(), operators_in(rows, domain));
      std::puts("| operator | versions | inputs | outputs | types | provider |\n|---|---|---|---|---|---|");
    }
    std::printf("| %s | %s | %s | %s | %s | %s |\n", row.form->name, row.versions.c_str(), row.inputs.c_str(),
                row.outputs.c_str(), row.types.c_str(), provider_of(*row.form).c_str());
  }
}

/** Whether the form is of the domain, and its name is one of those; empty means any. */
bool is_wanted(const OrtOperatorForm& form, const std::string& domain, const std::vector<std::string>& names) {
  if (!domain.empty() && domain != form.domain) return false;
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return lower(form.name).find(lower(name)) != std::string::npos;
         });
}

}  // namespace

int operators_command(int argc, char** argv) {
  std::string format = "text", domain, library_path;
  std::vector<std::string> names =
      parse(argc, argv,
            {"ortolan operators [OPTION...] [NAME...]",
             "Lists the library's operators, or those whose name contains one of the given, with versions and types.",
             {{'f', "format", "FORMAT", "text (default), tsv or markdown", into(format)},
              {'d', "domain", "DOMAIN", "this domain only, as ai.onnx or com.microsoft", into(domain)},
              {0, "library", "PATH", "ask this library instead of the linked one", into(library_path)}}});
  if (format != "text" && format != "tsv" && format != "markdown") {
    fail_usage("format '", format, "' is unknown; it must be text, tsv or markdown");
  }
  Library library = choose_library(library_path);
  auto catalog = reinterpret_cast<decltype(&OrtOperatorCatalog)>(library.symbol("OrtOperatorCatalog"));
  if (!catalog) fail("this library (", library.build, ") does not list its operators: it has no OrtOperatorCatalog");
  size_t count = 0;
  const OrtOperatorForm* forms = catalog(&count);
  std::vector<Row> rows = make_rows(forms, count, format != "tsv",
                                    [&](const OrtOperatorForm& form) { return is_wanted(form, domain, names); });
  if (rows.empty()) fail("no operator of that name or domain is known; without arguments all are listed");
  format == "tsv" ? print_tsv(rows) : format == "markdown" ? print_markdown(rows) : print_text(rows);
  return 0;
}

}  // namespace ortolan::tools
