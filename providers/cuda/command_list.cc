// Records launches, binds their external buffers, and makes them a graph.
#include "cuda/command_list.h"

#include <algorithm>

#include "gpu/device/checks.h"

namespace ortolan::gpu::cuda {
namespace {

constexpr cublasStatus_t kCublasAllocFailed = 3;
constexpr size_t kLeastOfGraph = 3;  // launches: fewer are not started faster by a graph

const CudaKernel& kernel_of(const Launch& launch) { return static_cast<const CudaKernel&>(*launch.kernel); }

void check_is_one_group(const CublasProduct& product, const Launch& launch) {
  if (launch.groups == std::array<uint32_t, 3>{1, 1, 1} && launch.params.empty()) return;
  throw Error(ErrorKind::kInternal, "cuda: a product of " + product.name() + " has parameters or several groups");
}

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

RecordedLaunch CudaCommandList::recorded(const Launch& launch) const {
  if (const auto* product = dynamic_cast<const CublasProduct*>(launch.kernel.get())) {
    check_launch("cuda", product->name(), 3, context_->traits(), launch);
    check_is_one_group(*product, launch);
    return {launch.kernel, nullptr, launch.groups, {}, launch.after_barrier, {}, {}, product, {}};
  }
  const CudaKernel& kernel = kernel_of(launch);
  check_launch("cuda", kernel.name(), kernel.buffers(), context_->traits(), launch);
  RecordedLaunch made{
      launch.kernel, kernel.get(), launch.groups, kernel.group_size(), launch.after_barrier, {}, {}, nullptr, {}};
  std::copy(launch.params.begin(), launch.params.end(), made.params.begin());
  return made;
}

void CudaCommandList::reserve_workspace(const CublasProduct& product) {
  const size_t bytes = product.workspace_bytes();
  if (bytes == 0 || (workspace_ != nullptr && workspace_->bytes() >= bytes)) return;
  workspace_ = std::make_unique<CudaBuffer>(context_, bytes);
}

void CudaCommandList::record(const Launch& launch) {
  RecordedLaunch recorded = this->recorded(launch);
  if (recorded.product != nullptr) reserve_workspace(*recorded.product);
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
  if (launch.product != nullptr) return check_product(launch, start(launch, stream));
  const auto [x, y, z] = launch.groups;
  CUresult code =
      context_->driver().cuLaunchKernel(launch.function, x, y, z, launch.group_size[0], launch.group_size[1], 1, 0,
                                        stream, launch.arguments.data(), nullptr);
  context_->check(code, "cuLaunchKernel", [&] { return "kernel " + launch.name(); });
}

cublasStatus_t CudaCommandList::start(const RecordedLaunch& product, CUstream stream) const {
  return product.product->enqueue(stream, product.buffers, workspace_ == nullptr ? 0 : workspace_->address());
}

void CudaCommandList::check_product(const RecordedLaunch& launch, cublasStatus_t code) const {
  if (code == 0) return;
  throw Error(code == kCublasAllocFailed ? ErrorKind::kOutOfMemory : ErrorKind::kInternal,
              "cuda: " + launch.name() + " says " + std::to_string(code) + ", asked for a product on device '" +
                  context_->traits().name + "'; the option products=own leaves products to own kernels");
}

void CudaCommandList::prepare_graph() {
  if (exec_.get() == nullptr || !update_graph()) make_graph();
  changed_.clear();
}

/** False where the driver wants a graph made anew. */
bool CudaCommandList::update_graph() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  return std::all_of(changed_.begin(), changed_.end(), [&](size_t i) { return update_node(i); });
}

bool CudaCommandList::update_node(size_t i) {
  const Driver& call = context_->driver();
  if (launches_[i].product != nullptr) {
    const GraphHandle child = captured(launches_[i]);
    return call.cuGraphExecChildGraphNodeSetParams(exec_.get(), nodes_[i], child.get()) == kSuccess;
  }
  const KernelNodeParams node = launches_[i].node();
  return call.cuGraphExecKernelNodeSetParams(exec_.get(), nodes_[i], &node) == kSuccess;
}

GraphHandle CudaCommandList::captured(const RecordedLaunch& launch) {
  const Driver& call = context_->driver();
  auto asked = [&] { return "a graph of " + launch.name(); };
  CUstream made = nullptr;
  context_->check(call.cuStreamCreate(&made, kStreamNonBlocking), "cuStreamCreate", asked);
  const StreamHandle stream(context_, made);
  context_->check(call.cuStreamBeginCapture(made, kCaptureRelaxed), "cuStreamBeginCapture", asked);
  const cublasStatus_t status = start(launch, made);
  CUgraph graph = nullptr;
  const CUresult code = call.cuStreamEndCapture(made, &graph);
  GraphHandle handle(context_, graph);
  check_product(launch, status);
  context_->check(code, "cuStreamEndCapture", asked);
  return handle;
}

// Between two barriers launches depend on all of the stretch before, and not on each other, but for products, which
// have one workspace.
void CudaCommandList::make_graph() {
  exec_ = {};
  graph_ = {};
  nodes_.clear();
  CUgraph graph = nullptr;
  auto asked = [&] { return "a graph of " + std::to_string(launches_.size()) + " kernels"; };
  context_->check(context_->driver().cuGraphCreate(&graph, 0), "cuGraphCreate", asked);
  graph_ = GraphHandle(context_, graph);
  std::vector<CUgraphNode> before, stretch;
  CUgraphNode last_product = nullptr;
  for (RecordedLaunch& launch : launches_) {
    if (launch.after_barrier && !stretch.empty()) before = std::exchange(stretch, {});
    std::vector<CUgraphNode> needed = before;
    const bool follows = launch.product != nullptr && last_product != nullptr;
    if (follows && std::find(before.begin(), before.end(), last_product) == before.end()) {
      needed.push_back(last_product);
    }
    nodes_.push_back(add_node(launch, needed));
    stretch.push_back(nodes_.back());
    if (launch.product != nullptr) last_product = nodes_.back();
  }
  CUgraphExec exec = nullptr;
  context_->check(context_->driver().cuGraphInstantiate(&exec, graph, 0), "cuGraphInstantiate", asked);
  exec_ = GraphExecHandle(context_, exec);
}

CUgraphNode CudaCommandList::add_node(RecordedLaunch& launch, const std::vector<CUgraphNode>& before) {
  CUgraphNode node = nullptr;
  if (launch.product != nullptr) {
    const GraphHandle child = captured(launch);
    context_->check(
        context_->driver().cuGraphAddChildGraphNode(&node, graph_.get(), before.data(), before.size(), child.get()),
        "cuGraphAddChildGraphNode", [&] { return launch.name(); });
    return node;
  }
  const KernelNodeParams params = launch.node();
  CUresult code = context_->driver().cuGraphAddKernelNode(&node, graph_.get(), before.data(), before.size(), &params);
  context_->check(code, "cuGraphAddKernelNode", [&] { return "kernel " + launch.name(); });
  return node;
}

}  // namespace ortolan::gpu::cuda
