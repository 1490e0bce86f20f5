// Protobuf's wire format, read in place: fields of a message, one after the other, without copies.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/error.h"

namespace ortolan::onnx {
using namespace base;

static_assert(std::endian::native == std::endian::little, "the wire format is read in place");

using Bytes = std::span<const std::byte>;

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kGroup = 3, kEndGroup = 4, kFixed32 = 5 };

/** Decodes one varint at the front of `rest` and shortens it. Returns false when it is cut off or too long. */
inline bool take_varint(Bytes& rest, uint64_t& value) {
  value = 0;
  for (size_t i = 0; i < rest.size() && i < 10; ++i) {
    auto byte = static_cast<uint64_t>(rest[i]);
    value |= (byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest = rest.subspan(i + 1);
      return true;
    }
  }
  return false;
}

/** One field. The accessors throw kInvalidProtobuf when the field is of another wire type. */
class Field {
 public:
  uint32_t number() const { return number_; }
  int64_t integer() const {
    expect(WireType::kVarint);
    return static_cast<int64_t>(value_);
  }
  float real() const {
    expect(WireType::kFixed32);
    return std::bit_cast<float>(static_cast<uint32_t>(value_));
  }
  Bytes bytes() const {
    expect(WireType::kBytes);
    return bytes_;
  }
  std::string_view text() const {
    expect(WireType::kBytes);
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }
  bool is_packed() const { return type_ == WireType::kBytes; }
  /** Calls `take` for each integer of a repeated field, packed or not. */
  template <class Take>
  void each_integer(Take&& take) const {
    if (!is_packed()) return take(integer());
    Bytes rest = bytes_;
    uint64_t value;
    while (!rest.empty()) {
      if (!take_varint(rest, value)) fail_packed();
      take(static_cast<int64_t>(value));
    }
  }
  /** Calls `take` for each number of a repeated field of floats or doubles, packed or not. */
  template <class T, class Take>
  void each_real(Take&& take) const {
    if (!is_packed()) {
      expect(sizeof(T) == 4 ? WireType::kFixed32 : WireType::kFixed64);
      T value;
      std::memcpy(&value, &value_, sizeof(T));
      return take(value);
    }
    if (bytes_.size() % sizeof(T) != 0) fail_packed();
    for (size_t at = 0; at < bytes_.size(); at += sizeof(T)) {
      T value;
      std::memcpy(&value, bytes_.data() + at, sizeof(T));
      take(value);
    }
  }

 private:
  friend class WireReader;
  void expect(WireType type) const {
    if (type_ != type) [[unlikely]]
      fail_type(type);
  }
  [[noreturn]] void fail_type(WireType wanted) const;
  [[noreturn]] void fail_packed() const;

  const char* message_ = "";
  uint32_t number_ = 0;
  WireType type_ = WireType::kVarint;
  uint64_t value_ = 0;
  Bytes bytes_;
};

/** Walks the fields of one message. */
class WireReader {
 public:
  /** `message` names the message's type in errors. */
  WireReader(Bytes bytes, const char* message) : all_(bytes), rest_(bytes) { field_.message_ = message; }

  /** Moves to the next field; false at the end. Throws kInvalidProtobuf on bytes that are no field. */
  bool next() {
    if (rest_.empty()) return false;
    read_field();
    return true;
  }
  const Field& field() const { return field_; }
  uint32_t number() const { return field_.number_; }

 private:
  void read_field();
  uint64_t read_varint();
  uint64_t read_fixed(size_t size);
  void skip_group(uint32_t number);
  [[noreturn]] void fail_here(std::string_view what) const;

  Bytes all_;
  Bytes rest_;
  Field field_;
};

}  // namespace ortolan::onnx
