// What the provider of the plugin beside this asks of the runtime, and what it then gets. The program sets it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ortolan::wishes {

struct Wishes {
  bool channels_last = false;
  int should_convert = -1;                    // the answer to ShouldConvertDataLayoutForOp
  uint64_t bytes = 0;                         // what it has left; 0: it does not say
  std::vector<std::string> asked_about = {};  // operators, as "domain:name"
  std::vector<std::string> compiled = {};     // likewise
};

}  // namespace ortolan::wishes
