// The models that a soak runs.
#pragma once

#include <random>
#include <string>
#include <vector>

namespace soak {

/** One with float input "x" and float output "y". */
struct SoakModel {
  const char* name;
  std::string bytes;
  std::vector<int64_t> (*shape)(std::mt19937& random);  // of an input
};

/** Products, convolutions, a recurrent layer, a loop, and operators whose output shapes depend on values. */
const std::vector<SoakModel>& models();

}  // namespace soak
