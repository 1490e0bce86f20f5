// The runner's report, for people and as JSON.
#include "report.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "common/files.h"
#include "common/terminal.h"

namespace ortolan::tools {
namespace {

constexpr size_t kShownReason = 400, kShownCause = 90;

// A failure's reason without the parts that are different in each case: paths, quoted names and numbers.
std::string cause(const std::string& reason) {
  std::string out;
  bool quoted = false;
  for (const std::string& word : split(reason, ' ')) {
    if (word.find('/') != std::string::npos) continue;
    for (char c : out.empty() ? word : ' ' + word) {
      bool digit = c >= '0' && c <= '9';
      if (c == '\'') quoted = !quoted;
      if ((quoted && c != '\'') || (digit && out.ends_with('#'))) continue;
      out += digit ? '#' : c;
    }
  }
  return out.substr(0, kShownCause);
}

std::string failing_cases(const std::vector<CaseResult>& results, bool verbose) {
  Table table({"case", "outcome", "reason"});
  for (const CaseResult& result : results) {
    if (verbose || is_failure(result.outcome)) {
      table.add({result.name, outcome_name(result.outcome), result.reason.substr(0, kShownReason)});
    }
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string causes(const std::vector<CaseResult>& results) {
  std::map<std::pair<Outcome, std::string>, int> counts;
  for (const CaseResult& result : results) {
    if (is_failure(result.outcome)) ++counts[{result.outcome, cause(result.reason)}];
  }
  std::vector<std::pair<int, std::pair<Outcome, std::string>>> rows;
  for (const auto& [key, count] : counts) rows.emplace_back(-count, key);
  std::sort(rows.begin(), rows.end());
  Table table({">cases", "outcome", "cause"});
  for (const auto& [count, key] : rows) table.add({std::to_string(-count), outcome_name(key.first), key.second});
  return table.empty() ? "" : table.text() + "\n";
}

std::vector<int> count_outcomes(const std::vector<CaseResult>& results) {
  std::vector<int> counts(kOutcomes);
  for (const CaseResult& result : results) ++counts[int(result.outcome)];
  return counts;
}

}  // namespace

std::string text_report(const std::vector<CaseResult>& results, bool verbose) {
  std::string text = failing_cases(results, verbose) + causes(results);
  std::vector<int> counts = count_outcomes(results);
  text += "passed " + std::to_string(counts[0]) + " of " + std::to_string(results.size());
  for (int i = 1; i < kOutcomes; ++i) {
    if (counts[i]) text += "; " + std::string(outcome_name(Outcome(i))) + " " + std::to_string(counts[i]);
  }
  return text + "\n";
}

std::string json_report(const std::vector<CaseResult>& results, const Library& library) {
  nlohmann::ordered_json out;
  std::vector<int> counts = count_outcomes(results);
  out["library"] = {{"version", library.version}, {"build", library.build}};
  out["total"] = results.size();
  out["passed"] = counts[0];
  for (int i = 0; i < kOutcomes; ++i) out["outcomes"][outcome_name(Outcome(i))] = counts[i];
  out["cases"] = nlohmann::ordered_json::array();
  for (const CaseResult& result : results) {
    out["cases"].push_back(
        {{"name", result.name}, {"outcome", outcome_name(result.outcome)}, {"reason", result.reason}});
  }
  return out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string to_line(const CaseResult& result) { return std::to_string(int(result.outcome)) + " " + result.reason; }

CaseResult from_line(const std::string& text) {
  CaseResult result;
  size_t blank = text.find(' ');
  int number = std::atoi(text.c_str());
  result.outcome = number >= 0 && number < kOutcomes ? Outcome(number) : Outcome::kCrashed;
  if (blank != std::string::npos) result.reason = text.substr(blank + 1);
  return result;
}

}  // namespace ortolan::tools
