// What a sequence of calls of the API works on: live handles, and choices that a string of bytes makes.
#pragma once

#include <onnxruntime_c_api.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "session_run.h"

namespace ortolan::fuzz {

/** Choices from bytes, one a choice; zeros behind their end. */
class Choices {
 public:
  explicit Choices(std::span<const uint8_t> bytes) : rest_(bytes) {}
  bool empty() const { return rest_.empty(); }
  uint8_t byte() {
    if (rest_.empty()) return 0;
    uint8_t value = rest_.front();
    rest_ = rest_.subspan(1);
    return value;
  }
  size_t below(size_t count) { return byte() % count; }
  bool once_in(size_t count) { return below(count) == count - 1; }
  template <class List>
  const auto& one_of(const List& items) {
    return items[below(std::size(items))];
  }

 private:
  std::span<const uint8_t> rest_;
};

/** A handle that is released when nobody needs it any more; it keeps alive what it needs itself. */
template <class T>
using Held = std::shared_ptr<T>;
template <class T>
Held<T> held(T* handle, void (*release)(T*), std::vector<std::shared_ptr<const void>> needs = {}) {
  return Held<T>(handle, [release, needs = std::move(needs)](T* object) { release(object); });
}

/** A few live handles of a kind. */
template <class T>
class Pool {
 public:
  void add(Held<T> handle) {
    if (items_.size() == kMost) items_.erase(items_.begin());
    items_.push_back(std::move(handle));
  }
  /** One of them; NULL when there is none. */
  Held<T> pick(Choices& choices) const { return items_.empty() ? nullptr : items_[choices.below(items_.size())]; }
  void drop(Choices& choices) {
    if (!items_.empty()) items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(choices.below(items_.size())));
  }

 private:
  static constexpr size_t kMost = 6;
  std::vector<Held<T>> items_;
};

struct Handles {
  explicit Handles(std::span<const uint8_t> bytes) : choices(bytes) {}

  Choices choices;
  std::vector<std::shared_ptr<std::vector<uint64_t>>> buffers;  // memory of the caller's, until the end
  std::vector<Held<OrtValue>> initializers;                     // they outlive the sessions
  Pool<OrtMemoryInfo> memory_infos;
  Pool<OrtValue> values;
  Pool<OrtTypeInfo> types;
  Pool<OrtTensorTypeAndShapeInfo> shapes;
  Pool<OrtSessionOptions> options;
  Pool<OrtRunOptions> run_options;
  Pool<OrtPrepackedWeightsContainer> containers;
  Pool<OrtSession> sessions;
  Pool<OrtModelMetadata> metadata;
  Pool<OrtAllocator> allocators;
  Pool<OrtIoBinding> bindings;

  const char* text();
  std::vector<int64_t> dims();
  ONNXTensorElementDataType element();
  OrtAllocator* default_allocator();
  /** Frees a text of the default allocator's. */
  void free(char* text);
  void add_value(OrtValue* value) {
    if (value != nullptr) values.add(held(value, api().ReleaseValue));
  }
};

using Call = void (*)(Handles&);
/** All calls, by what they are about. */
std::span<const Call> value_calls();
std::span<const Call> type_calls();
std::span<const Call> option_calls();
std::span<const Call> session_calls();
std::span<const Call> binding_calls();

}  // namespace ortolan::fuzz
