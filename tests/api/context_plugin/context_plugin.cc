// A plugin provider for tests of compiled models: it multiplies, and keeps what it compiled as the word "multiply", in
// an EPContext node or in a file that the node names. It also imports memory and semaphores (importer.h).
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "importer.h"
#include "onnxruntime_c_api.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

constexpr const char* kName = "ContextExecutionProvider";
constexpr const char* kData = "multiply";
const OrtApi* api;
const OrtEpApi* ep_api;
const OrtModelEditorApi* editor;

OrtStatus* failed(const std::string& text) { return api->CreateStatus(ORT_EP_FAIL, text.c_str()); }

#define RETURN_IF_ERROR(call) \
  if (OrtStatus* status = (call)) return status

std::string config_of(const OrtSessionOptions* options, const char* key) {
  size_t size = 0;
  int there = 0;
  if (api->HasSessionConfigEntry(options, key, &there) != nullptr || there == 0) return "";
  if (OrtStatus* status = api->GetSessionConfigEntry(options, key, nullptr, &size)) api->ReleaseStatus(status);
  std::string value(size, '\0');
  if (OrtStatus* status = api->GetSessionConfigEntry(options, key, value.data(), &size)) api->ReleaseStatus(status);
  while (!value.empty() && value.back() == '\0') value.pop_back();
  return value;
}

std::string text_attribute(const OrtNode* node, const char* name) {
  const OrtOpAttr* attribute = nullptr;
  if (OrtStatus* status = api->Node_GetAttributeByName(node, name, &attribute)) {
    api->ReleaseStatus(status);
    return "";
  }
  if (attribute == nullptr) return "";
  size_t size = 0;
  if (OrtStatus* status = api->ReadOpAttr(attribute, ORT_OP_ATTR_STRING, nullptr, 0, &size)) api->ReleaseStatus(status);
  std::string value(size, '\0');
  if (OrtStatus* status = api->ReadOpAttr(attribute, ORT_OP_ATTR_STRING, value.data(), size, &size)) {
    api->ReleaseStatus(status);
    return "";
  }
  value.resize(size);
  while (!value.empty() && value.back() == '\0') value.pop_back();
  return value;
}

int64_t int_attribute(const OrtNode* node, const char* name, int64_t fallback) {
  const OrtOpAttr* attribute = nullptr;
  size_t size = 0;
  int64_t value = fallback;
  OrtStatus* status = api->Node_GetAttributeByName(node, name, &attribute);
  if (status == nullptr && attribute != nullptr) {
    status = api->ReadOpAttr(attribute, ORT_OP_ATTR_INT, &value, sizeof value, &size);
  }
  if (status != nullptr) api->ReleaseStatus(status);
  return value;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

/** What one compiled node does. */
struct Product final : OrtNodeComputeInfo {
  Product() : OrtNodeComputeInfo{} {
    ort_version_supported = ORT_API_VERSION;
    CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) -> OrtStatus* {
      *state = nullptr;
      return nullptr;
    };
    Compute = [](OrtNodeComputeInfo*, void*, OrtKernelContext* context) -> OrtStatus* { return compute(context); };
    ReleaseState = [](OrtNodeComputeInfo*, void*) {};
  }
  static OrtStatus* compute(OrtKernelContext* context) {
    const OrtValue *a = nullptr, *b = nullptr;
    size_t inputs = 0;  // one where both factors are the same
    RETURN_IF_ERROR(api->KernelContext_GetInputCount(context, &inputs));
    RETURN_IF_ERROR(api->KernelContext_GetInput(context, 0, &a));
    RETURN_IF_ERROR(api->KernelContext_GetInput(context, inputs - 1, &b));
    OrtTensorTypeAndShapeInfo* info = nullptr;
    RETURN_IF_ERROR(api->GetTensorTypeAndShape(a, &info));
    size_t rank = 0, count = 0;
    std::vector<int64_t> shape(8);
    OrtStatus* status = api->GetDimensionsCount(info, &rank);
    if (status == nullptr) status = api->GetDimensions(info, shape.data(), rank);
    if (status == nullptr) status = api->GetTensorShapeElementCount(info, &count);
    api->ReleaseTensorTypeAndShapeInfo(info);
    if (status != nullptr) return status;
    OrtValue* product = nullptr;
    RETURN_IF_ERROR(api->KernelContext_GetOutput(context, 0, shape.data(), rank, &product));
    const void *left = nullptr, *right = nullptr;
    void* out = nullptr;
    RETURN_IF_ERROR(api->GetTensorData(a, &left));
    RETURN_IF_ERROR(api->GetTensorData(b, &right));
    RETURN_IF_ERROR(api->GetTensorMutableData(product, &out));
    for (size_t i = 0; i < count; ++i) {
      static_cast<float*>(out)[i] = static_cast<const float*>(left)[i] * static_cast<const float*>(right)[i];
    }
    return nullptr;
  }
};

struct Provider final : OrtEp {
  std::string info, context_path;
  bool context = false, embed = false, without_node = false;

  explicit Provider(const OrtSessionOptions* options) : OrtEp{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEp*) { return kName; };
    GetCapability = [](OrtEp*, const OrtGraph* graph, OrtEpGraphSupportInfo* support) { return claim(graph, support); };
    Compile = [](OrtEp* self, const OrtGraph** graphs, const OrtNode** fused, size_t count, OrtNodeComputeInfo** made,
                 OrtNode** contexts) -> OrtStatus* {
      for (size_t i = 0; i < count; ++i) {
        RETURN_IF_ERROR(static_cast<Provider*>(self)->compile(graphs[i], fused[i], made[i], contexts[i]));
      }
      return nullptr;
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
      for (size_t i = 0; i < count; ++i) delete static_cast<Product*>(infos[i]);
    };
    GetCompiledModelCompatibilityInfo = [](OrtEp* self, const OrtGraph*) {
      return static_cast<Provider*>(self)->info.c_str();
    };
    GetWeightlessSupport = [](const OrtEp*, OrtWeightlessSupport* support) -> OrtStatus* {
      *support = OrtWeightlessSupport_NONE;
      return nullptr;
    };
    context = config_of(options, "ep.context_enable") == "1";
    embed = config_of(options, "ep.context_embed_mode") == "1";
    context_path = config_of(options, "ep.context_file_path");
    info = config_of(options, "test.compatibility_info");
    without_node = config_of(options, "test.without_node") == "1";
  }

  static OrtStatus* claim(const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
    size_t count = 0;
    RETURN_IF_ERROR(api->Graph_GetNumNodes(graph, &count));
    std::vector<const OrtNode*> nodes(count);
    RETURN_IF_ERROR(api->Graph_GetNodes(graph, nodes.data(), count));
    for (const OrtNode* node : nodes) {
      const char* type = nullptr;
      RETURN_IF_ERROR(api->Node_GetOperatorType(node, &type));
      bool own = std::strcmp(type, "EPContext") == 0 && text_attribute(node, "source") == kName;
      if (!own && std::strcmp(type, "Mul") != 0) continue;
      OrtNodeFusionOptions options{};
      options.ort_version_supported = ORT_API_VERSION;
      RETURN_IF_ERROR(ep_api->EpGraphSupportInfo_AddNodesToFuse(support, &node, 1, &options));
    }
    return nullptr;
  }

  OrtStatus* compile(const OrtGraph* graph, const OrtNode* fused, OrtNodeComputeInfo*& made, OrtNode*& node_made) {
    size_t count = 0;
    RETURN_IF_ERROR(api->Graph_GetNumNodes(graph, &count));
    std::vector<const OrtNode*> nodes(count);
    RETURN_IF_ERROR(api->Graph_GetNodes(graph, nodes.data(), count));
    const char* type = nullptr;
    RETURN_IF_ERROR(api->Node_GetOperatorType(nodes[0], &type));
    if (std::strcmp(type, "EPContext") == 0) {
      RETURN_IF_ERROR(load(graph, nodes[0]));
    } else if (context && !without_node) {
      RETURN_IF_ERROR(make_node(fused, node_made));
    }
    made = new Product;
    return nullptr;
  }

  /** Looks whether a node holds what make_node once wrote. */
  static OrtStatus* load(const OrtGraph* graph, const OrtNode* node) {
    std::string data = text_attribute(node, "ep_cache_context");
    if (int_attribute(node, "embed_mode", 1) == 0) {
      const char* model = nullptr;
      RETURN_IF_ERROR(api->Graph_GetModelPath(graph, &model));
      std::string path = folder_of(model) + data;
      std::ifstream file(path);
      data.assign(std::istreambuf_iterator<char>(file), {});
    }
    return data == kData ? nullptr : failed("the compiled data is '" + data + "'");
  }

  OrtStatus* make_node(const OrtNode* fused, OrtNode*& out) const {
    const char* name = nullptr;
    RETURN_IF_ERROR(api->Node_GetName(fused, &name));
    std::string data = kData;
    if (!embed) {
      data = std::string(name) + ".bin";
      std::ofstream(folder_of(context_path) + data) << kData;
    }
    std::vector<const char*> inputs, outputs;
    RETURN_IF_ERROR(names_of(fused, api->Node_GetNumInputs, api->Node_GetInputs, inputs));
    RETURN_IF_ERROR(names_of(fused, api->Node_GetNumOutputs, api->Node_GetOutputs, outputs));
    int64_t main = 1, mode = embed ? 1 : 0;
    std::vector<OrtOpAttr*> attributes(4);
    RETURN_IF_ERROR(api->CreateOpAttr("ep_cache_context", data.data(), static_cast<int>(data.size()),
                                      ORT_OP_ATTR_STRING, &attributes[0]));
    RETURN_IF_ERROR(
        api->CreateOpAttr("source", kName, static_cast<int>(std::strlen(kName)), ORT_OP_ATTR_STRING, &attributes[1]));
    RETURN_IF_ERROR(api->CreateOpAttr("main_context", &main, 1, ORT_OP_ATTR_INT, &attributes[2]));
    RETURN_IF_ERROR(api->CreateOpAttr("embed_mode", &mode, 1, ORT_OP_ATTR_INT, &attributes[3]));
    return editor->CreateNode("EPContext", "com.microsoft", name, inputs.data(), inputs.size(), outputs.data(),
                              outputs.size(), attributes.data(), attributes.size(), &out);
  }

  template <class Count, class Get>
  static OrtStatus* names_of(const OrtNode* node, Count count_of, Get get, std::vector<const char*>& names) {
    size_t count = 0;
    RETURN_IF_ERROR(count_of(node, &count));
    std::vector<const OrtValueInfo*> values(count);
    RETURN_IF_ERROR(get(node, values.data(), count));
    names.resize(count);
    for (size_t i = 0; i < count; ++i) RETURN_IF_ERROR(api->GetValueInfoName(values[i], &names[i]));
    return nullptr;
  }
};

struct Factory final : OrtEpFactory {
  Factory() : OrtEpFactory{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEpFactory*) { return kName; };
    GetVendor = [](const OrtEpFactory*) { return "tests"; };
    GetVendorId = [](const OrtEpFactory*) { return 0x7e57u; };
    GetVersion = [](const OrtEpFactory*) { return "1.2.3"; };
    GetSupportedDevices = find_devices;
    CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                  const OrtSessionOptions* options, const OrtLogger*, OrtEp** ep) -> OrtStatus* {
      *ep = new Provider(options);
      return nullptr;
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<Provider*>(ep); };
    ValidateCompiledModelCompatibilityInfo = [](OrtEpFactory*, const OrtHardwareDevice* const*, size_t,
                                                const char* info, OrtCompiledModelCompatibility* judgement) {
      return judge(info, judgement);
    };
    IsStreamAware = [](const OrtEpFactory*) { return false; };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo*, const OrtKeyValuePairs*,
                         OrtAllocator** out) -> OrtStatus* {
      *out = nullptr;
      return nullptr;
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) {};
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** out) -> OrtStatus* {
      *out = nullptr;
      return nullptr;
    };
    CreateExternalResourceImporterForDevice = [](OrtEpFactory*, const OrtEpDevice* device,
                                                 OrtExternalResourceImporterImpl** out) -> OrtStatus* {
      *out = make_importer(api, device);
      return nullptr;
    };
    InitGraphicsInterop = [](OrtEpFactory*, const OrtEpDevice*, const OrtGraphicsInteropConfig* config) -> OrtStatus* {
      return config->graphics_api == ORT_GRAPHICS_API_VULKAN ? nullptr : failed("only Vulkan is known");
    };
    DeinitGraphicsInterop = [](OrtEpFactory*, const OrtEpDevice*) -> OrtStatus* { return nullptr; };
  }

  static OrtStatus* ORT_API_CALL find_devices(OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count,
                                              OrtEpDevice** found, size_t room, size_t* found_count) {
    *found_count = 0;
    for (size_t i = 0; i < count && *found_count < room; ++i) {
      if (api->HardwareDevice_Type(devices[i]) != OrtHardwareDeviceType_CPU) continue;
      RETURN_IF_ERROR(ep_api->CreateEpDevice(self, devices[i], nullptr, nullptr, &found[*found_count]));
      ++*found_count;
      break;
    }
    return nullptr;
  }

  static OrtStatus* judge(const std::string& info, OrtCompiledModelCompatibility* judgement) {
    if (info == "broken") return failed("the info is broken");
    *judgement = info == "optimal"   ? OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL
                 : info == "old"     ? OrtCompiledModelCompatibility_EP_SUPPORTED_PREFER_RECOMPILATION
                 : info == "too old" ? OrtCompiledModelCompatibility_EP_UNSUPPORTED
                                     : OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
    return nullptr;
  }
};

}  // namespace

EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                    size_t max_factories, size_t* num_factories) {
  api = base->GetApi(ORT_API_VERSION);
  ep_api = api->GetEpApi();
  editor = api->GetModelEditorApi();
  if (max_factories == 0) return failed("there is no room for a factory");
  factories[0] = new Factory;
  *num_factories = 1;
  return nullptr;
}

EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}
