// Reading graphs through the ABI: lists as vectors, strings as strings.
#pragma once

#include <string>
#include <vector>

#include "host.h"
#include "tensor.h"

namespace ortolan::example {

std::vector<const OrtNode*> nodes_of(const Host& host, const OrtGraph* graph);
/** Inputs and outputs of a node; those left out are null. */
std::vector<const OrtValueInfo*> inputs_of(const Host& host, const OrtNode* node);
std::vector<const OrtValueInfo*> outputs_of(const Host& host, const OrtNode* node);
std::vector<const OrtValueInfo*> implicit_inputs_of(const Host& host, const OrtNode* node);
std::vector<const OrtValueInfo*> initializers_of(const Host& host, const OrtGraph* graph);

std::string name_of(const Host& host, const OrtValueInfo* value);
/** Whether the value is a tensor of floats. */
bool is_float(const Host& host, const OrtValueInfo* value);

/** Whether this library can compute the node and no other provider has it; then which operation it is. */
bool is_supported(const Host& host, const OrtNode* node, Operation& operation);

}  // namespace ortolan::example
