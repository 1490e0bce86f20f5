// Reading a profile; fused forms of products and convolutions count as those themselves.
#include "profile.h"

#include <nlohmann/json.hpp>

#include "common/files.h"

namespace ortolan::device_models {
namespace {

using Json = nlohmann::json;
using Dims = std::vector<double>;

/** Shapes of a list such as [{"float":[1,3]}, ...]. */
std::vector<Dims> shapes(const Json& list) {
  std::vector<Dims> result;
  for (const Json& tensor : list) result.push_back(tensor.begin().value().get<Dims>());
  return result;
}

double count(const Dims& dims) {
  double product = 1;
  for (double dim : dims) product *= dim;
  return product;
}

double element_bytes(const Json& list) {
  std::string type = list.empty() ? "float" : list[0].begin().key();
  return type == "float" ? 4 : type == "float16" ? 2 : type.find("64") != std::string::npos ? 8 : 1;
}

double number(const Json& args, const char* key) { return std::strtod(args.value(key, "0").c_str(), nullptr); }

double moved_elements(const Json& args) {
  const Json& outputs = args["output_type_shape"];
  return (number(args, "activation_size") + number(args, "output_size")) / element_bytes(outputs);
}

// A weight that the library keeps packed is missing from the inputs.
double operations_of(const std::string& type, const Json& args) {
  std::vector<Dims> inputs = shapes(args["input_type_shape"]), outputs = shapes(args["output_type_shape"]);
  if (inputs.empty() || outputs.empty()) return moved_elements(args);
  bool is_product = type.find("MatMul") != std::string::npos || type.ends_with("Gemm");
  if (is_product && !inputs[0].empty()) return count(outputs[0]) * inputs[0].back();
  bool has_filters = inputs.size() > 1 && inputs[1].size() > 2;
  if (type.ends_with("Conv") && has_filters) return count(outputs[0]) * count(inputs[1]) / inputs[1][0];
  if (type == "ConvTranspose" && has_filters) return count(inputs[0]) * count(inputs[1]) / inputs[1][0];
  return moved_elements(args);
}

}  // namespace

std::vector<NodeWork> read_profile(const std::string& path) {
  std::vector<NodeWork> nodes;
  const std::string ending = "_kernel_time";
  for (const Json& event : Json::parse(tools::read_file(path))) {
    std::string name = event.value("name", "");
    if (event.value("cat", "") != "Node" || !name.ends_with(ending)) continue;
    const Json& args = event["args"];
    NodeWork work{name.substr(0, name.size() - ending.size()), args.value("op_name", ""), args.value("provider", "")};
    work.operations = operations_of(work.type, args);
    nodes.push_back(std::move(work));
  }
  return nodes;
}

}  // namespace ortolan::device_models
