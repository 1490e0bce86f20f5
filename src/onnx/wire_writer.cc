// Writes fields of messages.
#include "onnx/wire_writer.h"

namespace ortolan::onnx {
namespace {

constexpr size_t kSmallestBorrowed = 4096;  // a piece of its own is not worth it below

}  // namespace

void WireWriter::append(const void* data, size_t size) {
  if (size == 0) return;
  if (pieces_.empty() || !pieces_.back().borrowed.empty()) pieces_.emplace_back();
  pieces_.back().own.append(static_cast<const char*>(data), size);
  size_ += size;
}

void WireWriter::varint(uint64_t value) {
  char digits[10];
  size_t count = 0;
  for (; value >= 0x80; value >>= 7) digits[count++] = static_cast<char>(value | 0x80);
  digits[count++] = static_cast<char>(value);
  append(digits, count);
}

void WireWriter::message(uint32_t field, WireWriter&& inner) {
  tag(field, WireType::kBytes);
  varint(inner.size_);
  if (inner.pieces_.empty()) return;
  // Small messages are joined to the text before them, so that pieces stay few.
  Piece& first = inner.pieces_.front();
  size_ += inner.size_;
  pieces_.back().own += first.own;
  pieces_.back().borrowed = first.borrowed;
  std::move(inner.pieces_.begin() + 1, inner.pieces_.end(), std::back_inserter(pieces_));
}

void WireWriter::borrowed(uint32_t field, Bytes value) {
  if (value.size() < kSmallestBorrowed) {
    return bytes(field, {reinterpret_cast<const char*>(value.data()), value.size()});
  }
  tag(field, WireType::kBytes);
  varint(value.size());
  pieces_.back().borrowed = value;
  size_ += value.size();
}

void WireWriter::packed(uint32_t field, std::span<const int64_t> values) {
  if (values.empty()) return;
  WireWriter list;
  for (int64_t value : values) list.varint(static_cast<uint64_t>(value));
  message(field, std::move(list));
}

std::vector<Bytes> WireWriter::pieces() const {
  std::vector<Bytes> result;
  for (const Piece& piece : pieces_) {
    result.push_back(std::as_bytes(std::span(piece.own)));
    if (!piece.borrowed.empty()) result.push_back(piece.borrowed);
  }
  return result;
}

}  // namespace ortolan::onnx
