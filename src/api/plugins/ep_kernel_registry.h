// The kernels that a plugin provider registers: what each is for, and which one a node gets.
#pragma once

#include <climits>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.h"
#include "onnxruntime_c_api.h"

namespace ortolan::api {

/** OrtKernelDef, and OrtKernelDefBuilder, which is one that still changes. */
struct KernelDef {
  std::string op_type;
  std::string domain;
  std::string provider;
  int since = 1;
  int until = INT_MAX;
  std::map<size_t, OrtMemType> input_memory;  // others have OrtMemTypeDefault
  std::map<size_t, OrtMemType> output_memory;
  std::vector<std::pair<std::string, tensor::TypeSet>> types;  // by type parameter, or name of an input or output
  std::vector<std::pair<int, int>> aliases;                    // input, output: always the same memory
  std::vector<std::pair<int, int>> mutable_aliases;            // output may be written over the input

  OrtMemType memory_of_input(size_t i) const;
  OrtMemType memory_of_output(size_t i) const;
  bool input_on_cpu(size_t i) const { return memory_of_input(i) != OrtMemTypeDefault; }
  bool output_on_cpu(size_t i) const { return memory_of_output(i) != OrtMemTypeDefault; }
};

/** A registered kernel. */
struct PluginKernel {
  KernelDef def;
  OrtKernelCreateFunc create = nullptr;
  void* state = nullptr;
};

/** OrtKernelRegistry. Copies are independent, so that a session can keep one. */
class PluginKernelRegistry {
 public:
  void add(const KernelDef& def, OrtKernelCreateFunc create, void* state);
  /** The first kernel of `provider` that fits the node; NULL, with the reason in *why, when none does. A kernel for
      one version fits operators that this very version brought; one for a range those that it holds. */
  const PluginKernel* find(const graph::Node& node, std::string_view provider, std::string* why = nullptr) const;

 private:
  std::unordered_map<std::string, std::deque<PluginKernel>> kernels_;  // by "domain:operator"
};

}  // namespace ortolan::api
