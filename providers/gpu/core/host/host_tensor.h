// Small tensors whose elements are known when a list of commands is recorded: constants and shape arithmetic.
#pragma once

#include <memory>
#include <span>

#include "gpu/core/graph/element_type.h"
#include "gpu/device/half_float.h"

namespace ortolan::gpu {

/** A tensor's elements in the host's memory. */
struct HostBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  // of the bytes; NULL: they live as long as the graph
};

/** The same bytes with an owner: a copy where they have none. */
HostBytes owned(const HostBytes& bytes);

struct HostTensor {
  ElementType type = ElementType::kUndefined;
  Shape shape;
  HostBytes elements;

  /** The elements as integers; the type must be one that is_integer. */
  std::vector<int64_t> integers() const;
  /** The elements as floats or doubles, from any type but unsigned 64-bit integers. */
  std::vector<float> floats() const;
  std::vector<double> doubles() const;

  static HostTensor of_integers(ElementType type, Shape shape, const std::vector<int64_t>& values);
  static HostTensor of_floats(ElementType type, Shape shape, const std::vector<float>& values);
};

}  // namespace ortolan::gpu
