// The nodes of memory that the system tells of, within what the process may use.
#include "base/threads/memory_nodes.h"

#include <dirent.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ortolan::base {
namespace {

/** A number at the cursor, which is moved behind it; -1 where there is none. */
long read_number(const char*& at) {
  if (*at < '0' || *at > '9') return -1;
  char* end = nullptr;
  const long number = std::strtol(at, &end, 10);
  at = end;
  return number;
}

std::string first_line_of(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return {};
  char line[4096];
  const bool is_read = std::fgets(line, sizeof line, file) != nullptr;
  std::fclose(file);
  return is_read ? std::string(line, std::strcspn(line, "\n")) : std::string();
}

/** The numbers of the folders node0, node1, ... */
std::vector<int> node_numbers(const std::string& root) {
  std::vector<int> numbers;
  DIR* folder = opendir(root.c_str());
  if (folder == nullptr) return numbers;
  while (const dirent* entry = readdir(folder)) {
    if (std::strncmp(entry->d_name, "node", 4) != 0) continue;
    const char* at = entry->d_name + 4;
    const long number = read_number(at);
    if (number >= 0 && *at == 0) numbers.push_back(static_cast<int>(number));
  }
  closedir(folder);
  std::ranges::sort(numbers);
  return numbers;
}

}  // namespace

std::vector<int> read_processor_list(const std::string& text) {
  std::vector<int> processors;
  for (const char* at = text.c_str(); *at != 0;) {
    const long first = read_number(at);
    const long last = *at == '-' ? read_number(++at) : first;
    if (first < 0 || last < first || last >= CPU_SETSIZE || (*at != 0 && *at != ',')) return {};
    for (long processor = first; processor <= last; ++processor) processors.push_back(static_cast<int>(processor));
    if (*at == ',') ++at;
  }
  return processors;
}

std::vector<std::vector<int>> memory_nodes(const std::string& root, const std::vector<int>& allowed) {
  std::vector<std::vector<int>> nodes;
  for (const int number : node_numbers(root)) {
    std::vector<int> processors =
        read_processor_list(first_line_of(root + "/node" + std::to_string(number) + "/cpulist"));
    std::erase_if(processors, [&](int processor) { return std::ranges::find(allowed, processor) == allowed.end(); });
    if (!processors.empty()) nodes.push_back(std::move(processors));
  }
  return nodes;
}

std::vector<std::vector<int>> memory_nodes() {
  cpu_set_t mask;
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return {};
  std::vector<int> allowed;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (CPU_ISSET(processor, &mask)) allowed.push_back(processor);
  }
  return memory_nodes("/sys/devices/system/node", allowed);
}

std::vector<int> nodes_of_threads(const std::vector<std::vector<int>>& nodes, int threads) {
  size_t all = 0;
  for (const auto& node : nodes) all += node.size();
  std::vector<int> of_threads;
  size_t node = 0, before = 0;  // processors of the nodes before that one
  for (size_t thread = 0; thread < static_cast<size_t>(threads); ++thread) {
    // The middle of a thread's share of all processors lies in its node.
    while ((2 * thread + 1) * all >= 2 * (before + nodes[node].size()) * static_cast<size_t>(threads)) {
      before += nodes[node++].size();
    }
    of_threads.push_back(static_cast<int>(node));
  }
  return of_threads;
}

}  // namespace ortolan::base
