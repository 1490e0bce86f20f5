// Writes FlatBuffers of ORT format, table by table.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

namespace ortolan::onnx {

/** Writes a FlatBuffer: each part behind what refers to it. Places count from the start. */
class FlatWriter {
 public:
  FlatWriter() : bytes_(8, '\0') { bytes_.replace(4, 4, "ORTM"); }

  size_t root() { return refer(0, new_table()); }
  template <class T>
  void number(size_t table, size_t field, T value) {
    set(place(table, field), value);
  }
  void text(size_t table, size_t field, const std::string& value) { text_at(place(table, field), value); }
  size_t table(size_t parent, size_t field) { return refer(place(parent, field), new_table()); }
  std::vector<size_t> tables(size_t parent, size_t field, size_t count) {
    size_t items = vector(place(parent, field), count, 4);
    std::vector<size_t> made;
    for (size_t i = 0; i < count; ++i) made.push_back(refer(items + 4 * i, new_table()));
    return made;
  }
  void texts(size_t parent, size_t field, const std::vector<std::string>& values) {
    size_t items = vector(place(parent, field), values.size(), 4);
    for (size_t i = 0; i < values.size(); ++i) text_at(items + 4 * i, values[i]);
  }
  template <class T>
  void numbers(size_t parent, size_t field, const std::vector<T>& values) {
    size_t items = vector(place(parent, field), values.size(), sizeof(T));
    if (!values.empty()) std::memcpy(&bytes_[items], values.data(), values.size() * sizeof(T));
  }
  /** A field that refers to a table that is there already. */
  void share(size_t parent, size_t field, size_t table) { refer(place(parent, field), table); }
  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr size_t kFields = 13;
  static constexpr size_t kDescription = 4 + 2 * kFields;

  template <class T>
  void set(size_t at, T value) {
    std::memcpy(&bytes_[at], &value, sizeof value);
  }
  size_t append(size_t count) {
    bytes_.resize((bytes_.size() + 7) / 8 * 8);
    bytes_.append(count, '\0');
    return bytes_.size() - count;
  }
  size_t refer(size_t at, size_t target) {
    set(at, static_cast<uint32_t>(target - at));
    return target;
  }
  /** A table of eight bytes a field, no field set yet. */
  size_t new_table() {
    size_t description = append(kDescription);
    set(description, static_cast<uint16_t>(kDescription));
    size_t at = append(8 + 8 * kFields);
    set(at, static_cast<int32_t>(at - description));
    descriptions_[at] = description;
    return at;
  }
  size_t place(size_t table, size_t field) {
    set(descriptions_.at(table) + 4 + 2 * field, static_cast<uint16_t>(8 + 8 * field));
    return table + 8 + 8 * field;
  }
  size_t vector(size_t from, size_t count, size_t item) {
    size_t at = append(8 + count * item) + 4;
    refer(from, at);
    set(at, static_cast<uint32_t>(count));
    return at + 4;
  }
  void text_at(size_t from, const std::string& value) {
    bytes_.replace(vector(from, value.size(), 1), value.size(), value);
  }

  std::string bytes_;
  std::map<size_t, size_t> descriptions_;
};

}  // namespace ortolan::onnx
