// The strings of tensors (and of a sparse tensor's values): filling and reading them.
#include "api/arguments.h"
#include "api/guard.h"
#include "ortolan.h"
#include "tensor/value.h"

namespace ortolan::api {
namespace {

/** The strings of the value. Throws when it holds none. */
std::span<const std::string> strings_of(const OrtValue* value) {
  const Value& core = unwrap(value, "value");
  return (core.kind() == ValueKind::kSparse ? core.sparse()->values : core.tensor()).span<std::string>();
}

std::span<std::string> strings_to_fill(OrtValue* value) {
  return unwrap(value, "value").tensor().mutable_span<std::string>();
}

template <class Strings>
auto& string_at(Strings&& strings, size_t index) {
  require(index < strings.size(), ErrorCode::kFail, "index ", index, " is out of range; the tensor has ",
          strings.size(), " strings");
  return strings[index];
}

/** `count` strings from `first` on. */
template <class T>
std::span<T> part_of(std::span<T> strings, size_t first, size_t count) {
  require(first <= strings.size() && count <= strings.size() - first, ErrorCode::kInvalidArgument, "there are no ",
          count, " strings from element ", first, " on; the tensor has ", strings.size(), " strings");
  return strings.subspan(first, count);
}

size_t total_length(std::span<const std::string> strings) {
  size_t total = 0;
  for (const std::string& string : strings) total += string.size();
  return total;
}

}  // namespace

OrtStatus* ORT_API_CALL FillStringTensor(OrtValue* value, const char* const* s, size_t s_len) noexcept {
  return guard([&] {
    auto strings = strings_to_fill(value);
    auto texts = array(s, s_len, "s");
    require(s_len == strings.size(), ErrorCode::kInvalidArgument, "there are ", s_len, " strings for a tensor of ",
            strings.size(), " elements");
    for (size_t i = 0; i < s_len; ++i) strings[i] = text(texts[i], "s[i]");
  });
}

OrtStatus* ORT_API_CALL FillStringTensorElement(OrtValue* value, const char* s, size_t index) noexcept {
  return guard([&] { string_at(strings_to_fill(value), index) = text(s, "s"); });
}

OrtStatus* ORT_API_CALL GetResizedStringTensorElementBuffer(OrtValue* value, size_t index, size_t length_in_bytes,
                                                            char** buffer) noexcept {
  return guard([&] {
    std::string& string = string_at(strings_to_fill(value), index);
    require_argument(buffer, "buffer");
    string.resize(length_in_bytes);
    *buffer = string.data();
  });
}

OrtStatus* ORT_API_CALL GetStringTensorDataLength(const OrtValue* value, size_t* len) noexcept {
  return guard([&] { put(len, total_length(strings_of(value)), "len"); });
}

OrtStatus* ORT_API_CALL GetStringTensorContent(const OrtValue* value, void* s, size_t s_len, size_t* offsets,
                                               size_t offsets_len) noexcept {
  return guard([&] {
    auto strings = strings_of(value);
    auto places = array(offsets, offsets_len, "offsets");
    require(offsets_len == strings.size(), ErrorCode::kFail, "there is room for ", offsets_len, " offsets, but ",
            strings.size(), " are needed");
    size_t total = total_length(strings);
    require(s_len >= total, ErrorCode::kFail, "the buffer has ", s_len, " bytes, but the strings have ", total);
    char* out = array(static_cast<char*>(s), total, "s").data();
    size_t offset = 0;
    for (size_t i = 0; i < strings.size(); ++i) {
      places[i] = offset;
      std::copy(strings[i].begin(), strings[i].end(), out + offset);
      offset += strings[i].size();
    }
  });
}

OrtStatus* ORT_API_CALL GetStringTensorElementLength(const OrtValue* value, size_t index, size_t* out) noexcept {
  return guard([&] { put(out, string_at(strings_of(value), index).size()); });
}

OrtStatus* ORT_API_CALL GetStringTensorElement(const OrtValue* value, size_t s_len, size_t index, void* s) noexcept {
  return guard([&] {
    const std::string& string = string_at(strings_of(value), index);
    require(s_len >= string.size(), ErrorCode::kFail, "the buffer has ", s_len, " bytes, but the string has ",
            string.size());
    char* out = array(static_cast<char*>(s), string.size(), "s").data();
    std::copy(string.begin(), string.end(), out);
  });
}

}  // namespace ortolan::api

using namespace ortolan::api;

OrtStatus* ORT_API_CALL OrtFillStringTensorTexts(OrtValue* value, size_t first, const char* const* texts,
                                                 const size_t* lengths, size_t count) noexcept {
  return guard([&] {
    auto strings = part_of(strings_to_fill(value), first, count);
    auto from = array(texts, count, "texts");
    auto sizes = array(lengths, count, "lengths");
    for (size_t i = 0; i < count; ++i) {
      strings[i].assign(sizes[i] == 0 ? "" : text(from[i], "texts[i]"), sizes[i]);
    }
  });
}

OrtStatus* ORT_API_CALL OrtGetStringTensorTexts(const OrtValue* value, size_t first, const char** texts,
                                                size_t* lengths, size_t count) noexcept {
  return guard([&] {
    auto strings = part_of(strings_of(value), first, count);
    auto places = array(texts, count, "texts");
    auto sizes = array(lengths, count, "lengths");
    for (size_t i = 0; i < count; ++i) {
      places[i] = strings[i].data();
      sizes[i] = strings[i].size();
    }
  });
}
