// Sequences without values. The ABI has no call that makes them, so a model of one node does.
#pragma once

#include "value.h"

namespace ortolan::tools {

// An empty sequence of this sequence type.
Handle<OrtValue> make_empty(const Library& library, const OrtEnv* environment, const TypeSpec& type);

}  // namespace ortolan::tools
