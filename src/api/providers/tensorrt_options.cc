// TensorRT's names and options, which the CUDA provider takes over where a session asks for that.
#include "api/providers/tensorrt_options.h"

#include <algorithm>
#include <iterator>

#include "api/providers/absent_providers.h"
#include "api/providers/bundled_providers.h"
#include "api/providers/cuda_options.h"
#include "base/log.h"
#include "runtime/providers/execution_provider.h"

namespace ortolan::api {
namespace {

constexpr const char* kTensorRt = "TensorrtExecutionProvider";

/** What an option means: a key of the CUDA provider's (value as given, but where `when_on` says which), an entry of the
    session, or nothing, where it is about how TensorRT builds engines. */
struct TensorRtRow {
  const char* key;
  const char* cuda = nullptr;
  const char* when_on = nullptr;
  const char* entry = nullptr;
};
constexpr TensorRtRow kTensorRtRows[] = {
    {"device_id", "device_id"},
    {"has_user_compute_stream", "has_user_compute_stream"},
    {"user_compute_stream", "user_compute_stream"},
    {"trt_fp16_enable", "precision", "fp16"},
    {"trt_cuda_graph_enable", "enable_cuda_graph", "1"},
    {"trt_dump_ep_context_model", nullptr, nullptr, "ep.context_enable"},
    {"trt_ep_context_file_path", nullptr, nullptr, "ep.context_file_path"},
    {"trt_ep_context_embed_mode", nullptr, nullptr, "ep.context_embed_mode"},
    {"trt_engine_cache_enable"},
    {"trt_engine_cache_path"},
    {"trt_engine_cache_prefix"},
    {"trt_int8_enable"},
    {"trt_int8_calibration_table_name"},
    {"trt_int8_use_native_calibration_table"},
    {"trt_bf16_enable"},
    {"trt_max_workspace_size"},
    {"trt_max_partition_iterations"},
    {"trt_min_subgraph_size"},
    {"trt_dla_enable"},
    {"trt_dla_core"},
    {"trt_dump_subgraphs"},
    {"trt_weight_stripped_engine_enable"},
    {"trt_onnx_model_folder_path"},
    {"trt_onnx_bytestream"},
    {"trt_onnx_bytestream_size"},
    {"trt_external_data_bytestream"},
    {"trt_external_data_bytestream_size"},
    {"trt_engine_decryption_enable"},
    {"trt_engine_decryption_lib_path"},
    {"trt_engine_hw_compatible"},
    {"trt_force_sequential_engine_build"},
    {"trt_context_memory_sharing_enable"},
    {"trt_layer_norm_fp32_fallback"},
    {"trt_timing_cache_enable"},
    {"trt_timing_cache_path"},
    {"trt_force_timing_cache"},
    {"trt_detailed_build_log"},
    {"trt_build_heuristics_enable"},
    {"trt_sparsity_enable"},
    {"trt_builder_optimization_level"},
    {"trt_auxiliary_streams"},
    {"trt_tactic_sources"},
    {"trt_extra_plugin_lib_paths"},
    {"trt_profile_min_shapes"},
    {"trt_profile_max_shapes"},
    {"trt_profile_opt_shapes"},
    {"trt_preview_features"},
    {"trt_op_types_to_exclude"},
    {"trt_load_user_initializer"},
};

bool is_on(const std::string& value) { return value == "1" || value == "true" || value == "True"; }

const TensorRtRow& row_of(const std::string& key) {
  const TensorRtRow* row = std::ranges::find(kTensorRtRows, key, &TensorRtRow::key);
  base::require(row != std::end(kTensorRtRows), base::ErrorCode::kInvalidArgument,
                "the TensorRT provider has no option '", key, "'");
  return *row;
}

ProviderSettings cuda_settings_of(const ProviderSettings& settings) {
  ProviderSettings cuda;
  for (const auto& [key, value] : settings) {
    const TensorRtRow& row = row_of(key);
    if (row.cuda == nullptr) continue;
    if (row.when_on == nullptr) cuda[row.cuda] = value;
    if (row.when_on != nullptr && is_on(value)) cuda[row.cuda] = row.when_on;
  }
  return cuda;
}

/** Entries of the session, where it has none of its own. */
void set_entries(runtime::SessionOptions& options, const ProviderSettings& settings) {
  for (const auto& [key, value] : settings) {
    const TensorRtRow& row = row_of(key);
    bool says_nothing = value.empty() || value == "0" || value == "false" || value == "False";
    if (row.entry != nullptr && !says_nothing) options.config.try_emplace(row.entry, is_on(value) ? "1" : value);
  }
  auto cached = settings.find("trt_engine_cache_enable"), folder = settings.find("trt_engine_cache_path");
  if (cached == settings.end() || !is_on(cached->second)) return;
  std::string path = folder == settings.end() || folder->second.empty() ? "." : folder->second;
  options.config.try_emplace("ortolan.compiled_model_folder", std::move(path));
}

/** Makes the CUDA provider and says so. */
class StandIn final : public runtime::ProviderFactory {
 public:
  StandIn(std::shared_ptr<const runtime::ProviderFactory> cuda, const ProviderSettings& settings)
      : cuda_(std::move(cuda)) {
    for (const auto& [key, value] : settings) settings_ += base::join(settings_.empty() ? "" : ", ", key, '=', value);
  }
  const std::string& type() const override { return cuda_->type(); }
  std::unique_ptr<runtime::ExecutionProvider> make(const runtime::SessionOptions& options,
                                                   const base::Logger& logger) const override {
    logger.log(base::Severity::kWarning, "tensorrt_options.cc", "the session's entry ", kTensorRtAsCuda,
               " gives what it asks of TensorRT to provider ", type(), ", with ",
               settings_.empty() ? "its defaults" : settings_, "; TensorRT itself takes no part");
    return cuda_->make(options, logger);
  }
  runtime::Compatibility judge(const std::string& info) const override { return cuda_->judge(info); }
  std::vector<runtime::HardwareType> device_types() const override { return cuda_->device_types(); }

 private:
  std::shared_ptr<const runtime::ProviderFactory> cuda_;
  std::string settings_;
};

[[noreturn]] void fail_without_tensorrt() {
  fail_absent_provider("TensorRT",
                       base::join("set the session's entry ", kTensorRtAsCuda,
                                  " to 1 before to have the CUDA execution provider do what is asked of it"));
}

}  // namespace

ProviderSettings tensorrt_settings(const OrtTensorRTProviderOptions* options) {
  if (options == nullptr) return {};
  const OrtTensorRTProviderOptions& given = *options;
  auto text = [](const char* member) { return member == nullptr ? std::string() : member; };
  return {{"device_id", base::join(given.device_id)},
          {"has_user_compute_stream", base::join(given.has_user_compute_stream)},
          {"user_compute_stream", address_text(given.has_user_compute_stream ? given.user_compute_stream : nullptr)},
          {"trt_max_partition_iterations", base::join(given.trt_max_partition_iterations)},
          {"trt_min_subgraph_size", base::join(given.trt_min_subgraph_size)},
          {"trt_max_workspace_size", base::join(given.trt_max_workspace_size)},
          {"trt_fp16_enable", base::join(given.trt_fp16_enable)},
          {"trt_int8_enable", base::join(given.trt_int8_enable)},
          {"trt_int8_calibration_table_name", text(given.trt_int8_calibration_table_name)},
          {"trt_int8_use_native_calibration_table", base::join(given.trt_int8_use_native_calibration_table)},
          {"trt_dla_enable", base::join(given.trt_dla_enable)},
          {"trt_dla_core", base::join(given.trt_dla_core)},
          {"trt_dump_subgraphs", base::join(given.trt_dump_subgraphs)},
          {"trt_engine_cache_enable", base::join(given.trt_engine_cache_enable)},
          {"trt_engine_cache_path", text(given.trt_engine_cache_path)},
          {"trt_engine_decryption_enable", base::join(given.trt_engine_decryption_enable)},
          {"trt_engine_decryption_lib_path", text(given.trt_engine_decryption_lib_path)},
          {"trt_force_sequential_engine_build", base::join(given.trt_force_sequential_engine_build)}};
}

void append_tensorrt(runtime::SessionOptions& options, const ProviderSettings& settings) {
  if (append_registered(options, kTensorRt, settings)) return;
  if (options.config_or(kTensorRtAsCuda, "0") != "1") fail_without_tensorrt();
  const ProviderSettings cuda = cuda_settings_of(settings);
  runtime::ProviderRequest& request = append_cuda(options, cuda);
  request.factory = std::make_shared<StandIn>(std::move(request.factory), cuda);
  set_entries(options, settings);
}

}  // namespace ortolan::api
