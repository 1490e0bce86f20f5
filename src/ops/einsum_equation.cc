// Reads the equation of Einsum.
#include "ops/einsum_equation.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "base/error.h"

namespace ortolan::ops {
namespace {
using base::ErrorCode;
using base::fail;
using base::require;

/** Letters of a term, and where among them its ellipsis stands, if it has one. */
struct Term {
  std::string letters;
  size_t ellipsis = std::string::npos;
  bool has_ellipsis() const { return ellipsis != std::string::npos; }
};

Term parse_term(std::string_view text, std::string_view equation) {
  Term term;
  for (size_t i = 0; i < text.size(); ++i) {
    if (std::isalpha(static_cast<unsigned char>(text[i]))) {
      term.letters += text[i];
    } else {
      bool dots = text.substr(i, 3) == "..." && !term.has_ellipsis();
      require(dots, ErrorCode::kInvalidGraph, "equation '", equation, "' has '", text.substr(i, 3), "' in term '", text,
              "'; terms are letters and at most one ellipsis (...)");
      term.ellipsis = term.letters.size();
      i += 2;
    }
  }
  return term;
}

std::vector<EinsumLabel> labels_of(const Term& term, size_t ellipsis_rank, size_t total_rank) {
  std::vector<EinsumLabel> labels(term.letters.begin(), term.letters.end());
  if (!term.has_ellipsis()) return labels;
  std::vector<EinsumLabel> dots;
  for (size_t i = total_rank - ellipsis_rank; i < total_rank; ++i) {
    dots.push_back(kEllipsisLabel + static_cast<EinsumLabel>(i));
  }
  labels.insert(labels.begin() + static_cast<int64_t>(term.ellipsis), dots.begin(), dots.end());
  return labels;
}

std::vector<Term> parse_inputs(std::string_view text, std::string_view equation) {
  std::vector<Term> terms;
  for (size_t begin = 0;;) {
    size_t comma = text.find(',', begin);
    terms.push_back(parse_term(text.substr(begin, comma - begin), equation));
    if (comma == std::string_view::npos) return terms;
    begin = comma + 1;
  }
}

Term implicit_output(const std::vector<Term>& inputs) {
  Term output;
  std::string all;
  for (const Term& term : inputs) {
    all += term.letters;
    if (term.has_ellipsis()) output.ellipsis = 0;
  }
  std::sort(all.begin(), all.end());
  for (char letter : all) {
    if (std::count(all.begin(), all.end(), letter) == 1) output.letters += letter;
  }
  return output;
}

void check_output(const EinsumTerms& terms, std::string_view equation) {
  for (size_t i = 0; i < terms.output.size(); ++i) {
    EinsumLabel label = terms.output[i];
    bool known = label >= kEllipsisLabel;
    for (const auto& input : terms.inputs) known |= std::find(input.begin(), input.end(), label) != input.end();
    bool repeated = std::find(terms.output.begin(), terms.output.begin() + static_cast<int64_t>(i), label) !=
                    terms.output.begin() + static_cast<int64_t>(i);
    require(known && !repeated, ErrorCode::kInvalidGraph, "equation '", equation, "' has '", static_cast<char>(label),
            known ? "' twice in its output" : "' in its output only");
  }
}

}  // namespace

EinsumTerms einsum_terms(std::string_view equation, std::span<const size_t> ranks) {
  std::string text;
  for (char c : equation) {
    if (!std::isspace(static_cast<unsigned char>(c))) text += c;
  }
  size_t arrow = text.find("->");
  std::vector<Term> inputs = parse_inputs(std::string_view(text).substr(0, arrow), equation);
  require(inputs.size() == ranks.size(), ErrorCode::kInvalidGraph, "equation '", equation, "' has ", inputs.size(),
          " terms, but the node has ", ranks.size(), " inputs");
  size_t ellipsis_rank = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    size_t letters = inputs[i].letters.size();
    bool fits = inputs[i].has_ellipsis() ? letters <= ranks[i] : letters == ranks[i];
    require(fits, ErrorCode::kInvalidGraph, "equation '", equation, "' has ", letters, " letters for input ", i,
            ", which has rank ", ranks[i]);
    if (inputs[i].has_ellipsis()) ellipsis_rank = std::max(ellipsis_rank, ranks[i] - letters);
  }
  EinsumTerms terms;
  for (size_t i = 0; i < inputs.size(); ++i) {
    terms.inputs.push_back(labels_of(inputs[i], ranks[i] - inputs[i].letters.size(), ellipsis_rank));
  }
  Term output = arrow == std::string::npos ? implicit_output(inputs)
                                           : parse_term(std::string_view(text).substr(arrow + 2), equation);
  terms.output = labels_of(output, ellipsis_rank, ellipsis_rank);
  check_output(terms, equation);
  return terms;
}

}  // namespace ortolan::ops
