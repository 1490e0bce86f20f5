// A session's provider: claims, compiles, makes streams.
#include "gpu/epkit/provider.h"

#include "gpu/core/graph/claims.h"
#include "gpu/epkit/compiled_node.h"
#include "gpu/epkit/stream.h"

namespace ortolan::gpu::epkit {
namespace {

Provider& provider_of(OrtEp* self) { return *static_cast<Provider*>(self); }

std::filesystem::path folder_of(const Options& options) {
  if (options.cache_folder == "off") return {};
  return options.cache_folder.empty() ? default_kernel_folder() : std::filesystem::path(options.cache_folder);
}

std::string too_small(size_t nodes, size_t wanted) {
  return "its group has " + std::to_string(nodes) + (nodes == 1 ? " node" : " nodes") +
         ", fewer than the option min_group_size wants, " + std::to_string(wanted);
}

Progress::Tell teller(const Host& host) {
  return [host](const std::string& line) { log(host, ORT_LOGGING_LEVEL_WARNING, line); };
}

}  // namespace

Provider::Provider(const Host& host, Factory& factory, size_t number, const Options& options,
                   const ContextOptions& contexts)
    : OrtEp{},
      host_(host),
      factory_(factory),
      number_(number),
      context_(factory.context(number)),
      options_(options),
      context_options_(contexts),
      contexts_(host, contexts, factory.backend().provider(), factory.backend().version(), context_.device().traits()),
      engine_(context_.engine(folder_of(options), options.tuning, options.products, options.precision)),
      progress_(teller(host)),
      records_(options.profiling),
      copies_(host, context_, factory.backend().provider()) {
  set_functions();
  tell_who_multiplies();
}

void Provider::tell_who_multiplies() const {
  const ProductLibrary* library = engine_.product_library();
  if (library != nullptr) {
    log(host_, ORT_LOGGING_LEVEL_VERBOSE, "matrix products may be made by " + library->name());
  } else if (options_.products == Products::kLibrary) {
    log(host_, ORT_LOGGING_LEVEL_WARNING,
        "option products is library, but none is installed that works on device '" + context_.device().traits().name +
            "'; all products are made by own kernels");
  }
}

void Provider::set_functions() {
  ort_version_supported = host_.level;
  GetName = get_name;
  GetCapability = get_capability;
  Compile = compile;
  ReleaseNodeComputeInfos = release_infos;
  OnRunEnd = on_run_end;
  GetCompiledModelCompatibilityInfo = get_compatibility;
  CreateAllocator = create_allocator;
  CreateSyncStreamForDevice = create_stream;
  GetKernelRegistry = get_kernel_registry;
  IsConcurrentRunSupported = is_concurrent_run_supported;
  if (!host_.has(25)) return;
  Sync = sync;
  CreateProfiler = create_profiler;
  if (!host_.has(27)) return;
  GetDefaultMemoryDevice = get_default_memory_device;
}

const char* ORT_API_CALL Provider::get_name(const OrtEp* self) noexcept {
  return static_cast<const Provider*>(self)->factory_.backend().provider();
}

OrtStatus* ORT_API_CALL Provider::get_capability(OrtEp* self, const OrtGraph* graph,
                                                 OrtEpGraphSupportInfo* support) noexcept {
  return guard(provider_of(self).host_, [&] { provider_of(self).claim(graph, support); });
}

void Provider::claim(const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  refusals_.clear();
  ReadGraph read = read_graph(host_, graph);
  take_contexts(read, support);
  Claims claims = claim_nodes(read.graph, read.taken, context_.device().traits());
  for (const std::vector<int>& group : claims.groups) {
    if (group.size() < options_.min_group_size) {
      for (int node : group) claims.refusals[node] = too_small(group.size(), options_.min_group_size);
      continue;
    }
    std::vector<const OrtNode*> nodes;
    for (int node : group) nodes.push_back(read.nodes[node]);
    take(nodes, true, support);
  }
  for (size_t i = 0; i < claims.refusals.size(); i++) {
    if (claims.refusals[i].empty() || read.taken[i]) continue;
    note_refusal(read.nodes[i], read.graph.nodes[i], claims.refusals[i]);
  }
}

void Provider::take(const std::vector<const OrtNode*>& nodes, bool drops_constants,
                    OrtEpGraphSupportInfo* support) const {
  OrtNodeFusionOptions fusion{};
  fusion.ort_version_supported = host_.level;
  fusion.drop_constant_initializers = drops_constants;
  check(host_, host_.ep->EpGraphSupportInfo_AddNodesToFuse(support, nodes.data(), nodes.size(), &fusion));
}

// Each is a group of its own, whose constants are inside.
void Provider::take_contexts(ReadGraph& read, OrtEpGraphSupportInfo* support) const {
  for (size_t i = 0; i < read.nodes.size(); i++) {
    Node& node = read.graph.nodes[i];
    if (read.taken[i] || !is_context_node(node.domain, node.op)) continue;
    node.unsupported = refuse_context(node, factory_.backend().provider());
    if (!node.unsupported.empty()) continue;
    take({read.nodes[i]}, false, support);
    read.taken[i] = true;
  }
}

void Provider::note_refusal(const OrtNode* node, const Node& read, const std::string& reason) {
  refusals_[node] = reason;
  if (!options_.log_refusals) return;
  log(host_, ORT_LOGGING_LEVEL_WARNING,
      std::string(factory_.backend().provider()) + " leaves " + describe(read) + ": " + reason);
}

const char* Provider::refusal_reason(const OrtNode* node) const {
  auto found = refusals_.find(node);
  return found == refusals_.end() ? nullptr : found->second.c_str();
}

OrtStatus* ORT_API_CALL Provider::compile(OrtEp* self, const OrtGraph** graphs, const OrtNode** fused_nodes,
                                          size_t count, OrtNodeComputeInfo** infos, OrtNode** context_nodes) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] {
    for (size_t i = 0; i < count; i++) infos[i] = nullptr;
    try {
      for (size_t i = 0; i < count; i++) {
        bool is_compiled = holds_context(provider.host_, graphs[i]);
        infos[i] = is_compiled ? provider.restore(graphs[i], fused_nodes[i])
                               : provider.compile(graphs[i], fused_nodes[i], &context_nodes[i]);
      }
    } catch (...) {
      release_infos(self, infos, count);  // the runtime takes all of them or none
      for (size_t i = 0; i < count; i++) {
        infos[i] = nullptr;
        if (provider.contexts_.is_wanted()) provider.host_.api->ReleaseNode(std::exchange(context_nodes[i], nullptr));
      }
      throw;
    }
  });
}

OrtNodeComputeInfo* Provider::compile(const OrtGraph* graph, const OrtNode* fused_node, OrtNode** context_node) {
  std::vector<int> input_positions;
  Graph group = read_group(host_, graph, fused_node, input_positions);
  Graph shown = contexts_.is_wanted() ? group : Graph();
  auto node = std::make_unique<CompiledNode>(host_, context_, engine_, progress_, records_, std::move(group),
                                             std::move(input_positions));
  if (contexts_.is_wanted()) *context_node = contexts_.make(graph, fused_node, shown);
  return node.release();
}

OrtNodeComputeInfo* Provider::restore(const OrtGraph* graph, const OrtNode* fused_node) {
  std::vector<int> input_positions;
  Graph group = read_context(host_, context_options_, context_.device().traits(), graph, fused_node, input_positions);
  return new CompiledNode(host_, context_, engine_, progress_, records_, std::move(group), std::move(input_positions));
}

void ORT_API_CALL Provider::release_infos(OrtEp*, OrtNodeComputeInfo** infos, size_t count) noexcept {
  for (size_t i = 0; i < count; i++) delete static_cast<CompiledNode*>(infos[i]);
}

OrtStatus* ORT_API_CALL Provider::on_run_end(OrtEp* self, const OrtRunOptions*, bool wait) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] {
    if (wait) provider.context_.finish();
    provider.engine_.kernels().after_run();
  });
}

const char* ORT_API_CALL Provider::get_compatibility(OrtEp*, const OrtGraph*) noexcept { return stored_format(); }

OrtStatus* ORT_API_CALL Provider::create_allocator(OrtEp* self, const OrtMemoryInfo* memory,
                                                   OrtAllocator** allocator) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_,
               [&] { *allocator = provider.factory_.make_allocator(memory, provider.options_.memory_limit); });
}

OrtStatus* ORT_API_CALL Provider::create_stream(OrtEp* self, const OrtMemoryDevice*,
                                                OrtSyncStreamImpl** stream) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] {
    *stream = new Stream(provider.host_, provider.context_, &provider.records_, provider.options_.queue);
  });
}

OrtStatus* ORT_API_CALL Provider::get_kernel_registry(OrtEp* self, const OrtKernelRegistry** registry) noexcept {
  *registry = provider_of(self).copies_.registry();
  return nullptr;
}

OrtStatus* ORT_API_CALL Provider::is_concurrent_run_supported(OrtEp*, bool* supported) noexcept {
  *supported = true;
  return nullptr;
}

OrtStatus* ORT_API_CALL Provider::sync(OrtEp* self) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] { provider.context_.finish(); });
}

OrtStatus* ORT_API_CALL Provider::create_profiler(OrtEp* self, OrtEpProfilerImpl** profiler) noexcept {
  Provider& provider = provider_of(self);
  return guard(provider.host_, [&] { *profiler = new Profiler(provider.host_, get_name(self), provider.records_); });
}

OrtStatus* ORT_API_CALL Provider::get_default_memory_device(const OrtEp* self,
                                                            const OrtMemoryDevice** device) noexcept {
  const auto& provider = *static_cast<const Provider*>(self);
  *device = provider.factory_.memory_device(provider.number_);
  return nullptr;
}

}  // namespace ortolan::gpu::epkit
