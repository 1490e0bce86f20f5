// Protobuf's wire format: tags, lengths and unknown groups.
#include "onnx/wire.h"

namespace ortolan::onnx {
namespace {

constexpr std::string_view kMend = "; the file is damaged, cut off, or no ONNX model";
constexpr int kMaxGroupDepth = 32;

std::string_view name_of(WireType type) {
  constexpr std::string_view kNames[] = {"a varint", "64 bits", "bytes", "a group", "the end of a group", "32 bits"};
  return kNames[static_cast<size_t>(type)];
}

}  // namespace

void Field::fail_type(WireType wanted) const {
  fail(ErrorCode::kInvalidProtobuf, message_, ": field ", number_, " is ", name_of(type_), ", but must be ",
       name_of(wanted), kMend);
}

void Field::fail_packed() const {
  fail(ErrorCode::kInvalidProtobuf, message_, ": the list in field ", number_, " ends inside a number", kMend);
}

void WireReader::fail_here(std::string_view what) const {
  fail(ErrorCode::kInvalidProtobuf, field_.message_, ": ", what, " at byte ", all_.size() - rest_.size(), " of ",
       all_.size(), kMend);
}

uint64_t WireReader::read_varint() {
  uint64_t value;
  if (!take_varint(rest_, value)) fail_here("a number is cut off or longer than ten bytes");
  return value;
}

uint64_t WireReader::read_fixed(size_t size) {
  if (rest_.size() < size) fail_here("a number is cut off");
  uint64_t value = 0;
  std::memcpy(&value, rest_.data(), size);
  rest_ = rest_.subspan(size);
  return value;
}

void WireReader::read_field() {
  uint64_t tag = read_varint();
  uint64_t type = tag & 7;
  if (tag >> 32 || tag >> 3 == 0 || type > 5) fail_here("an impossible field tag ends");
  field_.number_ = static_cast<uint32_t>(tag >> 3);
  field_.type_ = static_cast<WireType>(type);
  switch (field_.type_) {
    case WireType::kVarint:
      field_.value_ = read_varint();
      break;
    case WireType::kFixed64:
      field_.value_ = read_fixed(8);
      break;
    case WireType::kFixed32:
      field_.value_ = read_fixed(4);
      break;
    case WireType::kBytes: {
      uint64_t length = read_varint();
      if (length > rest_.size()) {
        fail_here(
            join("field ", field_.number_, " says that it has ", length, " bytes, but only ", rest_.size(), " follow"));
      }
      field_.bytes_ = rest_.first(length);
      rest_ = rest_.subspan(length);
      break;
    }
    case WireType::kGroup:
      skip_group(field_.number_);
      break;
    case WireType::kEndGroup:
      fail_here("a group ends that never began");
  }
}

void WireReader::skip_group(uint32_t number) {
  uint32_t open[kMaxGroupDepth] = {number};
  int depth = 1;
  while (depth > 0) {
    if (rest_.empty()) fail_here("a group does not end");
    uint64_t tag = read_varint();
    auto inner = static_cast<uint32_t>(tag >> 3);
    switch (tag & 7) {
      case 0:
        read_varint();
        break;
      case 1:
        read_fixed(8);
        break;
      case 2: {
        uint64_t length = read_varint();
        if (length > rest_.size()) fail_here("a field in a group is cut off");
        rest_ = rest_.subspan(length);
        break;
      }
      case 3:
        if (depth == kMaxGroupDepth) fail_here("groups are nested too deeply");
        open[depth++] = inner;
        break;
      case 4:
        if (open[--depth] != inner) fail_here("a group ends that is not the open one");
        break;
      case 5:
        read_fixed(4);
        break;
      default:
        fail_here("an impossible field tag ends");
    }
  }
}

}  // namespace ortolan::onnx
