// Brings a run's tensors to the group and its results to where the runtime wants them.
#include "gpu/epkit/compiled_node.h"

#include <algorithm>

namespace ortolan::gpu::epkit {
namespace {

/** What one run needs beside the runtime's tensors: device memory for those that lie elsewhere or at odd offsets. */
class Run : public GroupOutputs {
 public:
  Run(const Host& host, RunQueue& queue, OrtKernelContext* context) : host_(host), queue_(queue), context_(context) {}

  /** `read`: the host needs the elements. */
  GroupInput input(size_t position, ElementType type, bool read) {
    const OrtValue* value = nullptr;
    check(host_, host_.api->KernelContext_GetInput(context_, position, &value));
    if (value == nullptr) fail(ORT_INVALID_ARGUMENT, "input " + std::to_string(position) + " is missing");
    Tensor tensor = tensor_of(host_, value);
    check_type(tensor, type, "input", position);
    return {tensor.shape, place_input(tensor), read ? host_side(tensor) : nullptr};
  }

  BufferRange make(size_t i, ElementType type, const Shape& shape) override {
    OrtValue* value = nullptr;
    check(host_, host_.api->KernelContext_GetOutput(context_, i, shape.data(), shape.size(), &value));
    Tensor tensor = tensor_of(host_, value);
    check_type(tensor, type, "output", i);
    if (tensor.bytes == 0) return scratch(4);
    if (memory().holds(tensor.address)) memory().range_to_write(tensor.address, tensor.bytes);
    if (is_bindable(tensor)) return memory().range(tensor.address, tensor.bytes);
    late_.push_back({tensor, scratch(tensor.bytes)});
    return late_.back().second;
  }

  /** Copies results to places that no kernel can write. */
  void deliver() {
    bool to_host = false;
    for (auto& [tensor, range] : late_) {
      if (memory().holds(tensor.address)) {
        queue_.busy().copy(memory().range(tensor.address, tensor.bytes), range);
      } else {
        queue_.busy().read(tensor.address, range);
        to_host = true;
      }
    }
    if (to_host || staged_) queue_.finish();
  }

  /** Waits for work that reads the runtime's memory, after a failure: what it reports is no news. */
  void abandon() noexcept {
    try {
      queue_.finish();
    } catch (const Error&) {
    }
  }

 private:
  DeviceMemory& memory() { return queue_.context().memory(); }
  // A compiled model says the types of its nodes' values apart from the nodes.
  static void check_type(const Tensor& tensor, ElementType type, const char* side, size_t i) {
    if (tensor.type == type) return;
    fail(ORT_INVALID_GRAPH, std::string(side) + ' ' + std::to_string(i) + " is " + type_name(tensor.type) +
                                " where the compiled group has " + type_name(type) + "; compile the model again");
  }
  bool is_bindable(const Tensor& tensor) {
    if (!memory().holds(tensor.address)) return false;
    return memory().range(tensor.address, tensor.bytes).offset % queue_.context().device().traits().offset_alignment ==
           0;
  }
  BufferRange scratch(size_t bytes) {
    buffers_.push_back(queue_.context().device().allocate(bytes));
    return {buffers_.back().get(), 0, bytes};
  }
  /** NULL where only the device has the elements. */
  const std::byte* host_side(const Tensor& tensor) {
    if (tensor.bytes == 0) return nullptr;
    if (!memory().holds(tensor.address)) return static_cast<const std::byte*>(tensor.address);
    remembered_.push_back(memory().remembered(tensor.address, tensor.bytes));
    return remembered_.back().empty() ? nullptr : remembered_.back().data();
  }
  BufferRange place_input(const Tensor& tensor) {
    if (tensor.bytes == 0) return scratch(4);
    if (is_bindable(tensor)) return memory().range(tensor.address, tensor.bytes);
    BufferRange range = scratch(tensor.bytes);
    if (memory().holds(tensor.address)) {
      queue_.busy().copy(range, memory().range(tensor.address, tensor.bytes));
    } else if (tensor.reached_by_host) {
      queue_.busy().write(range, tensor.address);
      staged_ = true;
    } else {
      fail(ORT_INVALID_ARGUMENT, "an input is in the memory of another device");
    }
    return range;
  }

  const Host& host_;
  RunQueue& queue_;
  OrtKernelContext* context_;
  std::vector<std::unique_ptr<Buffer>> buffers_;
  std::vector<std::pair<Tensor, BufferRange>> late_;
  std::vector<std::vector<std::byte>> remembered_;
  bool staged_ = false;  // from memory of the host that lives as long as the run
};

std::vector<ElementType> types_of(const Graph& group) {
  std::vector<ElementType> types;
  for (int input : group.inputs) types.push_back(group.values[input].type);
  return types;
}

}  // namespace

CompiledNode::CompiledNode(const Host& host, DeviceContext& context, Engine& engine, Progress& progress,
                           ProfileRecords& records, Graph group, std::vector<int> input_positions)
    : OrtNodeComputeInfo{},
      host_(host),
      context_(context),
      records_(records),
      input_positions_(std::move(input_positions)),
      input_types_(types_of(group)) {
  ort_version_supported = host.level;
  CreateState = create_state;
  Compute = compute;
  ReleaseState = release_state;
  group_ = std::make_unique<CompiledGroup>(engine, std::move(group), &progress);
}

void CompiledNode::run(OrtKernelContext* context) {
  void* handle = nullptr;
  check(host_, host_.api->KernelContext_GetGPUComputeStream(context, &handle));
  ScopedQueue queue(context_, handle, &records_);
  Run run(host_, *queue, context);
  try {
    std::vector<GroupInput> inputs;
    std::span<const int> read = group_->read_positions();
    for (size_t i = 0; i < input_positions_.size(); i++) {
      bool is_read = std::find(read.begin(), read.end(), static_cast<int>(i)) != read.end();
      inputs.push_back(run.input(static_cast<size_t>(input_positions_[i]), input_types_[i], is_read));
    }
    group_->run(queue->busy(), queue->working(), inputs, run);
    run.deliver();
  } catch (...) {
    run.abandon();
    throw;
  }
  queue.close();
}

OrtStatus* ORT_API_CALL CompiledNode::create_state(OrtNodeComputeInfo* self, OrtNodeComputeContext* context,
                                                   void** state) noexcept {
  const auto& node = *static_cast<CompiledNode*>(self);
  return guard(node.host_, [&] { *state = new std::string(node.host_.ep->NodeComputeContext_NodeName(context)); });
}

OrtStatus* ORT_API_CALL CompiledNode::compute(OrtNodeComputeInfo* self, void* state,
                                              OrtKernelContext* context) noexcept {
  auto& node = *static_cast<CompiledNode*>(self);
  return guard(node.host_, [&] {
    Measured measured(node.records_, *static_cast<std::string*>(state));
    node.run(context);
  });
}

void ORT_API_CALL CompiledNode::release_state(OrtNodeComputeInfo*, void* state) noexcept {
  delete static_cast<std::string*>(state);
}

}  // namespace ortolan::gpu::epkit
