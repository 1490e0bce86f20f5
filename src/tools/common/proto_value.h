// Values in .pb files, as ONNX test data holds them: one tensor, sequence, map or optional a file.
#pragma once

#include <string>

#include "value.h"

namespace ortolan::tools {

struct NamedValue {
  std::string name;
  Value value;
};

// Reads the message kind that the type asks for; an unknown kind is read as a tensor.
NamedValue read_proto_value(const std::string& path, const TypeSpec& type);
// Writes a tensor.
void write_proto_tensor(const std::string& path, const std::string& name, const Value& value);

}  // namespace ortolan::tools
