// Makes tensors of mapped bytes.
#include "onnx/blob.h"

#include <algorithm>

namespace ortolan::onnx {
namespace {

constexpr size_t kSmallestView = 4096;         // smaller tensors are copied: the heap aligns them better
constexpr size_t kSmallestFileRead = 1 << 16;  // larger copies are read, so that the mapping's pages stay out of memory

constexpr size_t kSmallestUnaligned = 1 << 16;  // of floats, that is: mostly weights, which are packed anyway

/** A bool that is neither 0 nor 1 would be undefined in C++. */
bool needs_normalising(ElementType type, Bytes data) {
  return type == ElementType::kBool && std::ranges::any_of(data, [](std::byte byte) { return byte > std::byte{1}; });
}

}  // namespace

Tensor Blob::tensor_of(ElementType type, Shape shape, Bytes data) const {
  bool aligned = is_aligned(type, data.data()) || (kFloatTypes.contains(type) && data.size() >= kSmallestUnaligned);
  bool odd_bools = needs_normalising(type, data);
  if (!copy && aligned && !odd_bools && data.size() >= kSmallestView) {
    return Tensor(type, std::move(shape), const_cast<std::byte*>(data.data()), owner);
  }
  Tensor copied(type, std::move(shape));
  if (file && data.size() >= kSmallestFileRead) {
    file->read(data, copied.mutable_raw());
  } else if (!data.empty()) {
    std::memcpy(copied.mutable_raw(), data.data(), data.size());
  }
  if (odd_bools) {
    auto* elements = static_cast<uint8_t*>(copied.mutable_raw());
    std::transform(elements, elements + data.size(), elements, [](uint8_t value) { return value != 0; });
  }
  return copied;
}

Blob blob_of(std::shared_ptr<MappedFile> file, bool copy) {
  Bytes bytes = file->bytes();
  return {bytes, file, file, copy};
}

}  // namespace ortolan::onnx
