// What a custom operator's kernel may ask about its node, also after it has been made.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/values/type_descriptions.h"
#include "base/log.h"
#include "graph/attribute.h"
#include "onnxruntime_c_api.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::api {

struct NamedType {
  std::string name;
  TypeDescription type;
};

/** A copy of what a node says; tensors share their memory. Logger and config belong to the session. */
struct KernelDescription {
  std::string node_name;
  std::string op_type;
  std::string domain;
  int since_version = 0;
  std::vector<NamedType> inputs;
  std::vector<NamedType> outputs;
  std::vector<graph::Attribute> attributes;
  std::vector<tensor::Value> constants;  // of each input; empty where it is not constant
  const base::Logger* logger = nullptr;
  const std::map<std::string, std::string>* config = nullptr;
  base::ThreadPool* threads = nullptr;
  const OrtEp* ep = nullptr;                     // the plugin's provider; NULL for kernels of others
  std::shared_ptr<tensor::Allocator> allocator;  // of that provider's memory; NULL: the CPU's
};

std::shared_ptr<KernelDescription> describe_kernel(const runtime::KernelInfo& info);

/** Behind OrtKernelInfo. */
struct KernelInfoObject {
  std::shared_ptr<const KernelDescription> node;
  const runtime::KernelInfo* making = nullptr;  // while the kernel is made; copies have NULL
};

/** A logger for kernels that run outside any session. */
const base::Logger& fallback_logger();

}  // namespace ortolan::api
