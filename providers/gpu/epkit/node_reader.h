// What the ABI says of nodes: lists, names, attributes.
#pragma once

#include <string>
#include <vector>

#include "gpu/epkit/host.h"

namespace ortolan::gpu::epkit {

/** Each list of the ABI is read the same way: its length, then an array of that length. */
template <class Item, class Owner, class Count, class Fill>
std::vector<const Item*> list(const Host& host, const Owner* owner, Count count, Fill fill) {
  size_t length = 0;
  check(host, count(owner, &length));
  std::vector<const Item*> items(length);
  check(host, fill(owner, items.data(), length));
  return items;
}

std::vector<const OrtNode*> nodes_of(const Host& host, const OrtGraph* graph);
std::vector<const OrtValueInfo*> inputs_of(const Host& host, const OrtNode* node);
std::vector<const OrtValueInfo*> outputs_of(const Host& host, const OrtNode* node);
/** Empty for those that are left out. */
std::vector<std::string> names_of(const Host& host, const std::vector<const OrtValueInfo*>& values);
std::string name_of(const Host& host, const OrtNode* node);
std::string operator_of(const Host& host, const OrtNode* node);

/** Reads attributes of one kind as vectors. */
template <class T>
std::vector<T> read_list(const Host& host, const OrtOpAttr* attribute, OrtOpAttrType type) {
  size_t bytes = 0;
  OrtStatus* status = host.api->ReadOpAttr(attribute, type, nullptr, 0, &bytes);
  host.api->ReleaseStatus(status);  // that there is no room is what it says
  std::vector<T> values(bytes / sizeof(T));
  if (bytes > 0) check(host, host.api->ReadOpAttr(attribute, type, values.data(), bytes, &bytes));
  return values;
}

template <class T>
T read_one(const Host& host, const OrtOpAttr* attribute, OrtOpAttrType type) {
  T value{};
  size_t bytes = 0;
  check(host, host.api->ReadOpAttr(attribute, type, &value, sizeof(T), &bytes));
  return value;
}

std::string read_text(const Host& host, const OrtOpAttr* attribute);
std::vector<std::string> read_texts(const Host& host, const OrtOpAttr* attribute);

/** NULL where the node has none of that name. */
const OrtOpAttr* find_attribute(const Host& host, const OrtNode* node, const char* name);

}  // namespace ortolan::gpu::epkit
