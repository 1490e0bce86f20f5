// What the nodes of a profiled run had to do, counted from the shapes that the profile tells.
#pragma once

#include <string>
#include <vector>

namespace ortolan::device_models {

/** A node's work: multiply-adds where it is a product or a convolution, else the elements that it reads and writes;
 *  constants that it reads are not counted. */
struct NodeWork {
  std::string node, type, provider;
  double operations = 0;
};

/** The nodes of a profile in the form that the libraries write, in the order of the file. Throws ToolError. */
std::vector<NodeWork> read_profile(const std::string& path);

}  // namespace ortolan::device_models
