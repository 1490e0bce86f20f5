// Key and value texts, ordered by key.
#include "base/key_values.h"

#include <algorithm>

namespace ortolan::base {

KeyValues& KeyValues::operator=(const KeyValues& other) {
  keys_ = other.keys_;
  values_ = other.values_;
  refresh();
  return *this;
}

void KeyValues::set(std::string key, std::string value) {
  size_t at = position(key);
  if (holds(at, key)) {
    values_[at] = std::move(value);
  } else {
    keys_.insert(keys_.begin() + at, std::move(key));
    values_.insert(values_.begin() + at, std::move(value));
  }
  refresh();
}

const std::string* KeyValues::find(std::string_view key) const {
  size_t at = position(key);
  return holds(at, key) ? &values_[at] : nullptr;
}

void KeyValues::remove(std::string_view key) {
  size_t at = position(key);
  if (!holds(at, key)) return;
  keys_.erase(keys_.begin() + at);
  values_.erase(values_.begin() + at);
  refresh();
}

size_t KeyValues::position(std::string_view key) const {
  return std::lower_bound(keys_.begin(), keys_.end(), key) - keys_.begin();
}

void KeyValues::refresh() {
  key_strings_.clear();
  value_strings_.clear();
  for (const std::string& key : keys_) key_strings_.push_back(key.c_str());
  for (const std::string& value : values_) value_strings_.push_back(value.c_str());
}

}  // namespace ortolan::base
