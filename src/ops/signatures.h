// What operators call their inputs, outputs and type parameters: facts of the specification that the schema rows, which
// only check, do not need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ortolan::ops {

/** An input or output as the operator declares it; a variadic one stands for many. */
struct FormalValue {
  std::string name;
  int parameter = -1;  // index of its type parameter; -1 where the type is fixed
};

/** A type parameter, as "T". */
struct TypeParameter {
  std::string name;
  std::vector<const char*> types;  // as "tensor(float)"; they live as long as the process
  std::vector<size_t> inputs;      // the declared inputs and outputs that have the type
  std::vector<size_t> outputs;
};

struct OperatorSignature {
  int since = 0;
  std::vector<FormalValue> inputs;
  std::vector<FormalValue> outputs;
  std::vector<TypeParameter> parameters;
};

/** The signature that the operator has at `version` of its domain ("" and "ai.onnx" are the same); NULL when nothing is
    known of it. It lives as long as the process. */
const OperatorSignature* find_signature(std::string_view domain, std::string_view name, int version);

}  // namespace ortolan::ops
