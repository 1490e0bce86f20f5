// What the runner prints at its end.
#pragma once

#include <string>
#include <vector>

#include "test_case.h"

namespace ortolan::tools {

// Failing cases with reasons, then counts by outcome and, of failures, by cause.
std::string text_report(const std::vector<CaseResult>& results, bool verbose);
// {"total":…, "passed":…, "outcomes":{…}, "cases":[{"name","outcome","reason"}]}
std::string json_report(const std::vector<CaseResult>& results, const Library& library);

// One case as text, to send it from a child; and back.
std::string to_line(const CaseResult& result);
CaseResult from_line(const std::string& text);

}  // namespace ortolan::tools
