// The stand-in driver's modules, launches and graphs.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "driver_calls.h"
#include "kernel_launch.h"

namespace ortolan::gpu::cuda {

struct CUgraphNode_st {
  KernelLaunch launch;
  std::vector<CUgraphNode> before;
  std::shared_ptr<Works> child = {};  // instead of a launch: what was captured
};
struct CUgraph_st {
  std::vector<std::unique_ptr<CUgraphNode_st>> nodes;
  std::shared_ptr<Works> captured = {};  // instead of nodes
};
/** The launches of a graph, under the graph's nodes. */
struct CUgraphExec_st {
  std::map<CUgraphNode, CUgraphNode_st> nodes;
};

namespace {

/** What a graph's nodes do, each after those before it, else the last that was added first. */
std::vector<const CUgraphNode_st*> order_of(const CUgraphExec_st& exec) {
  std::vector<const CUgraphNode_st*> order;
  std::set<CUgraphNode> done;
  while (done.size() < exec.nodes.size()) {
    for (auto node = exec.nodes.rbegin(); node != exec.nodes.rend(); ++node) {
      const auto& before = node->second.before;
      bool is_ready = std::all_of(before.begin(), before.end(), [&](CUgraphNode one) { return done.count(one) > 0; });
      if (!is_ready || done.count(node->first) > 0) continue;
      order.push_back(&node->second);
      done.insert(node->first);
      break;
    }
  }
  return order;
}

bool comes_after(const CUgraphNode_st& node, const CUgraphNode_st* first) {
  return std::any_of(node.before.begin(), node.before.end(),
                     [&](CUgraphNode each) { return each == first || comes_after(*each, first); });
}

/** Whether what was captured runs one after another, as it has one workspace. */
bool are_in_order(const CUgraph_st& graph) {
  const CUgraphNode_st* last = nullptr;
  for (const auto& node : graph.nodes) {
    if (node->child == nullptr) continue;
    if (last != nullptr && !comes_after(*node, last)) return false;
    last = node.get();
  }
  return true;
}

/** Whether all holes of ready-made PTX (cuda/ready.h) are filled, and it has the kernel's entry. */
bool is_whole(const char* ptx, const std::string& kernel) {
  for (const char* hole = std::strchr(ptx, '<'); hole != nullptr; hole = std::strchr(hole + 1, '<')) {
    if (hole[1] < '0' || hole[1] > '9') return false;
  }
  return std::strstr(ptx, (".entry " + kernel + "(").c_str()) != nullptr && std::strstr(ptx, ".maxntid ") != nullptr;
}

/** Reads what libnvrtc.cc wrote, or ready-made PTX, whose constants stand in comments. */
CUresult read_image(const char* image, CUmod_st& module) {
  int capability = 0, value = 0, taken = 0;
  char target[16] = {}, name[128] = {};
  const bool is_ready = std::strncmp(image, kReadyMark, std::strlen(kReadyMark)) == 0;
  const char* const format = is_ready ? "// %127[A-Z0-9a-z_]=%d\n%n" : "%127[A-Z0-9a-z_]=%d\n%n";
  const size_t mark = std::strlen(is_ready ? kReadyMark : kImageMark);
  if (!is_ready && std::strncmp(image, kImageMark, mark) != 0) return kInvalidImage;
  if (std::sscanf(image + mark, "%15[a-z]_%d %127s\n%n", target, &capability, name, &taken) != 3) return kInvalidImage;
  bool fits = std::strcmp(target, "sm") == 0 ? capability == DriverState::capability()
                                             : capability <= DriverState::capability();
  if (!fits) return kNoBinaryForGpu;
  module.kernel = name;
  for (const char* line = image + mark + taken; std::sscanf(line, format, name, &value, &taken) == 2; line += taken) {
    module.constants[name] = value;
  }
  return is_ready && !is_whole(image, module.kernel) ? kInvalidImage : kSuccess;
}

}  // namespace

extern "C" {

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return call_in_context("cuModuleLoadData", [&](DriverState&) {
    auto made = std::make_unique<CUmod_st>();
    CUresult code = read_image(static_cast<const char*>(image), *made);
    if (code == kSuccess) *module = made.release();
    return code;
  });
}
CUresult cuModuleUnload(CUmodule module) {
  return call("cuModuleUnload", [&](DriverState&) { return delete module, kSuccess; });
}
CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  return call_in_context("cuModuleGetFunction", [&](DriverState&) {
    static std::map<std::pair<CUmodule, std::string>, std::unique_ptr<CUfunc_st>> functions;
    const auto* description = test::find_kernel(name, module->constants["K_VW"]);
    if (module->kernel != name || description == nullptr) return kNotFound;
    *function = (functions[{module, name}] = std::make_unique<CUfunc_st>(CUfunc_st{module, description})).get();
    return kSuccess;
  });
}
CUresult cuFuncGetAttribute(int* value, int, CUfunction) {
  return call_in_context("cuFuncGetAttribute", [&](DriverState& state) {
    auto lie = state.lies.find(kMaxThreadsPerBlock);
    *value = lie == state.lies.end() ? 1024 : lie->second;
    return kSuccess;
  });
}
CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** params,
                        void** extra) {
  return call_in_context("cuLaunchKernel", [&](DriverState& state) {
    KernelLaunch launch;
    CUresult code = KernelLaunch::make(
        {function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, params, extra}, launch);
    if (code != kSuccess) return code;
    return enqueue(state, stream, [&state, launch] { return launch.run(state); });
  });
}

CUresult cuGraphCreate(CUgraph* graph, unsigned) {
  return call_in_context("cuGraphCreate", [&](DriverState&) { return *graph = new CUgraph_st, kSuccess; });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return call("cuGraphDestroy", [&](DriverState&) { return delete graph, kSuccess; });
}
CUresult cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t number,
                              const KernelNodeParams* params) {
  return call_in_context("cuGraphAddKernelNode", [&](DriverState&) {
    auto made = std::make_unique<CUgraphNode_st>();
    CUresult code = KernelLaunch::make(*params, made->launch);
    if (code != kSuccess) return code;
    made->before.assign(before, before + number);
    *node = made.get();
    graph->nodes.push_back(std::move(made));
    return kSuccess;
  });
}
CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long) {
  return call_in_context("cuGraphInstantiate", [&](DriverState&) {
    if (!are_in_order(*graph)) return kInvalidValue;
    *exec = new CUgraphExec_st;
    for (const auto& node : graph->nodes) (*exec)->nodes[node.get()] = *node;
    return kSuccess;
  });
}
CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return call("cuGraphExecDestroy", [&](DriverState&) { return delete exec, kSuccess; });
}
CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node, const KernelNodeParams* params) {
  return call_in_context("cuGraphExecKernelNodeSetParams", [&](DriverState&) {
    KernelLaunch launch;
    CUresult code = KernelLaunch::make(*params, launch);
    if (code == kSuccess) exec->nodes.at(node).launch = std::move(launch);
    return code;
  });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* before, size_t number,
                                  CUgraph child) {
  return call_in_context("cuGraphAddChildGraphNode", [&](DriverState&) {
    if (child->captured == nullptr || std::set<CUgraphNode>(before, before + number).size() != number) {
      return kInvalidValue;
    }
    graph->nodes.push_back(std::make_unique<CUgraphNode_st>(
        CUgraphNode_st{{}, std::vector<CUgraphNode>(before, before + number), child->captured}));
    *node = graph->nodes.back().get();
    return kSuccess;
  });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node, CUgraph child) {
  return call_in_context("cuGraphExecChildGraphNodeSetParams",
                         [&](DriverState&) { return exec->nodes.at(node).child = child->captured, kSuccess; });
}
CUresult cuStreamBeginCapture_v2(CUstream stream, int) {
  return call_in_context("cuStreamBeginCapture", [&](DriverState&) {
    if (stream->captured != nullptr) return kInvalidValue;
    return stream->captured = std::make_shared<Works>(), kSuccess;
  });
}
CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return call_in_context("cuStreamEndCapture", [&](DriverState&) {
    if (stream->captured == nullptr) return kInvalidValue;
    *graph = new CUgraph_st{{}, std::move(stream->captured)};
    stream->captured = nullptr;
    return kSuccess;
  });
}
CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  return call_in_context("cuGraphLaunch", [&](DriverState& state) {
    for (const CUgraphNode_st* node : order_of(*exec)) {
      if (node->child == nullptr) enqueue(state, stream, [&state, launch = node->launch] { return launch.run(state); });
      for (const auto& work : node->child == nullptr ? Works() : *node->child) enqueue(state, stream, work);
    }
    return kSuccess;
  });
}

}  // extern "C"

}  // namespace ortolan::gpu::cuda
