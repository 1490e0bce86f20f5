// Reading what bounds the process's memory.
#include "base/memory/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

namespace ortolan::base {
namespace {

/** The text up to `end`, which is taken off together with it. */
std::string_view take_until(std::string_view& text, char end) {
  const size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

bool lists(std::string_view names, std::string_view wanted) {
  while (!names.empty()) {
    if (take_until(names, ',') == wanted) return true;
  }
  return false;
}

/** The file of the group and of all groups around it. */
void add_files(std::vector<std::string>& files, std::string_view root, std::string_view group, std::string_view name) {
  for (;;) {
    while (group.ends_with('/')) group.remove_suffix(1);
    files.push_back(std::string(root).append(group).append(name));
    if (group.empty()) return;
    group = group.substr(0, std::min(group.rfind('/'), group.size()));
  }
}

std::optional<size_t> leading_number(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  size_t number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc()) return std::nullopt;
  return number;
}

/** What a small file holds; empty where it cannot be read. */
std::string text_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"), std::fclose);
  if (file == nullptr) return {};
  std::string text(16384, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  return text;
}

}  // namespace

std::vector<std::string> memory_limit_files(std::string_view groups) {
  std::vector<std::string> files;
  while (!groups.empty()) {
    std::string_view line = take_until(groups, '\n');
    take_until(line, ':');
    const std::string_view controllers = take_until(line, ':');
    if (!line.starts_with('/')) continue;
    if (controllers.empty()) add_files(files, "/sys/fs/cgroup", line, "/memory.max");
    if (lists(controllers, "memory")) add_files(files, "/sys/fs/cgroup/memory", line, "/memory.limit_in_bytes");
  }
  return files;
}

size_t memory_limit_of(std::string_view text) { return leading_number(text).value_or(kNoMemoryLimit); }

size_t memory_of_machine(std::string_view meminfo) {
  constexpr std::string_view kTotal = "MemTotal:";
  while (!meminfo.empty()) {
    const std::string_view line = take_until(meminfo, '\n');
    if (!line.starts_with(kTotal)) continue;
    const size_t kilobytes = leading_number(line.substr(kTotal.size())).value_or(kNoMemoryLimit);
    return kilobytes > kNoMemoryLimit / 1024 ? kNoMemoryLimit : kilobytes * 1024;
  }
  return kNoMemoryLimit;
}

size_t share_of_memory(std::string_view meminfo, std::span<const std::string> limits) {
  size_t least = memory_of_machine(meminfo);
  for (const std::string& limit : limits) least = std::min(least, memory_limit_of(limit));
  return least == kNoMemoryLimit ? kNoMemoryLimit : least / 5 * 4;
}

size_t share_of_memory() {
  static const size_t share = [] {
    std::vector<std::string> limits;
    for (const std::string& file : memory_limit_files(text_of("/proc/self/cgroup"))) limits.push_back(text_of(file));
    return share_of_memory(text_of("/proc/meminfo"), limits);
  }();
  return share;
}

}  // namespace ortolan::base
