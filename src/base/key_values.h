// Key and value texts, ordered by key, also as arrays of C strings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ortolan::base {

/** Keys are unique. Not safe for changes from several threads. */
class KeyValues {
 public:
  KeyValues() = default;
  KeyValues(const KeyValues& other) : keys_(other.keys_), values_(other.values_) { refresh(); }
  KeyValues& operator=(const KeyValues& other);

  /** Adds the entry, or gives the key its new value. */
  void set(std::string key, std::string value);
  /** The value, NULL when the key is unknown; valid until the next change. */
  const std::string* find(std::string_view key) const;
  void remove(std::string_view key);

  size_t size() const { return keys_.size(); }
  const std::string& key(size_t i) const { return keys_[i]; }
  const std::string& value(size_t i) const { return values_[i]; }
  /** Both as arrays of C strings, parallel; valid until the next change. */
  std::span<const char* const> key_strings() const { return key_strings_; }
  std::span<const char* const> value_strings() const { return value_strings_; }

 private:
  size_t position(std::string_view key) const;
  bool holds(size_t position, std::string_view key) const { return position < size() && keys_[position] == key; }
  void refresh();

  std::vector<std::string> keys_;
  std::vector<std::string> values_;
  std::vector<const char*> key_strings_;
  std::vector<const char*> value_strings_;
};

}  // namespace ortolan::base
