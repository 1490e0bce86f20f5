// Numbers, texts and blocks in a row of bytes, in the machine's order: written, and read with every size checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace ortolan::gpu {

/** Blocks begin at multiples of it, counted from the first byte. */
inline constexpr size_t kBlockAlignment = 64;

class FieldWriter {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    append(std::as_bytes(std::span(&value, 1)));
  }
  void count(size_t items) { number(static_cast<uint64_t>(items)); }
  void text(std::string_view text);
  void block(std::span<const std::byte> bytes);
  void reserve(size_t bytes) { bytes_.reserve(bytes); }
  /** All that was written; it may be changed in place. */
  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  void append(std::span<const std::byte> bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

  std::vector<std::byte> bytes_;
};

/** Throws kInvalid, through fail, where the bytes do not hold what is asked for. */
class FieldReader {
 public:
  explicit FieldReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <class T>
  T number() {
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  /** Of items that follow, each of at least one byte. */
  size_t count();
  std::string text();
  void skip(size_t bytes) { take(bytes); }
  /** A view of the bytes. */
  std::span<const std::byte> block();
  bool is_at_end() const { return at_ == bytes_.size(); }
  /** Says where the reader is, what is wrong there, and how to mend it. */
  [[noreturn]] void fail(const std::string& what) const;

 private:
  std::span<const std::byte> take(size_t bytes);

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace ortolan::gpu
