// Models in ORT format, written from graphs without subgraphs.
#pragma once

#include <string>

#include "graph/graph.h"

namespace ortolan::across {

/** The bytes of the model. Attributes may be numbers, lists of whole numbers, and texts. */
std::string write_ort_format(const graph::Model& model);

}  // namespace ortolan::across
