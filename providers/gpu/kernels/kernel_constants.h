// The constants and buffers that a kernel's text declares.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace ortolan::gpu {

struct DeclaredConstant {
  std::string_view name;  // within the text
  int value;              // where none is given
  int id;                 // of the specialisation constant
};

/** The K_CONSTs of a text, in its order. */
std::vector<DeclaredConstant> declared_constants(std::string_view text);

/** How many buffers the text has. */
size_t count_buffers(std::string_view text);

}  // namespace ortolan::gpu
