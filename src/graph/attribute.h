// A node's attribute: a name and a value of one of ONNX's attribute kinds.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "graph/type_info.h"

namespace ortolan::graph {

class Graph;

/** Numbers are those of ONNX's AttributeProto.AttributeType. */
enum class AttributeKind : uint8_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
  kTensors = 9,
  kGraphs = 10,
  kSparseTensor = 11,
  kSparseTensors = 12,
  kTypeProto = 13,
  kTypeProtos = 14,
};

using AttributeValue =
    std::variant<std::monostate, float, int64_t, std::string, Tensor, std::shared_ptr<Graph>, std::vector<float>,
                 std::vector<int64_t>, std::vector<std::string>, std::vector<Tensor>,
                 std::vector<std::shared_ptr<Graph>>, std::shared_ptr<SparseTensor>,
                 std::vector<std::shared_ptr<SparseTensor>>, TypeInfo, std::vector<TypeInfo>>;

struct Attribute {
  std::string name;
  AttributeValue value;
  AttributeKind kind() const { return static_cast<AttributeKind>(value.index()); }
};

}  // namespace ortolan::graph
