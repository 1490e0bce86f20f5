// A text is its length and characters; a block its length, zeros up to its place, and bytes.
#include "gpu/core/graph/field_bytes.h"

#include "gpu/device/error.h"

namespace ortolan::gpu {
namespace {

/** Bytes up to the next block. */
size_t padding_at(size_t at) { return (kBlockAlignment - at % kBlockAlignment) % kBlockAlignment; }

}  // namespace

void FieldWriter::text(std::string_view text) {
  count(text.size());
  append(std::as_bytes(std::span(text)));
}

void FieldWriter::block(std::span<const std::byte> bytes) {
  count(bytes.size());
  bytes_.resize(bytes_.size() + padding_at(bytes_.size()));
  append(bytes);
}

size_t FieldReader::count() {
  auto items = number<uint64_t>();
  if (items > bytes_.size() - at_) fail(std::to_string(items) + " items do not fit the bytes that are left");
  return items;
}

std::string FieldReader::text() {
  std::span<const std::byte> bytes = take(count());
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::span<const std::byte> FieldReader::block() {
  size_t bytes = count();
  take(padding_at(at_));
  return take(bytes);
}

std::span<const std::byte> FieldReader::take(size_t bytes) {
  if (bytes > bytes_.size() - at_) {
    fail("it ends after " + std::to_string(bytes_.size()) + " bytes, where " + std::to_string(bytes) + " more belong");
  }
  at_ += bytes;
  return bytes_.subspan(at_ - bytes, bytes);
}

void FieldReader::fail(const std::string& what) const {
  throw Error(ErrorKind::kInvalid, "the compiled group is damaged at byte " + std::to_string(at_) + ": " + what +
                                       "; compile the model again");
}

}  // namespace ortolan::gpu
