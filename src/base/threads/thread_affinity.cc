// Reading the text that says which processors the workers of a pool run on.
#include <sched.h>

#include "base/error.h"
#include "base/threads/thread_pool.h"

namespace ortolan::base {
namespace {

int parse_processor(const std::string& text, size_t& at) {
  const size_t begin = at;
  int64_t number = 0;
  while (at < text.size() && text[at] >= '0' && text[at] <= '9' && number <= CPU_SETSIZE) {
    number = number * 10 + (text[at++] - '0');
  }
  require(at > begin && number >= 1 && number <= CPU_SETSIZE, ErrorCode::kInvalidArgument, "thread affinity '", text,
          "': expected a processor number in [1, ", CPU_SETSIZE, "] at position ", begin);
  return static_cast<int>(number - 1);
}

std::vector<int> parse_group(const std::string& text, size_t& at) {
  std::vector<int> group;
  for (;;) {
    const int first = parse_processor(text, at);
    int last = first;
    if (at < text.size() && text[at] == '-') last = parse_processor(text, ++at);
    require(first <= last, ErrorCode::kInvalidArgument, "thread affinity '", text, "': range ", first + 1, "-",
            last + 1, " runs backwards");
    for (int processor = first; processor <= last; ++processor) group.push_back(processor);
    if (at >= text.size() || text[at] != ',') return group;
    ++at;
  }
}

}  // namespace

std::vector<std::vector<int>> parse_affinity(const std::string& text) {
  std::vector<std::vector<int>> groups;
  for (size_t at = 0; !text.empty() && at <= text.size(); ++at) {
    groups.push_back(parse_group(text, at));
    require(at >= text.size() || text[at] == ';', ErrorCode::kInvalidArgument, "thread affinity '", text,
            "': unexpected character at position ", at, "; write groups as in '1,2;3-4'");
  }
  return groups;
}

}  // namespace ortolan::base
