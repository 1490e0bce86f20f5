// Structs as a plugin of API 23 has them: nothing lies behind their last member, not even readable memory.
#pragma once

#include "stubs.h"

namespace ortolan::faulty {

/** A factory with the members of 1.23, for one device on the CPU. */
OrtEpFactory* short_factory();
bool is_short(const OrtEpFactory* factory);

/** A provider with the members of 1.23 that stands for the given one. */
OrtEp* shorten(OrtEp* ep);
/** What `shorten` got; any other provider is its own original. */
OrtEp* original(OrtEp* ep);

}  // namespace ortolan::faulty
