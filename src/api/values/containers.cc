// Sequences, maps, optional values and opaque ones.
#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "ortolan.h"
#include "tensor/value.h"

namespace ortolan::api {
namespace {

/** A value of its own for the caller: tensors are copied with the allocator, maps are shared (nobody can write them).
 */
Value copy_of(const Value& item, OrtAllocator* allocator) {
  auto core = core_allocator(allocator);
  return item.is_tensor() ? Value(clone(item.tensor(), core)) : item;
}

Value item_of(const Value& value, int index) {
  if (value.kind() == ValueKind::kMap) {
    require(index == 0 || index == 1, ErrorCode::kFail, "index ", index,
            " is out of range; a map has its keys at 0 and its values at 1");
    return index == 0 ? value.map().keys : value.map().values;
  }
  const auto& items = value.sequence().items();
  require(index >= 0 && static_cast<size_t>(index) < items.size(), ErrorCode::kFail, "index ", index,
          " is out of range; the sequence has ", items.size(), " items");
  return items[static_cast<size_t>(index)];
}

Value make_container(const std::vector<Value>& parts, ONNXType type) {
  if (type == ONNX_TYPE_SEQUENCE) return make_sequence(parts);
  require(type == ONNX_TYPE_MAP, ErrorCode::kInvalidArgument, "values of type ", static_cast<int>(type),
          " cannot be made from others; only sequences and maps can");
  require(parts.size() == 2, ErrorCode::kInvalidArgument, "a map is made from two tensors, keys and values, not ",
          parts.size());
  return make_map(parts[0].tensor(), parts[1].tensor());
}

}  // namespace

OrtStatus* ORT_API_CALL GetValue(const OrtValue* value, int index, OrtAllocator* allocator, OrtValue** out) noexcept {
  return guard([&] { give(out, copy_of(item_of(unwrap(value, "value"), index), allocator)); });
}

OrtStatus* ORT_API_CALL GetValueCount(const OrtValue* value, size_t* out) noexcept {
  return guard([&] {
    const Value& core = unwrap(value, "value");
    put(out, core.kind() == ValueKind::kMap ? 2 : core.sequence().size());
  });
}

OrtStatus* ORT_API_CALL CreateValue(const OrtValue* const* in, size_t num_values, ONNXType value_type,
                                    OrtValue** out) noexcept {
  return guard([&] {
    require(num_values > 0, ErrorCode::kInvalidArgument, "num_values is 0; at least one value is needed");
    std::vector<Value> parts;
    for (const OrtValue* part : array(in, num_values, "in")) parts.push_back(unwrap(part, "in[i]"));
    give(out, make_container(parts, value_type));
  });
}

OrtStatus* ORT_API_CALL HasValue(const OrtValue* value, int* out) noexcept {
  return guard([&] { put(out, unwrap(value, "value").has_value()); });
}

// No opaque type can be registered with this library, so none is ever known.
OrtStatus* ORT_API_CALL CreateOpaqueValue(const char* domain_name, const char* type_name, const void*, size_t,
                                          OrtValue**) noexcept {
  return guard([&] {
    fail(ErrorCode::kInvalidArgument, "no opaque type '", text(domain_name, "domain_name"), ".",
         text(type_name, "type_name"), "' is registered");
  });
}

OrtStatus* ORT_API_CALL GetOpaqueValue(const char* domain_name, const char* type_name, const OrtValue* in, void*,
                                       size_t) noexcept {
  return guard([&] {
    unwrap(in, "in");
    fail(ErrorCode::kInvalidArgument, "the value is not opaque; no opaque type '", text(domain_name, "domain_name"),
         ".", text(type_name, "type_name"), "' is registered");
  });
}

}  // namespace ortolan::api

using namespace ortolan;
using namespace ortolan::api;

OrtStatus* ORT_API_CALL OrtGetSequenceItem(const OrtValue* sequence, size_t index, const OrtValue** out) noexcept {
  return guard([&] {
    const auto& items = unwrap(sequence, "sequence").sequence().items();
    require(index < items.size(), ErrorCode::kInvalidArgument, "index ", index, " is out of range; the sequence has ",
            items.size(), " items");
    put(out, wrap<const OrtValue>(&items[index]));
  });
}

OrtStatus* ORT_API_CALL OrtGetMapParts(const OrtValue* map, const OrtValue** keys, const OrtValue** values) noexcept {
  return guard([&] {
    const tensor::Map& core = unwrap(map, "map").map();
    put(keys, wrap<const OrtValue>(&core.keys), "keys");
    put(values, wrap<const OrtValue>(&core.values), "values");
  });
}

OrtStatus* ORT_API_CALL OrtGetMapRows(const OrtValue* sequence, const OrtValue** keys,
                                      const OrtValue** values) noexcept {
  return guard([&] {
    const tensor::MapRows* rows = unwrap(sequence, "sequence").sequence().rows();
    require_argument(values, "values");
    put(keys, rows ? wrap<const OrtValue>(&rows->keys) : nullptr, "keys");
    put(values, rows ? wrap<const OrtValue>(&rows->values) : nullptr, "values");
  });
}
