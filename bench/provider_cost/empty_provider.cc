// A plugin provider that does next to nothing: it takes each Identity of a float as a node to compile, on the CPU's
// memory, and moves one number. What is measured with it is the runtime's own work.
#include <cstring>
#include <vector>

#include "onnxruntime_ep_c_api.h"

namespace {

const OrtApi* api;
const OrtEpApi* ep_api;
constexpr uint32_t kVersion = 24;

struct EmptyNode : OrtNodeComputeInfo {
  EmptyNode() : OrtNodeComputeInfo{} {
    ort_version_supported = kVersion;
    CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) -> OrtStatus* {
      *state = nullptr;
      return nullptr;
    };
    Compute = [](OrtNodeComputeInfo*, void*, OrtKernelContext* context) -> OrtStatus* {
      const OrtValue* input = nullptr;
      OrtValue* output = nullptr;
      const int64_t shape = 1;
      const void* from = nullptr;
      void* to = nullptr;
      OrtStatus* status = api->KernelContext_GetInput(context, 0, &input);
      if (!status) status = api->KernelContext_GetOutput(context, 0, &shape, 1, &output);
      if (!status) status = api->GetTensorData(input, &from);
      if (!status) status = api->GetTensorMutableData(output, &to);
      if (!status) std::memcpy(to, from, sizeof(float));
      return status;
    };
    ReleaseState = [](OrtNodeComputeInfo*, void*) {};
  }
};

struct Provider : OrtEp {
  Provider() : OrtEp{} {
    ort_version_supported = kVersion;
    GetName = [](const OrtEp*) { return "EmptyExecutionProvider"; };
    GetCapability = [](OrtEp*, const OrtGraph* graph, OrtEpGraphSupportInfo* support) -> OrtStatus* {
      size_t count = 0;
      if (OrtStatus* status = api->Graph_GetNumNodes(graph, &count)) return status;
      std::vector<const OrtNode*> nodes(count);
      if (OrtStatus* status = api->Graph_GetNodes(graph, nodes.data(), count)) return status;
      for (const OrtNode* node : nodes) {
        const char* type = nullptr;
        if (OrtStatus* status = api->Node_GetOperatorType(node, &type)) return status;
        if (std::strcmp(type, "Identity") != 0) continue;
        OrtNodeFusionOptions options{};
        options.ort_version_supported = kVersion;
        if (OrtStatus* status = ep_api->EpGraphSupportInfo_AddNodesToFuse(support, &node, 1, &options)) return status;
      }
      return nullptr;
    };
    Compile = [](OrtEp*, const OrtGraph**, const OrtNode**, size_t count, OrtNodeComputeInfo** infos,
                 OrtNode**) -> OrtStatus* {
      for (size_t i = 0; i < count; ++i) infos[i] = new EmptyNode;
      return nullptr;
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
      for (size_t i = 0; i < count; ++i) delete static_cast<EmptyNode*>(infos[i]);
    };
  }
};

struct Factory : OrtEpFactory {
  Factory() : OrtEpFactory{} {
    ort_version_supported = kVersion;
    GetName = [](const OrtEpFactory*) { return "EmptyExecutionProvider"; };
    GetVendor = [](const OrtEpFactory*) { return "bench"; };
    GetVendorId = [](const OrtEpFactory*) { return uint32_t{0}; };
    GetVersion = [](const OrtEpFactory*) { return "1.0.0"; };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count,
                             OrtEpDevice** found, size_t room, size_t* out) -> OrtStatus* {
      *out = 0;
      for (size_t i = 0; i < count && room > 0; ++i) {
        if (api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
        *out = 1;
        return ep_api->CreateEpDevice(self, devices[i], nullptr, nullptr, found);
      }
      return nullptr;
    };
    CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                  const OrtSessionOptions*, const OrtLogger*, OrtEp** ep) -> OrtStatus* {
      *ep = new Provider;
      return nullptr;
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<Provider*>(ep); };
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** transfer) -> OrtStatus* {
      *transfer = nullptr;
      return nullptr;
    };
    IsStreamAware = [](const OrtEpFactory*) { return false; };
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base,
                                                                               const OrtLogger*,
                                                                               OrtEpFactory** factories, size_t room,
                                                                               size_t* count) {
  api = base->GetApi(kVersion);
  ep_api = api->GetEpApi();
  if (room < 1) return api->CreateStatus(ORT_INVALID_ARGUMENT, "there is no room for a factory");
  factories[0] = new Factory;
  *count = 1;
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}
