// Protobuf's wire format, written: a message as a list of pieces, so that tensors are not copied into it.
#pragma once

#include <bit>
#include <string>
#include <vector>

#include "onnx/wire.h"

namespace ortolan::onnx {

/** A message being written. Borrowed bytes must outlive it. */
class WireWriter {
 public:
  void integer(uint32_t field, int64_t value) {
    tag(field, WireType::kVarint);
    varint(static_cast<uint64_t>(value));
  }
  void real(uint32_t field, float value) {
    tag(field, WireType::kFixed32);
    append(&value, sizeof value);
  }
  /** Writes nothing for an empty text. */
  void text(uint32_t field, std::string_view value) {
    if (!value.empty()) bytes(field, value);
  }
  void bytes(uint32_t field, std::string_view value) {
    tag(field, WireType::kBytes);
    varint(value.size());
    append(value.data(), value.size());
  }
  void message(uint32_t field, WireWriter&& inner);
  /** A field of bytes that stay where they are, when they are many. */
  void borrowed(uint32_t field, Bytes value);
  void packed(uint32_t field, std::span<const int64_t> values);

  uint64_t size() const { return size_; }
  /** The bytes in order, in pieces. */
  std::vector<Bytes> pieces() const;

 private:
  /** Text of its own, then borrowed bytes. */
  struct Piece {
    std::string own;
    Bytes borrowed;
  };
  void tag(uint32_t field, WireType type) { varint((uint64_t{field} << 3) | static_cast<uint64_t>(type)); }
  void varint(uint64_t value);
  void append(const void* data, size_t size);

  std::vector<Piece> pieces_;
  uint64_t size_ = 0;
};

}  // namespace ortolan::onnx
