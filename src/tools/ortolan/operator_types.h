// Lists of types as people read them.
#pragma once

#include <string>

namespace ortolan::tools {

// "tensor(float)|tensor(double)|seq(tensor(float))" as "float, double, seq(float)"; brief: with names for common
// groups.
std::string type_list(const std::string& types, bool brief);

}  // namespace ortolan::tools
