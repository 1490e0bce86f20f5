// Where the values of a partitioned graph are in a run, and the copies between devices.
#pragma once

#include <memory>
#include <vector>

#include "runtime/kernels/custom_operator.h"
#include "runtime/providers/devices.h"
#include "runtime/session/session.h"

namespace ortolan::runtime {

/** Brings a value to one memory: a view where it is there already. */
class CopyOperator final : public CustomOperator {
 public:
  /** `devices` must outlive the kernels made from it. */
  CopyOperator(const MemoryInfo& target, const DeviceMemories& devices);
  void infer(ops::InferContext& context) const override;
  std::unique_ptr<OpKernel> make(const KernelInfo& info) const override;
  Reuse reuse() const override { return Reuse::kView; }

 private:
  const MemoryInfo& target_;
  const DeviceMemories& devices_;
};

inline constexpr const char* kCopyDomain = "ortolan";
inline constexpr const char* kCopyName = "Copy";

/** True for the nodes that place_values adds. */
bool is_copy(const Node& node);

/** Sets ValueInfo::memory all over the graph and its subgraphs, and adds a Copy node (one for each value and memory,
    in the graph of the value) where a node needs a value in another place. Constants are copied now, into initializers
    on the device, once each. Values other than tensors stay with the CPU. The operators of the Copy nodes come back;
    they must outlive the graph. */
std::vector<std::unique_ptr<CustomOperator>> place_values(Graph& graph,
                                                          std::span<const std::unique_ptr<ExecutionProvider>> providers,
                                                          const DeviceMemories& devices);

/** The copies that runs of a placed graph make; `cpu` is the type of the provider whose values are on the CPU. */
std::vector<PlacedCopy> list_copies(Graph& graph, const std::string& cpu);

/** Whether elements of an input of a placed graph are read in the CPU's memory, or handed out as an output. */
bool read_on_cpu(const ValueInfo& input);

/** Whether in a placed graph the nodes on the CPU compute from shapes and constants alone, for the provider `device`,
    which has all other nodes and makes all outputs: no element goes from or to the CPU but as an input of the run. */
bool computes_from_shapes(const Graph& graph, const std::string& device, const std::string& cpu);

/** Where the nodes that read a graph input expect it: the first reader's memory. */
const MemoryInfo& expected_memory(const ValueInfo& input);

}  // namespace ortolan::runtime
