// Memory for the elements of tensors, and who is charged for it.
#pragma once

#include <memory>

#include "tensor/value.h"

namespace ortolan::tensor {

/** Memory for `count` elements, charged to the calling thread's run until it ends where it is the CPU's. Numbers are
    uninitialised, strings empty. Throws on overflow, and where the run would hold too much. */
std::shared_ptr<void> allocate_elements(ElementType type, int64_t count, const std::shared_ptr<Allocator>& allocator);

/** Charges the calling thread's run, until their memory ends, with what the value's strings hold beyond the elements.
    Those that were charged before, or made outside of a run, are left out. */
void charge_strings(const Value& value);

}  // namespace ortolan::tensor
