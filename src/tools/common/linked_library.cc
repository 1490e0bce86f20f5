// The library that a program is linked to, unless the user names another one.
#include <cstdlib>

#include "library.h"

namespace ortolan::tools {

Library linked_library() { return describe_library(OrtGetApiBase(), "", nullptr); }

Library choose_library(const std::string& path) {
  const char* variable = std::getenv("ORTOLAN_LIBRARY");
  std::string chosen = path.empty() && variable ? variable : path;
  return chosen.empty() ? linked_library() : open_library(chosen);
}

}  // namespace ortolan::tools
