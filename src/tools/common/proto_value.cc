// Reading and writing values in the messages of ONNX test data.
#include "proto_value.h"

#include <algorithm>
#include <cstring>

#include "files.h"
#include "onnx_data.pb.h"
#include "onnx_format.pb.h"

namespace ortolan::tools {
namespace {

namespace pb = ortolan_onnx;

// Elements that a typed field holds as wider numbers: keeps the low bytes of each.
template <class Field>
void narrow(const Field& field, size_t width, std::vector<std::byte>& bytes) {
  size_t count = std::min(bytes.size() / width, size_t(field.size()));
  for (size_t i = 0; i < count; ++i) {
    auto element = field.Get(int(i));
    std::memcpy(&bytes[i * width], &element, width);
  }
}

void read_typed_fields(const pb::TensorProto& proto, Value& value) {
  size_t width = std::max<size_t>(1, traits(value.type).bits / 8);
  switch (value.type) {
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX64:
      return narrow(proto.float_data(), 4, value.bytes);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_DOUBLE:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_COMPLEX128:
      return narrow(proto.double_data(), 8, value.bytes);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64:
      return narrow(proto.int64_data(), 8, value.bytes);
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT32:
    case ONNX_TENSOR_ELEMENT_DATA_TYPE_UINT64:
      return narrow(proto.uint64_data(), width, value.bytes);
    default:
      return narrow(proto.int32_data(), width, value.bytes);
  }
}

Value to_value(const pb::TensorProto& proto) {
  for (int64_t dim : proto.dims()) {
    if (dim < 0) fail("a tensor has the negative dimension ", dim);
  }
  Value value = make_tensor(type_of_file(proto.data_type()), {proto.dims().begin(), proto.dims().end()});
  if (value.type == ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING) {
    value.strings.assign(proto.string_data().begin(), proto.string_data().end());
    value.strings.resize(value.elements());
  } else if (proto.has_raw_data()) {
    const std::string& raw = proto.raw_data();
    if (raw.size() != value.bytes.size()) {
      fail("tensor '", proto.name(), "' of ", to_text(value.type, value.shape), " holds ", raw.size(), " bytes, not ",
           value.bytes.size());
    }
    if (!raw.empty()) std::memcpy(value.bytes.data(), raw.data(), raw.size());
  } else {
    read_typed_fields(proto, value);
  }
  return value;
}

Value to_value(const pb::MapProto& proto);
Value to_value(const pb::OptionalProto& proto);

Value to_value(const pb::SequenceProto& proto) {
  Value value;
  value.kind = Value::Kind::kSequence;
  if (proto.sparse_tensor_values_size()) fail("sequences of sparse tensors cannot be read");
  for (const auto& item : proto.tensor_values()) value.items.push_back(to_value(item));
  for (const auto& item : proto.sequence_values()) value.items.push_back(to_value(item));
  for (const auto& item : proto.map_values()) value.items.push_back(to_value(item));
  for (const auto& item : proto.optional_values()) value.items.push_back(to_value(item));
  return value;
}

// The values of a map: one tensor, or a sequence of one-element tensors that become one.
Value joined(const pb::SequenceProto& proto, size_t keys) {
  if (proto.tensor_values_size() == 1) return to_value(proto.tensor_values(0));
  if (size_t(proto.tensor_values_size()) != keys || keys == 0) fail("a map holds other values than one a key");
  Value all;
  for (const auto& item : proto.tensor_values()) {
    Value one = to_value(item);
    if (all.kind == Value::Kind::kNone) all = make_tensor(one.type, {0});
    all.bytes.insert(all.bytes.end(), one.bytes.begin(), one.bytes.end());
    all.strings.insert(all.strings.end(), one.strings.begin(), one.strings.end());
  }
  all.shape = {int64_t(keys)};
  return all;
}

Value to_value(const pb::MapProto& proto) {
  bool texts = proto.string_keys_size() > 0;
  size_t count = texts ? proto.string_keys_size() : proto.keys_size();
  Value keys =
      make_tensor(texts ? ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING : ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, {int64_t(count)});
  if (texts) {
    keys.strings.assign(proto.string_keys().begin(), proto.string_keys().end());
  } else {
    narrow(proto.keys(), 8, keys.bytes);
  }
  Value value;
  value.kind = Value::Kind::kMap;
  value.items = {std::move(keys), joined(proto.values(), count)};
  return value;
}

Value to_value(const pb::OptionalProto& proto) {
  if (proto.has_tensor_value()) return to_value(proto.tensor_value());
  if (proto.has_sequence_value()) return to_value(proto.sequence_value());
  if (proto.has_map_value()) return to_value(proto.map_value());
  if (proto.has_optional_value()) return to_value(proto.optional_value());
  if (proto.has_sparse_tensor_value()) fail("optional sparse tensors cannot be read");
  return {};
}

template <class Message>
NamedValue parse(const std::string& path) {
  Message message;
  if (!message.ParseFromString(read_file(path))) fail(path, " is no valid test data: its message cannot be parsed");
  try {
    return {message.name(), to_value(message)};
  } catch (const ToolError& error) {
    fail(path, ": ", error.what());
  }
}

}  // namespace

NamedValue read_proto_value(const std::string& path, const TypeSpec& type) {
  switch (type.kind) {
    case ONNX_TYPE_SEQUENCE:
      return parse<pb::SequenceProto>(path);
    case ONNX_TYPE_MAP:
      return parse<pb::MapProto>(path);
    case ONNX_TYPE_OPTIONAL:
      return parse<pb::OptionalProto>(path);
    case ONNX_TYPE_SPARSETENSOR:
      fail(path, ": sparse tensors cannot be read");
    default:
      return parse<pb::TensorProto>(path);
  }
}

void write_proto_tensor(const std::string& path, const std::string& name, const Value& value) {
  if (value.kind != Value::Kind::kTensor) fail("cannot write '", name, "' to ", path, ": it is no tensor");
  pb::TensorProto proto;
  proto.set_name(name);
  proto.set_data_type(traits(value.type).file_type);
  for (int64_t dim : value.shape) proto.add_dims(dim);
  for (const std::string& text : value.strings) proto.add_string_data(text);
  if (value.strings.empty()) proto.set_raw_data(value.bytes.data(), value.bytes.size());
  write_file(path, proto.SerializeAsString());
}

}  // namespace ortolan::tools
