// Reads K_CONST(id, name, default) and the buffers out of kernel texts.
#include "gpu/kernels/kernel_constants.h"

#include <charconv>

namespace ortolan::gpu {
namespace {

constexpr std::string_view kSpace = " \t";

std::string_view trimmed(std::string_view part) {
  size_t first = part.find_first_not_of(kSpace);
  return first == std::string_view::npos ? "" : part.substr(first, part.find_last_not_of(kSpace) + 1 - first);
}

/** Only spaces stand before the place on its line. */
bool begins_its_line(std::string_view text, size_t at) {
  size_t before = text.find_last_not_of(kSpace, at == 0 ? 0 : at - 1);
  return before == std::string_view::npos || text[before] == '\n';
}

/** `arguments` is what stands between the parentheses. */
DeclaredConstant read_constant(std::string_view arguments) {
  size_t first = arguments.find(','), last = arguments.rfind(',');
  std::string_view value = trimmed(arguments.substr(last + 1));
  std::string_view id = trimmed(arguments.substr(0, first));
  DeclaredConstant constant{trimmed(arguments.substr(first + 1, last - first - 1)), 0, 0};
  std::from_chars(value.data(), value.data() + value.size(), constant.value);
  std::from_chars(id.data(), id.data() + id.size(), constant.id);
  return constant;
}

/** Calls `found` with what stands behind the head on each line that begins with it. */
void find_heads(std::string_view text, std::string_view head, auto&& found) {
  for (size_t at = text.find(head); at != std::string_view::npos; at = text.find(head, at + 1)) {
    if (begins_its_line(text, at)) found(text.substr(at + head.size()));
  }
}

}  // namespace

std::vector<DeclaredConstant> declared_constants(std::string_view text) {
  std::vector<DeclaredConstant> constants;
  find_heads(text, "K_CONST(",
             [&](std::string_view line) { constants.push_back(read_constant(line.substr(0, line.find(')')))); });
  return constants;
}

size_t count_buffers(std::string_view text) {
  size_t count = 0;
  for (std::string_view head : {"K_IN(", "K_OUT(", "K_IO(", "K_ATOM("}) {
    find_heads(text, head, [&](std::string_view) { count++; });
  }
  return count;
}

}  // namespace ortolan::gpu
