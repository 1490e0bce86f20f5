// A block of bytes that tensors come from: a model or an external-data file, mapped or in the caller's memory.
#pragma once

#include <memory>

#include "base/memory/mapped_file.h"
#include "onnx/wire.h"
#include "tensor/tensor.h"

namespace ortolan::onnx {
using namespace tensor;

struct Blob {
  Bytes bytes;
  std::shared_ptr<void> owner;       // keeps `bytes` alive
  std::shared_ptr<MappedFile> file;  // set when `bytes` is its mapping
  bool copy = false;                 // tensors must not refer to `bytes`

  /** A tensor of the elements in `data`, which lies in `bytes` and has the right size: a view where that is allowed,
      worth it and aligned for the elements, else a copy. Large float tensors are views even when not aligned: see
      ValueInfo::fixed_constant. */
  Tensor tensor_of(ElementType type, Shape shape, Bytes data) const;
};

/** What a blob of a mapped file is. */
Blob blob_of(std::shared_ptr<MappedFile> file, bool copy);

}  // namespace ortolan::onnx
