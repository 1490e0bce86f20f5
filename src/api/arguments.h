// Arguments of API functions that are no handles: texts, arrays, element types, buffers to fill.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "api/handles.h"
#include "tensor/element_type.h"

namespace ortolan::api {
using namespace tensor;

/** A text argument; throws when it is NULL. */
inline const char* text(const char* argument, const char* name) {
  require_argument(argument, name);
  return argument;
}

/** An array argument; NULL is fine when `count` is 0. */
template <class T>
std::span<T> array(T* items, size_t count, const char* name) {
  if (count != 0) require_argument(items, name);
  return {items, count};
}

/** Writes an out parameter; throws when the caller passed NULL for it. */
template <class T, class U>
void put(T* out, U&& value, const char* name = "out") {
  require_argument(out, name);
  *out = static_cast<T>(std::forward<U>(value));
}

/** Hands a new object to the caller: `give(out, core)` makes it from the core value (moved) for the handle. */
template <class Handle, class T>
void give(Handle** out, T&& core, const char* name = "out") {
  require_argument(out, name);
  *out = wrap<Handle>(std::make_unique<Core<Handle>>(std::forward<T>(core)));
}

/** The border between the header's element type numbers and ONNX's, which differ for the last three. */
ElementType element_type_from_api(ONNXTensorElementDataType type);
ONNXTensorElementDataType element_type_to_api(ElementType type);

/** The two-call protocol: with `out` NULL only *size is set; otherwise `items` go to `out`, which holds *size items.
    A buffer that is too small is an error that still sets *size. */
template <class T>
void fill_items(std::span<const T> items, T* out, size_t* size) {
  require_argument(size, "size");
  size_t room = *size;
  *size = items.size();
  if (out == nullptr) return;
  require(room >= items.size(), ErrorCode::kInvalidArgument, "the buffer has room for ", room, " items, but ",
          items.size(), " are needed; ask for the size first with a NULL buffer");
  std::copy(items.begin(), items.end(), out);
}

/** Fills an array of `room` places with `items`; `item(i)` is what goes to place i. Fewer places are an error. */
template <class T, class Item>
void copy_items(size_t count, T* out, size_t room, const char* name, Item&& item) {
  require(room >= count, ErrorCode::kInvalidArgument, "the array '", name, "' has room for ", room, " items, but ",
          count, " are needed; ask for their number first");
  auto places = array(out, count, name);
  for (size_t i = 0; i < count; ++i) places[i] = item(i);
}

/** The same for handles of the objects that `cores` points to. */
template <class Handle, class Cores>
void copy_handles(const Cores& cores, Handle** out, size_t room, const char* name) {
  copy_items(cores.size(), out, room, name, [&](size_t i) { return wrap<Handle>(&*cores[i]); });
}

/** The same for a text with its NUL. */
inline void fill_text(const std::string& value, char* out, size_t* size) {
  fill_items(std::span<const char>(value.c_str(), value.size() + 1), out, size);
}

}  // namespace ortolan::api
