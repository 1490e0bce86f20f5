// The example's providers, made to work in ordinary memory and to compute GlobalAveragePool alone, with channels second
// or last. TheWishes() is what they ask of the runtime.
#include <cstddef>
#include <cstring>

#include "example/factory.h"
#include "example/graph.h"
#include "wishes.h"

extern "C" {
// The example's own functions, which the build has renamed.
OrtStatus* ExampleCreateEpFactories(const char*, const OrtApiBase*, const OrtLogger*, OrtEpFactory**, size_t, size_t*);
OrtStatus* ExampleReleaseEpFactory(OrtEpFactory*);
ORT_EXPORT ortolan::wishes::Wishes* TheWishes();
}

namespace ortolan::wishes {
namespace {

using example::check;
using example::Factory;
using example::guard;
using example::Host;
using example::Tensor;

constexpr const char* kChannelsLast = "com.ms.internal.nhwc";

OrtEpFactory real_factory;
const Host* host = nullptr;  // of the factories, which all have the same

std::string operator_of(const OrtNode* node) {
  const char *domain = nullptr, *type = nullptr;
  check(*host, host->api->Node_GetDomain(node, &domain));
  check(*host, host->api->Node_GetOperatorType(node, &type));
  return std::string(domain) + ":" + type;
}

/** The means of one node, of floats on the host. */
class Means : public OrtNodeComputeInfo {
 public:
  explicit Means(bool channels_last) : OrtNodeComputeInfo{}, channels_last_(channels_last) {
    ort_version_supported = host->level;
    CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) -> OrtStatus* {
      *state = nullptr;
      return nullptr;
    };
    Compute = [](OrtNodeComputeInfo* self, void*, OrtKernelContext* context) {
      return guard(*host, [&] { static_cast<Means*>(self)->run(context); });
    };
    ReleaseState = [](OrtNodeComputeInfo*, void*) {};
  }

 private:
  void run(OrtKernelContext* context) const {
    Tensor x = example::input_of(*host, context, 0);
    example::Shape shape(x.shape.size(), 1);
    const size_t channel_axis = channels_last_ ? shape.size() - 1 : 1;
    shape[0] = x.shape[0];
    shape[channel_axis] = x.shape[channel_axis];
    Tensor y = example::output_of(*host, context, 0, shape);
    const auto channels = static_cast<size_t>(shape[channel_axis]);
    const size_t pixels = x.bytes / sizeof(float) / (static_cast<size_t>(shape[0]) * channels);
    auto* from = static_cast<const float*>(x.address);
    auto* to = static_cast<float*>(y.address);
    for (size_t at = 0; at < y.bytes / sizeof(float); at++) {
      const size_t image = at / channels, channel = at % channels;
      float sum = 0;
      for (size_t pixel = 0; pixel < pixels; pixel++) {
        const size_t inner = channels_last_ ? pixel * channels + channel : channel * pixels + pixel;
        sum += from[image * channels * pixels + inner];
      }
      to[at] = sum / static_cast<float>(pixels);
    }
  }

  const bool channels_last_;
};

OrtStatus* get_capability(OrtEp* self, const OrtGraph* graph, OrtEpGraphSupportInfo* support) {
  return guard(*host, [&] {
    for (const OrtNode* node : example::nodes_of(*host, graph)) {
      const char* provider = nullptr;
      check(*host, host->api->Node_GetEpName(node, &provider));
      // Microsoft's library has given the nodes that it changes to this provider already.
      if (provider && provider[0] != '\0' && std::strcmp(provider, self->GetName(self)) != 0) continue;
      std::string name = operator_of(node);
      if (name != ":GlobalAveragePool" && name != std::string(kChannelsLast) + ":GlobalAveragePool") continue;
      check(*host, host->ep->EpGraphSupportInfo_AddNodesToFuse(support, &node, 1, nullptr));
    }
  });
}

OrtStatus* compile(OrtEp*, const OrtGraph** graphs, const OrtNode**, size_t count, OrtNodeComputeInfo** infos,
                   OrtNode**) {
  return guard(*host, [&] {
    for (size_t i = 0; i < count; i++) {
      std::string name = operator_of(example::nodes_of(*host, graphs[i]).at(0));
      TheWishes()->compiled.push_back(name);
      infos[i] = new Means(name[0] != ':');
    }
  });
}

void release_infos(OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
  for (size_t i = 0; i < count; i++) delete static_cast<Means*>(infos[i]);
}

OrtStatus* preferred_layout(OrtEp*, OrtEpDataLayout* layout) {
  *layout = TheWishes()->channels_last ? OrtEpDataLayout_NHWC : OrtEpDataLayout_NCHW;
  return nullptr;
}

OrtStatus* should_convert(OrtEp*, const char* domain, const char* op, OrtEpDataLayout layout, int* answer) {
  if (layout != OrtEpDataLayout_NHWC) return host->api->CreateStatus(ORT_INVALID_ARGUMENT, "asked about NCHW");
  TheWishes()->asked_about.push_back(std::string(domain) + ":" + op);
  *answer = TheWishes()->should_convert;
  return nullptr;
}

OrtStatus* available(const OrtEp*, OrtResourceCount* count) {
  uint64_t bytes = TheWishes()->bytes;
  *count = bytes == 0 ? OrtResourceCount::None() : OrtResourceCount::FromTotalBytes(bytes);
  return nullptr;
}

OrtStatus* create_ep(OrtEpFactory* self, const OrtHardwareDevice* const* devices,
                     const OrtKeyValuePairs* const* metadata, size_t count, const OrtSessionOptions* options,
                     const OrtLogger* logger, OrtEp** out) {
  if (OrtStatus* status = real_factory.CreateEp(self, devices, metadata, count, options, logger, out)) return status;
  OrtEp* ep = *out;
  ep->GetCapability = get_capability;
  ep->Compile = compile;
  ep->ReleaseNodeComputeInfos = release_infos;
  ep->GetPreferredDataLayout = preferred_layout;
  ep->ShouldConvertDataLayoutForOp = should_convert;
  ep->GetAvailableResource = available;
  ep->GetKernelRegistry = nullptr;
  ep->CreateAllocator = nullptr;
  ep->CreateSyncStreamForDevice = nullptr;
  ep->GetDefaultMemoryDevice = nullptr;
  return nullptr;
}

void alter(Factory& factory) {
  host = &factory.host();
  real_factory = factory;
  factory.CreateEp = create_ep;
  factory.CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** out) -> OrtStatus* {
    *out = nullptr;
    return nullptr;
  };
  factory.IsStreamAware = [](const OrtEpFactory*) { return false; };
}

// The providers have no memory of their own: what the example says of it is kept back.
OrtEpApi altered_ep_api;
OrtApi altered_api;
OrtApiBase altered_base;

// The plugin speaks level 30, which every runtime has that it is tested in: an older one's tables end there.
const OrtApiBase* alter_tables(const OrtApiBase* base) {
  std::memcpy(&altered_api, base->GetApi(30), offsetof(OrtApi, SessionOptionsSetEpContextDataReadFunc));
  std::memcpy(&altered_ep_api, altered_api.GetEpApi(), sizeof altered_ep_api);
  altered_ep_api.EpDevice_AddAllocatorInfo = [](OrtEpDevice*, const OrtMemoryInfo*) noexcept -> OrtStatus* {
    return nullptr;
  };
  altered_api.GetEpApi = [] { return static_cast<const OrtEpApi*>(&altered_ep_api); };
  altered_base.GetApi = [](uint32_t) noexcept { return static_cast<const OrtApi*>(&altered_api); };
  altered_base.GetVersionString = []() noexcept { return "1.30.0"; };
  return &altered_base;
}

}  // namespace
}  // namespace ortolan::wishes

using namespace ortolan::wishes;

extern "C" {

ORT_EXPORT Wishes* TheWishes() {
  static Wishes all;
  return &all;
}

ORT_EXPORT OrtStatus* CreateEpFactories(const char* name, const OrtApiBase* base, const OrtLogger* logger,
                                        OrtEpFactory** factories, size_t room, size_t* count) {
  OrtStatus* status = ExampleCreateEpFactories(name, alter_tables(base), logger, factories, room, count);
  for (size_t i = 0; !status && i < *count; i++) alter(*static_cast<Factory*>(factories[i]));
  return status;
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) { return ExampleReleaseEpFactory(factory); }

}  // extern "C"
