// What a model file says about itself, without any weights.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ortolan::tools {

struct ModelFile {
  struct Port {
    std::string name, type;
  };
  struct Node {
    std::string name, type, domain;
    std::vector<std::string> inputs, outputs;
    int depth = 0;  // 0: main graph; subgraphs follow their node, one deeper
    std::string operator_name() const { return domain.empty() ? type : domain + "." + type; }
  };

  std::string path, graph, description, producer;
  int64_t ir_version = 0;
  std::map<std::string, int64_t> opsets;
  std::map<std::string, std::string> metadata;
  std::vector<Port> inputs, outputs;  // inputs that are weights left out
  std::vector<Node> nodes;
  size_t weight_count = 0, function_count = 0;
  uint64_t weight_bytes = 0;
};

ModelFile read_model_file(const std::string& path);

}  // namespace ortolan::tools
