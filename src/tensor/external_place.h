// Where a tensor's elements lie in a file beside the model's: remembered by the tensor and its copies.
#pragma once

#include <string>

#include "tensor/tensor.h"

namespace ortolan::tensor {

struct ExternalPlace {
  std::string file;  // as the model names it: relative to its folder
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

/** The same tensor, remembering the place. It must own or share its memory. */
Tensor with_place(const Tensor& tensor, ExternalPlace place);
/** NULL when the tensor comes from elsewhere. Lives as long as the tensor. */
const ExternalPlace* place_of(const Tensor& tensor) noexcept;
/** What ends the tensor's memory: the owner that it had before it was given a place, else its owner. */
const std::shared_ptr<void>& memory_owner(const Tensor& tensor) noexcept;

}  // namespace ortolan::tensor
