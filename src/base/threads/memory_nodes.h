// Nodes of memory (NUMA): the processors near each, and which threads of a pool belong to which.
#pragma once

#include <string>
#include <vector>

namespace ortolan::base {

/** For each node that has some of the `allowed` processors, in order of the nodes' numbers, those processors. `root` is
   a folder as /sys/devices/system/node; none where it is not there or says nothing that can be read. */
std::vector<std::vector<int>> memory_nodes(const std::string& root, const std::vector<int>& allowed);

/** The same of this machine and the processors of the calling thread's affinity mask. */
std::vector<std::vector<int>> memory_nodes();

/** The processors of a list as the system writes it, "0-3,8": none where it is malformed. */
std::vector<int> read_processor_list(const std::string& text);

/** For each of so many threads its node: first threads of the first node, then those of the next, in proportion to the
    nodes' processors. There must be a node, and each must have a processor. */
std::vector<int> nodes_of_threads(const std::vector<std::vector<int>>& nodes, int threads);

}  // namespace ortolan::base
