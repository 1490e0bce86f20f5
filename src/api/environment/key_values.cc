// OrtKeyValuePairs.
#include "base/key_values.h"

#include "api/arguments.h"
#include "api/guard.h"

namespace ortolan::api {

void ORT_API_CALL CreateKeyValuePairs(OrtKeyValuePairs** out) noexcept {
  ReleaseStatus(guard([&] { give(out, base::KeyValues()); }));
}

void ORT_API_CALL AddKeyValuePair(OrtKeyValuePairs* pairs, const char* key, const char* value) noexcept {
  if (pairs == nullptr || key == nullptr || *key == '\0' || value == nullptr) return;
  ReleaseStatus(guard([&] { unwrap_optional(pairs)->set(key, value); }));
}

const char* ORT_API_CALL GetKeyValue(const OrtKeyValuePairs* pairs, const char* key) noexcept {
  if (pairs == nullptr || key == nullptr) return nullptr;
  const std::string* value = unwrap_optional(pairs)->find(key);
  return value == nullptr ? nullptr : value->c_str();
}

void ORT_API_CALL GetKeyValuePairs(const OrtKeyValuePairs* pairs, const char* const** keys, const char* const** values,
                                   size_t* num_entries) noexcept {
  static const auto& none = *new base::KeyValues;
  const base::KeyValues& entries = pairs == nullptr ? none : *unwrap_optional(pairs);
  if (keys != nullptr) *keys = entries.key_strings().data();
  if (values != nullptr) *values = entries.value_strings().data();
  if (num_entries != nullptr) *num_entries = entries.size();
}

void ORT_API_CALL RemoveKeyValuePair(OrtKeyValuePairs* pairs, const char* key) noexcept {
  if (pairs != nullptr && key != nullptr) unwrap_optional(pairs)->remove(key);
}

void ORT_API_CALL ReleaseKeyValuePairs(OrtKeyValuePairs* pairs) noexcept { release(pairs); }

}  // namespace ortolan::api
