// The names that ONNX Runtime's CUDA provider has for its options, and what they mean here.
#include "cuda/official_options.h"

#include <charconv>
#include <optional>
#include <string>

namespace ortolan::gpu::cuda {
namespace {

using epkit::Options;

std::optional<uint64_t> number_of(const std::string& text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool is_switch(const std::string& text) { return text == "0" || text == "1"; }

bool is_one_of(const std::string& text, std::initializer_list<const char*> allowed) {
  for (const char* each : allowed) {
    if (text == each) return true;
  }
  return false;
}

/** Our own name for it, `device`, counts for more. */
bool set_device(Options& options, const std::string& text) {
  if (options.device.empty()) options.device = text;
  return number_of(text).has_value();
}

/** The largest number and 0 mean none. */
bool set_limit(Options& options, const std::string& text) {
  std::optional<uint64_t> bytes = number_of(text);
  if (options.memory_limit == 0 && bytes && *bytes != UINT64_MAX) options.memory_limit = *bytes;
  return bytes.has_value();
}

bool set_tuning(Options& options, const std::string& text) {
  if (text == "1" && options.tuning == Tuning::kNone) options.tuning = Tuning::kFast;
  return is_switch(text);
}

bool set_stream(Options& options, const std::string& text) {
  std::optional<uint64_t> address = number_of(text);
  options.queue = reinterpret_cast<void*>(address.value_or(0));
  return address.has_value();
}

bool set_tf32(Options& options, const std::string& text) {
  if (text == "1" && options.precision == Precision::kFloat) options.precision = Precision::kTf32;
  return is_switch(text);
}

bool take_switch(Options&, const std::string& text) { return is_switch(text); }
bool take_number(Options&, const std::string& text) { return number_of(text).has_value(); }

constexpr const char* kNumber = "a number from 0";
constexpr const char* kSwitch = "0 or 1";

constexpr epkit::ProviderOption kOptions[] = {
    {"device_id", kNumber, set_device},
    {"gpu_mem_limit", kNumber, set_limit},
    {"tunable_op_tuning_enable", kSwitch, set_tuning},
    {"user_compute_stream", "the number of a CUstream's address", set_stream},
    {"arena_extend_strategy", "kNextPowerOfTwo or kSameAsRequested",
     [](Options&, const std::string& text) {
       return is_one_of(text, {"kNextPowerOfTwo", "kSameAsRequested"});
     }},
    {"cudnn_conv_algo_search", "EXHAUSTIVE, HEURISTIC or DEFAULT",
     [](Options&, const std::string& text) {
       return is_one_of(text, {"EXHAUSTIVE", "HEURISTIC", "DEFAULT"});
     }},
    {"cudnn_conv_use_max_workspace", kSwitch, take_switch},
    {"cudnn_conv1d_pad_to_nc1d", kSwitch, take_switch},
    {"do_copy_in_default_stream", kSwitch, take_switch},
    {"enable_cuda_graph", kSwitch, take_switch},
    {"enable_skip_layer_norm_strict_mode", kSwitch, take_switch},
    {"fuse_conv_bias", kSwitch, take_switch},
    {"has_user_compute_stream", kSwitch, take_switch},
    {"prefer_nhwc", kSwitch, take_switch},
    {"sdpa_kernel", kNumber, take_number},
    {"tunable_op_enable", kSwitch, take_switch},
    {"tunable_op_max_tuning_duration_ms", kNumber, take_number},
    {"use_ep_level_unified_stream", kSwitch, take_switch},
    {"use_tf32", kSwitch, set_tf32},
};

}  // namespace

std::span<const epkit::ProviderOption> official_options() { return kOptions; }

}  // namespace ortolan::gpu::cuda
