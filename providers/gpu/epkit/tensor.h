// What is behind a value that the runtime gave.
#pragma once

#include "gpu/core/graph/element_type.h"
#include "gpu/epkit/host.h"

namespace ortolan::gpu::epkit {

struct Tensor {
  ElementType type = ElementType::kUndefined;
  Shape shape;
  void* address = nullptr;  // on the host, or a number within a device's range
  size_t bytes = 0;
  bool reached_by_host = true;
};

/** Throws Failure unless it is a tensor with memory. */
Tensor tensor_of(const Host& host, const OrtValue* value);

}  // namespace ortolan::gpu::epkit
