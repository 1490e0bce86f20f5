// Which build of this library is running.
#pragma once

#include <string>

namespace ortolan::base {

/** The linker's build identifier of the library or program that this code is in, in hexadecimal digits: two builds of
    other code have others. Empty where the linker was told to write none. */
const std::string& build_id();

}  // namespace ortolan::base
