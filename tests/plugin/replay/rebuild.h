// Builds models from what the graph API shows.
#pragma once

#include <string>
#include <vector>

#include "example/host.h"

namespace ortolan::replay {

/** An attribute of its own that equals the given one; null for a kind that the API cannot create. */
OrtOpAttr* copy_attribute(const example::Host& host, const OrtOpAttr* attribute);

std::vector<const OrtOpAttr*> attributes_of(const example::Host& host, const OrtNode* node);

/** A tensor on the host with the type and shape of another one; the caller releases it. */
OrtValue* new_like(const example::Host& host, const OrtValue* tensor);

/** A model of the graph's nodes, with these inputs and outputs; the graph's initializers that are not among the inputs
 *  become its own. */
OrtModel* rebuild(const example::Host& host, const OrtGraph* graph, const std::vector<const OrtValueInfo*>& inputs,
                  const std::vector<const OrtValueInfo*>& outputs);

}  // namespace ortolan::replay
