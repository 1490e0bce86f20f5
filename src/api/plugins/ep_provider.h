// A plugin's OrtEp as an execution provider of the runtime, and what makes it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/graph/graph_objects.h"
#include "api/plugins/ep_kernel_registry.h"
#include "api/plugins/ep_library.h"
#include "api/plugins/ep_profiling.h"
#include "runtime/providers/execution_provider.h"

namespace ortolan::api {

struct CompiledNode;
class PluginExecutionProvider;

/** OrtEpGraphSupportInfo: what a provider claims while it is asked about one graph. */
struct EpGraphSupport {
  const PluginExecutionProvider& provider;
  const GraphObject& graph;
  runtime::Capability capability;
};

class PluginExecutionProvider final : public runtime::ExecutionProvider {
 public:
  /** `devices` are the library's, of one factory, and not empty. Options and logger must outlive the provider. */
  PluginExecutionProvider(std::shared_ptr<EpLibrary> library, std::vector<const EpDevice*> devices,
                          const runtime::SessionOptions& options, const base::Logger& logger);
  ~PluginExecutionProvider() override;

  const std::string& type() const override { return name_; }
  const std::vector<std::pair<std::string, std::string>>& options() const override { return options_; }
  void learn_model(const graph::Model& model) override { origin_ = origin_of(model); }
  runtime::Capability get_capability(const graph::Graph& graph) override;
  std::vector<runtime::CompiledGroup> compile(std::span<const runtime::FusedGroup> groups) override;
  std::string compatibility_info(const graph::Graph& graph) override;
  runtime::WeightlessSupport weightless_support() const override;
  std::optional<uint64_t> free_bytes() const override;
  bool prefers_channels_last() const override;
  std::optional<bool> converts_to_channels_last(const std::string& domain, const std::string& op) const override;
  runtime::ChosenKernel make_kernel(const runtime::KernelInfo& info) const override;

  const tensor::MemoryInfo& memory() const override { return *memory_; }
  bool input_on_cpu(const graph::Node& node, size_t i) const override;
  bool output_on_cpu(const graph::Node& node, size_t i) const override;
  std::vector<std::shared_ptr<tensor::Allocator>> allocators() const override;
  const tensor::DataTransfer* data_transfer() const override { return transfer_.get(); }
  std::unique_ptr<tensor::Stream> make_stream() override;

  void on_session_ready() override;
  bool concurrent_runs() const override { return concurrent_; }
  void on_run_start(const runtime::RunOptions& options) override;
  void on_run_end(const runtime::RunOptions& options, bool synchronize) override;
  void set_dynamic_option(const std::string& key, const std::string& value) override;
  void synchronize() override;

  void start_profiling(runtime::Profiler& profiler) override { profiler_->start(profiler); }
  void end_profiling(runtime::Profiler& profiler) override { profiler_->end(profiler); }

  bool captures_graphs() const override;
  bool records_beside_shapes() const override;
  bool graph_captured(int annotation) const override;
  void replay_graph(int annotation) override;
  void release_captured_graph(int annotation) override;

  /** The first of the devices that it works on. */
  const EpDevice& device() const { return *devices_.front(); }
  /** Its kernel for the node; NULL, with the reason in *why, when it registered none. */
  const PluginKernel* find_kernel(const graph::Node& node, std::string* why = nullptr) const;

 private:
  struct ReleaseEp {
    OrtEpFactory* factory;
    void operator()(OrtEp* ep) const { factory->ReleaseEp(factory, ep); }
  };

  void create(const runtime::SessionOptions& options, const base::Logger& logger);
  void read_options(const runtime::SessionOptions& options);
  void copy_kernels();
  void choose_memory();
  void make_allocators();
  std::shared_ptr<tensor::Allocator> make_allocator(const OrtMemoryInfo& memory);
  template <class Member, class... Args>
  bool call_if(Member OrtEp::*member, uint32_t since, const char* name, Args... args) const;

  std::shared_ptr<EpLibrary> library_;
  std::vector<const EpDevice*> devices_;
  OrtEpFactory& factory_;
  std::unique_ptr<OrtEp, ReleaseEp> ep_;  // ended after all that follows
  std::string name_;
  std::vector<std::pair<std::string, std::string>> options_;
  Origin origin_;
  std::optional<PluginProfiler> profiler_;
  std::optional<PluginKernelRegistry> kernels_;
  const OrtMemoryInfo* their_memory_ = nullptr;  // as the plugin knows it; NULL: the CPU's
  const tensor::MemoryInfo* memory_;
  bool concurrent_ = true;
  std::vector<std::unique_ptr<CompiledNode>> fused_;
  std::vector<std::shared_ptr<tensor::Allocator>> allocators_;
  std::unique_ptr<tensor::DataTransfer> transfer_;
};

/** Makes the provider of one plugin on some of its devices. */
class PluginProviderFactory final : public runtime::ProviderFactory {
 public:
  PluginProviderFactory(std::shared_ptr<EpLibrary> library, std::vector<const EpDevice*> devices)
      : library_(std::move(library)), devices_(std::move(devices)) {}
  const std::string& type() const override { return devices_.front()->provider; }
  std::unique_ptr<runtime::ExecutionProvider> make(const runtime::SessionOptions& options,
                                                   const base::Logger& logger) const override;
  runtime::Compatibility judge(const std::string& info) const override;
  std::vector<runtime::HardwareType> device_types() const override;

 private:
  std::shared_ptr<EpLibrary> library_;
  std::vector<const EpDevice*> devices_;
};

}  // namespace ortolan::api
