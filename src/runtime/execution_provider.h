// The interface between the session and whatever executes nodes: the CPU provider, plugin providers, test fakes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/kernel_registry.h"

namespace ortolan::runtime {

/** A set of nodes that a provider takes as one: a single node for a kernel, several to compile together. */
struct NodeGroup {
  std::vector<const Node*> nodes;
  bool compile = false;  // true: one fused node made by compile(); false: a kernel each from the registry
};

/** Why a provider leaves a node to the next one. */
struct Declined {
  const Node* node;
  std::string reason;
};

struct Capability {
  std::vector<NodeGroup> groups;
  std::vector<Declined> declined;
};

/** Copies tensors between devices. */
class DataTransfer {
 public:
  virtual ~DataTransfer() = default;
  virtual bool can_copy(const Device& from, const Device& to) const = 0;
  virtual void copy(const Tensor& from, Tensor& to) const = 0;
};

/** Executes nodes on one device. Made once a session; calls come from the thread that creates the session, except
    run hooks, which come from the running threads. */
class ExecutionProvider {
 public:
  virtual ~ExecutionProvider() = default;
  /** The provider's registered name, as "CPUExecutionProvider". */
  virtual const std::string& type() const = 0;
  virtual Device device() const { return {}; }
  /** Which nodes of `graph` not yet assigned it takes; `graph` may be a subgraph. */
  virtual Capability get_capability(const Graph& graph) = 0;
  /** Its kernels; NULL for a provider that only compiles. */
  virtual const KernelRegistry* kernel_registry() const { return nullptr; }
  /** One kernel for each compiled group, in order; inputs and outputs of group i are those of fused node i. */
  virtual std::vector<std::unique_ptr<OpKernel>> compile(std::span<const NodeGroup> groups,
                                                         std::span<const Node* const> fused) {
    return {};
  }
  virtual std::shared_ptr<Allocator> allocator() const { return cpu_allocator(); }
  /** NULL when the device's memory is the CPU's. */
  virtual const DataTransfer* data_transfer() const { return nullptr; }
  virtual void on_run_start() {}
  virtual void on_run_end() {}
  virtual const std::vector<std::pair<std::string, std::string>>& options() const = 0;
};

/** The built-in provider that takes every node with a kernel of its own or a custom operator's; always the last. */
std::unique_ptr<ExecutionProvider> make_cpu_execution_provider();

}  // namespace ortolan::runtime
