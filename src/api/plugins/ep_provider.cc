// A plugin's OrtEp as an execution provider: making it, its memory, runs and device graphs.
#include "api/plugins/ep_provider.h"

#include <algorithm>

#include "api/arguments.h"
#include "api/guard.h"
#include "api/plugins/ep_compiled.h"
#include "api/plugins/ep_kernels.h"
#include "api/plugins/ep_members.h"
#include "api/plugins/ep_memory.h"
#include "api/plugins/ep_stream.h"
#include "runtime/session/session_options.h"

namespace ortolan::api {

/** Calls a member of OrtEp that returns a status, where the provider has it; says whether it has. */
template <class Member, class... Args>
bool PluginExecutionProvider::call_if(Member OrtEp::*member, uint32_t since, const char* name, Args... args) const {
  auto function = member_if(*ep_, member, since);
  if (function == nullptr) return false;
  check_plugin(function(ep_.get(), args...), name_, name);
  return true;
}

PluginExecutionProvider::PluginExecutionProvider(std::shared_ptr<EpLibrary> library,
                                                 std::vector<const EpDevice*> devices,
                                                 const runtime::SessionOptions& options, const base::Logger& logger)
    : library_(std::move(library)),
      devices_(std::move(devices)),
      factory_(*devices_.front()->factory),
      ep_(nullptr, ReleaseEp{&factory_}),
      memory_(&cpu_allocator()->info()) {
  create(options, logger);
  profiler_.emplace(*ep_);
  read_options(options);
  copy_kernels();
  choose_memory();
  bool supported = true;
  if (call_if(&OrtEp::IsConcurrentRunSupported, 24, "IsConcurrentRunSupported", &supported)) concurrent_ = supported;
  transfer_ = library_->make_data_transfer(factory_);
  make_allocators();
}

PluginExecutionProvider::~PluginExecutionProvider() = default;

void PluginExecutionProvider::create(const runtime::SessionOptions& options, const base::Logger& logger) {
  name_ = devices_.front()->provider;
  std::vector<const OrtHardwareDevice*> hardware;
  std::vector<const OrtKeyValuePairs*> metadata;
  for (const EpDevice* device : devices_) {
    hardware.push_back(wrap<const OrtHardwareDevice>(device->hardware));
    metadata.push_back(wrap<const OrtKeyValuePairs>(&device->metadata));
  }
  OrtEp* made = nullptr;
  check_plugin(factory_.CreateEp(&factory_, hardware.data(), metadata.data(), devices_.size(),
                                 wrap<const OrtSessionOptions>(&options), wrap<const OrtLogger>(&logger), &made),
               name_, "CreateEp");
  ep_.reset(&require_made(made, name_, "CreateEp"));
  require_member(ep_->GetName, name_, "OrtEp::GetName");
  name_ = &require_made(ep_->GetName(ep_.get()), name_, "OrtEp::GetName");
}

void PluginExecutionProvider::read_options(const runtime::SessionOptions& options) {
  std::string prefix = runtime::provider_entry(name_, "");
  for (auto entry = options.config.lower_bound(prefix); entry != options.config.end(); ++entry) {
    if (!entry->first.starts_with(prefix)) break;
    options_.emplace_back(entry->first.substr(prefix.size()), entry->second);
  }
}

void PluginExecutionProvider::copy_kernels() {
  const OrtKernelRegistry* registry = nullptr;
  call_if(&OrtEp::GetKernelRegistry, 24, "GetKernelRegistry", &registry);
  if (registry != nullptr) kernels_ = *unwrap_optional(registry);
}

void PluginExecutionProvider::choose_memory() {
  their_memory_ = devices_.front()->memory;
  const OrtMemoryDevice* stated = nullptr;
  call_if(&OrtEp::GetDefaultMemoryDevice, 27, "GetDefaultMemoryDevice", &stated);
  if (stated != nullptr) {
    auto is_it = [&](const EpDevice* device) {
      return device->memory != nullptr && MemoryDevice_AreEqual(stated, MemoryInfo_GetMemoryDevice(device->memory));
    };
    auto found = std::ranges::find_if(devices_, is_it);
    bool cpu = MemoryDevice_GetDeviceType(stated) == OrtMemoryInfoDeviceType_CPU;
    require(found != devices_.end() || cpu, ErrorCode::kEpFail, "execution provider ", name_,
            ": GetDefaultMemoryDevice gives a device for which it registered no memory");
    their_memory_ = found != devices_.end() ? (*found)->memory : nullptr;
  }
  if (their_memory_ != nullptr) {
    memory_ = &interned(*unwrap_optional(their_memory_), devices_.front()->provider);
  }
}

std::shared_ptr<Allocator> PluginExecutionProvider::make_allocator(const OrtMemoryInfo& memory) {
  OrtAllocator* made = nullptr;
  // The factory ends what the provider makes.
  bool ends = member_if(factory_, &OrtEpFactory::ReleaseAllocator, 23) != nullptr;
  bool own = ends && call_if(&OrtEp::CreateAllocator, 23, "OrtEp::CreateAllocator", &memory, &made);
  if (!own) return library_->make_allocator(factory_, memory, nullptr);
  if (made == nullptr) return nullptr;
  return std::make_shared<PluginAllocator>(library_, factory_, memory, *made);
}

void PluginExecutionProvider::make_allocators() {
  for (const EpDevice* device : devices_) {
    for (const OrtMemoryInfo* memory : {device->memory, device->host_memory, device->read_only_memory}) {
      if (memory == nullptr) continue;
      std::shared_ptr<Allocator> made = make_allocator(*memory);
      const MemoryInfo& core = *unwrap_optional(memory);
      require(made != nullptr || memory != their_memory_ || core.on_cpu(), ErrorCode::kEpFail, "execution provider ",
              name_, " makes no allocator for its memory '", core.name, "'");
      if (made == nullptr) continue;
      bool first = memory == their_memory_;
      allocators_.insert(first ? allocators_.begin() : allocators_.end(), std::move(made));
    }
  }
}

std::vector<std::shared_ptr<Allocator>> PluginExecutionProvider::allocators() const { return allocators_; }

std::unique_ptr<Stream> PluginExecutionProvider::make_stream() {
  auto is_aware = member_if(factory_, &OrtEpFactory::IsStreamAware, 23);
  if (memory_->on_cpu() || is_aware == nullptr || !is_aware(&factory_)) return nullptr;
  const OrtMemoryDevice* device = MemoryInfo_GetMemoryDevice(their_memory_);
  OrtSyncStreamImpl* made = nullptr;
  if (!call_if(&OrtEp::CreateSyncStreamForDevice, 23, "OrtEp::CreateSyncStreamForDevice", device, &made)) {
    made = &make_plugin_stream(factory_, name_, *device, nullptr);
  }
  OrtSyncStreamImpl& stream = require_made(made, name_, "CreateSyncStreamForDevice");
  return std::make_unique<PluginStream>(library_, name_, *memory_, stream);
}

const PluginKernel* PluginExecutionProvider::find_kernel(const graph::Node& node, std::string* why) const {
  if (!kernels_ && why != nullptr) *why = "the provider registers no kernels";
  return kernels_ ? kernels_->find(node, name_, why) : nullptr;
}

runtime::ChosenKernel PluginExecutionProvider::make_kernel(const runtime::KernelInfo& info) const {
  std::string why;
  const PluginKernel* kernel = find_kernel(info.node(), &why);
  require(kernel != nullptr, ErrorCode::kEpFail, "execution provider ", name_,
          " has no kernel for a node it took: ", why);
  auto place =
      std::ranges::find_if(allocators_, [&](const auto& known) { return same_place(known->info(), *memory_); });
  return make_plugin_kernel(*kernel, {ep_.get(), place == allocators_.end() ? cpu_allocator() : *place}, info);
}

bool PluginExecutionProvider::input_on_cpu(const graph::Node& node, size_t i) const {
  const PluginKernel* kernel = find_kernel(node);
  return kernel != nullptr && kernel->def.input_on_cpu(i);
}

bool PluginExecutionProvider::output_on_cpu(const graph::Node& node, size_t i) const {
  const PluginKernel* kernel = find_kernel(node);
  return kernel != nullptr && kernel->def.output_on_cpu(i);
}

void PluginExecutionProvider::on_session_ready() {
  call_if(&OrtEp::OnSessionInitializationEnd, 27, "OnSessionInitializationEnd");
}

void PluginExecutionProvider::on_run_start(const runtime::RunOptions& options) {
  call_if(&OrtEp::OnRunStart, 23, "OnRunStart", wrap<const OrtRunOptions>(&options));
}

void PluginExecutionProvider::on_run_end(const runtime::RunOptions& options, bool synchronize) {
  call_if(&OrtEp::OnRunEnd, 23, "OnRunEnd", wrap<const OrtRunOptions>(&options), synchronize);
}

void PluginExecutionProvider::set_dynamic_option(const std::string& key, const std::string& value) {
  const char* keys[] = {key.c_str()};
  const char* values[] = {value.c_str()};
  call_if(&OrtEp::SetDynamicOptions, 23, "SetDynamicOptions", keys, values, size_t{1});
}

void PluginExecutionProvider::synchronize() { call_if(&OrtEp::Sync, 25, "Sync"); }

bool PluginExecutionProvider::captures_graphs() const {
  auto enabled = member_if(*ep_, &OrtEp::IsGraphCaptureEnabled, 26);
  bool whole =
      member_if(*ep_, &OrtEp::IsGraphCaptured, 26) != nullptr && member_if(*ep_, &OrtEp::ReplayGraph, 26) != nullptr;
  return whole && enabled != nullptr && enabled(ep_.get());
}

bool PluginExecutionProvider::records_beside_shapes() const {
  auto policy = member_if(*ep_, &OrtEp::GetGraphCaptureNodeAssignmentPolicy, 26);
  return policy != nullptr && policy(ep_.get()) == OrtGraphCaptureNodeAssignmentPolicy_ALLOW_CPU_FOR_SHAPES;
}

bool PluginExecutionProvider::prefers_channels_last() const {
  OrtEpDataLayout layout = OrtEpDataLayout_Default;
  call_if(&OrtEp::GetPreferredDataLayout, 23, "GetPreferredDataLayout", &layout);
  return layout == OrtEpDataLayout_NHWC;
}

std::optional<bool> PluginExecutionProvider::converts_to_channels_last(const std::string& domain,
                                                                       const std::string& op) const {
  int answer = -1;
  call_if(&OrtEp::ShouldConvertDataLayoutForOp, 23, "ShouldConvertDataLayoutForOp", domain.c_str(), op.c_str(),
          OrtEpDataLayout_NHWC, &answer);
  return answer < 0 ? std::nullopt : std::optional(answer > 0);
}

std::optional<uint64_t> PluginExecutionProvider::free_bytes() const {
  OrtResourceCount available;
  bool said = call_if(&OrtEp::GetAvailableResource, 26, "GetAvailableResource", &available);
  if (!said || available.kind != OrtResourceCountKind_TotalBytes) return std::nullopt;
  return available.value.total_bytes;
}

bool PluginExecutionProvider::graph_captured(int annotation) const {
  return captures_graphs() && ep_->IsGraphCaptured(ep_.get(), annotation);
}

void PluginExecutionProvider::replay_graph(int annotation) {
  call_if(&OrtEp::ReplayGraph, 26, "ReplayGraph", annotation);
}

void PluginExecutionProvider::release_captured_graph(int annotation) {
  call_if(&OrtEp::ReleaseCapturedGraph, 27, "ReleaseCapturedGraph", annotation);
}

std::unique_ptr<runtime::ExecutionProvider> PluginProviderFactory::make(const runtime::SessionOptions& options,
                                                                        const base::Logger& logger) const {
  return std::make_unique<PluginExecutionProvider>(library_, devices_, options, logger);
}

runtime::Compatibility PluginProviderFactory::judge(const std::string& info) const {
  OrtEpFactory& factory = *devices_.front()->factory;
  auto validate = member_if(factory, &OrtEpFactory::ValidateCompiledModelCompatibilityInfo, 23);
  if (validate == nullptr) return runtime::Compatibility::kNotApplicable;
  std::vector<const OrtHardwareDevice*> hardware;
  for (const EpDevice* device : devices_) hardware.push_back(wrap<const OrtHardwareDevice>(device->hardware));
  OrtCompiledModelCompatibility answer = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  check_plugin(validate(&factory, hardware.data(), hardware.size(), info.c_str(), &answer), type(),
               "ValidateCompiledModelCompatibilityInfo");
  return static_cast<runtime::Compatibility>(answer);
}

std::vector<runtime::HardwareType> PluginProviderFactory::device_types() const {
  std::vector<runtime::HardwareType> types;
  for (const EpDevice* device : devices_) types.push_back(device->hardware->type);
  return types;
}

}  // namespace ortolan::api
