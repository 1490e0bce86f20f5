// Whether compiled models work on the devices at hand, by the texts that providers leave in them.
#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "api/plugins/ep_devices.h"
#include "api/plugins/ep_members.h"
#include "onnx/reader.h"
#include "onnxruntime_ep_c_api.h"
#include "runtime/session/ep_context.h"

namespace ortolan::api {
namespace {

/** Gives the caller what the metadata has for the provider; NULL for nothing. */
void give_info(const onnx::Metadata& metadata, const char* ep_type, OrtAllocator* allocator, char** out) {
  const std::string* info = runtime::find_compatibility_info(metadata, ep_type);
  *out = info != nullptr ? copy_text(allocator, *info) : nullptr;
}

void check_arguments(const char* ep_type, OrtAllocator* allocator, char** out) {
  require(*text(ep_type, "ep_type") != '\0', ErrorCode::kInvalidArgument, "ep_type is empty; name a provider");
  require_argument(allocator, "allocator");
  require_argument(out, "compatibility_info");
}

/** Throws unless all are devices of one provider. */
std::vector<const OrtHardwareDevice*> hardware_of(std::span<const OrtEpDevice* const> devices) {
  const EpDevice& first = unwrap(devices.front(), "ep_devices[0]");
  std::vector<const OrtHardwareDevice*> hardware;
  for (const OrtEpDevice* handle : devices) {
    const EpDevice& device = unwrap(handle, "ep_devices[i]");
    require(device.provider == first.provider && device.factory == first.factory, ErrorCode::kInvalidArgument,
            "the devices must be of one provider, but are of ", first.provider, " and ", device.provider);
    hardware.push_back(wrap<const OrtHardwareDevice>(device.hardware));
  }
  return hardware;
}

}  // namespace

OrtStatus* ORT_API_CALL GetModelCompatibilityForEpDevices(const OrtEpDevice* const* ep_devices, size_t num_ep_devices,
                                                          const char* compatibility_info,
                                                          OrtCompiledModelCompatibility* out_status) noexcept {
  return guard([&] {
    require_argument(ep_devices, "ep_devices");
    require(num_ep_devices != 0, ErrorCode::kInvalidArgument, "num_ep_devices is 0; name a device");
    text(compatibility_info, "compatibility_info");
    require_argument(out_status, "out_status");
    auto hardware = hardware_of({ep_devices, num_ep_devices});
    OrtEpFactory* factory = unwrap_optional(ep_devices[0])->factory;
    auto judgement = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
    auto judge =
        factory != nullptr ? member_if(*factory, &OrtEpFactory::ValidateCompiledModelCompatibilityInfo, 23) : nullptr;
    if (judge != nullptr) {
      check_plugin(judge(factory, hardware.data(), hardware.size(), compatibility_info, &judgement),
                   unwrap_optional(ep_devices[0])->provider, "ValidateCompiledModelCompatibilityInfo");
    }
    *out_status = judgement;
  });
}

OrtStatus* ORT_API_CALL GetCompatibilityInfoFromModel(const char* model_path, const char* ep_type,
                                                      OrtAllocator* allocator, char** compatibility_info) noexcept {
  return guard([&] {
    std::string path = text(model_path, "model_path");
    check_arguments(ep_type, allocator, compatibility_info);
    give_info(onnx::read_metadata_file(path), ep_type, allocator, compatibility_info);
  });
}

OrtStatus* ORT_API_CALL GetCompatibilityInfoFromModelBytes(const void* model_data, size_t model_data_length,
                                                           const char* ep_type, OrtAllocator* allocator,
                                                           char** compatibility_info) noexcept {
  return guard([&] {
    require_argument(model_data, "model_data");
    check_arguments(ep_type, allocator, compatibility_info);
    auto metadata = onnx::read_metadata_bytes({static_cast<const std::byte*>(model_data), model_data_length});
    give_info(metadata, ep_type, allocator, compatibility_info);
  });
}

}  // namespace ortolan::api
