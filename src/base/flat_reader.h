// Reads FlatBuffers without trusting them.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/error.h"

namespace ortolan::base {

/** Reads within the bytes of a FlatBuffer; positions count from its start. Throws kFail, naming the buffer as `what`,
    on anything outside. Fields are counted from 0 in the order of the schema, a union taking two. */
class FlatReader {
 public:
  FlatReader(std::span<const std::byte> bytes, std::string_view what) : bytes_(bytes), what_(what) {}

  template <class T>
  T number(size_t at) const {
    T value;
    std::memcpy(&value, range(at, sizeof value), sizeof value);
    return value;
  }
  /** The place that an offset at `at` points to. */
  size_t follow(size_t at) const { return checked_add(at, size_t{number<uint32_t>(at)}); }
  const std::byte* range(size_t at, size_t count) const {
    require(at <= bytes_.size() && count <= bytes_.size() - at, ErrorCode::kFail, what_, " is damaged: ", count,
            " bytes at ", at, " are outside its ", bytes_.size(), " bytes");
    return bytes_.data() + at;
  }
  /** Where a field of the table is; 0 when it was left out. */
  size_t field(size_t table, size_t index) const {
    int64_t vtable = static_cast<int64_t>(table) - number<int32_t>(table);
    require(vtable >= 0, ErrorCode::kFail, what_, " is damaged: a table's description is at ", vtable);
    auto start = static_cast<size_t>(vtable);
    size_t entry = 4 + 2 * index;
    if (entry + 2 > number<uint16_t>(start)) return 0;
    uint16_t offset = number<uint16_t>(start + entry);
    return offset == 0 ? 0 : table + offset;
  }
  /** A field's number, or what it is when it was left out. */
  template <class T>
  T number_field(size_t table, size_t index, T otherwise = {}) const {
    size_t at = field(table, index);
    return at == 0 ? otherwise : number<T>(at);
  }
  /** The table that a field refers to; 0 when it was left out. */
  size_t table_field(size_t table, size_t index) const {
    size_t at = field(table, index);
    return at == 0 ? 0 : follow(at);
  }
  /** A vector's place and count, of items of that size; place 0 when it was left out. */
  std::pair<size_t, size_t> vector_field(size_t table, size_t index, size_t item_bytes) const {
    size_t at = field(table, index);
    return at == 0 ? std::pair<size_t, size_t>{0, 0} : vector(follow(at), item_bytes);
  }
  /** The place and count of the items of the vector that begins at `start`. */
  std::pair<size_t, size_t> vector(size_t start, size_t item_bytes) const {
    size_t count = number<uint32_t>(start);
    range(start + 4, checked_mul(count, item_bytes));
    return {start + 4, count};
  }
  size_t size() const { return bytes_.size(); }

 private:
  std::span<const std::byte> bytes_;
  std::string_view what_;
};

}  // namespace ortolan::base
