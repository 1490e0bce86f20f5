// Records launches, binds their external buffers, and makes them a graph.
#include "cuda/command_list.h"

#include <algorithm>

#include "gpu/device/checks.h"

namespace ortolan::gpu::cuda {
namespace {

constexpr size_t kLeastOfGraph = 3;  // launches: fewer are not started faster by a graph

const CudaKernel& kernel_of(const Launch& launch) { return static_cast<const CudaKernel&>(*launch.kernel); }

}  // namespace

KernelNodeParams RecordedLaunch::node() {
  return {function, groups[0], groups[1], groups[2], group_size[0], group_size[1], 1, 0, arguments.data(), nullptr};
}

CudaCommandList::CudaCommandList(std::shared_ptr<Context> context, const std::vector<Launch>& launches)
    : context_(std::move(context)) {
  for (const Launch& launch : launches) record(launch);
  // They stay where they are from here on, so that they can hold addresses of their own members.
  for (RecordedLaunch& launch : launches_) {
    for (CUdeviceptr& buffer : launch.buffers) launch.arguments.push_back(&buffer);
    launch.arguments.push_back(launch.params.data());
  }
}

void CudaCommandList::record(const Launch& launch) {
  const CudaKernel& kernel = kernel_of(launch);
  check_launch("cuda", kernel.name(), kernel.buffers(), context_->traits(), launch);
  RecordedLaunch recorded{
      launch.kernel, kernel.get(), launch.groups, kernel.group_size(), launch.after_barrier, {}, {}, {}};
  std::copy(launch.params.begin(), launch.params.end(), recorded.params.begin());
  for (const Binding& binding : launch.bindings) {
    const BufferRange& range = binding.range;
    recorded.buffers.push_back(binding.external < 0 ? bound_address_of(range, context_->traits()) : 0);
    if (binding.external < 0) continue;
    const auto external = static_cast<size_t>(binding.external);
    if (externals_.size() <= external) externals_.resize(external + 1);
    externals_[external].uses.push_back({launches_.size(), recorded.buffers.size() - 1, range});
  }
  launches_.push_back(std::move(recorded));
}

void CudaCommandList::bind(std::span<const BufferRange> externals) {
  for (size_t i = 0; i < externals_.size(); i++) {
    if (!externals_[i].uses.empty()) rebind(i, externals);
  }
}

void CudaCommandList::rebind(size_t i, std::span<const BufferRange> externals) {
  External& external = externals_[i];
  part_of_external("cuda", externals, i, {});  // it is given
  const CUdeviceptr address = address_of(externals[i]);
  if (external.is_bound && external.address == address && external.bytes == externals[i].bytes) return;
  external.is_bound = false;
  for (const ExternalUse& use : external.uses) {
    BufferRange part = part_of_external("cuda", externals, i, use.part);
    launches_[use.launch].buffers[use.argument] = bound_address_of(part, context_->traits());
    if (exec_.get() != nullptr) changed_.push_back(use.launch);
  }
  external = {address, externals[i].bytes, true, std::move(external.uses)};
}

void CudaCommandList::run(CUstream stream) {
  if (!has_run_ || launches_.size() < kLeastOfGraph) {
    for (size_t i = 0; i < launches_.size(); i++) launch(i, stream);
    has_run_ = true;
    return;
  }
  prepare_graph();
  context_->check(context_->driver().cuGraphLaunch(exec_.get(), stream), "cuGraphLaunch",
                  [&] { return "a list of " + std::to_string(launches_.size()) + " kernels"; });
}

void CudaCommandList::launch(size_t i, CUstream stream) {
  RecordedLaunch& launch = launches_[i];
  const auto [x, y, z] = launch.groups;
  CUresult code =
      context_->driver().cuLaunchKernel(launch.function, x, y, z, launch.group_size[0], launch.group_size[1], 1, 0,
                                        stream, launch.arguments.data(), nullptr);
  context_->check(code, "cuLaunchKernel", [&] { return "kernel " + launch.name(); });
}

void CudaCommandList::prepare_graph() {
  if (exec_.get() == nullptr || !update_graph()) make_graph();
  changed_.clear();
}

/** False where the driver wants a graph made anew. */
bool CudaCommandList::update_graph() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  for (size_t i : changed_) {
    KernelNodeParams node = launches_[i].node();
    if (context_->driver().cuGraphExecKernelNodeSetParams(exec_.get(), nodes_[i], &node) != kSuccess) return false;
  }
  return true;
}

// Between two barriers launches depend on all of the stretch before, and not on each other.
void CudaCommandList::make_graph() {
  exec_ = {};
  graph_ = {};
  nodes_.clear();
  CUgraph graph = nullptr;
  auto asked = [&] { return "a graph of " + std::to_string(launches_.size()) + " kernels"; };
  context_->check(context_->driver().cuGraphCreate(&graph, 0), "cuGraphCreate", asked);
  graph_ = GraphHandle(context_, graph);
  std::vector<CUgraphNode> before, stretch;
  for (RecordedLaunch& launch : launches_) {
    if (launch.after_barrier && !stretch.empty()) before = std::exchange(stretch, {});
    nodes_.push_back(add_node(launch, before));
    stretch.push_back(nodes_.back());
  }
  CUgraphExec exec = nullptr;
  context_->check(context_->driver().cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate", asked);
  exec_ = GraphExecHandle(context_, exec);
}

CUgraphNode CudaCommandList::add_node(RecordedLaunch& launch, const std::vector<CUgraphNode>& before) {
  CUgraphNode node = nullptr;
  const KernelNodeParams params = launch.node();
  CUresult code = context_->driver().cuGraphAddKernelNode(&node, graph_.get(), before.data(), before.size(), &params);
  context_->check(code, "cuGraphAddKernelNode", [&] { return "kernel " + launch.name(); });
  return node;
}

}  // namespace ortolan::gpu::cuda
