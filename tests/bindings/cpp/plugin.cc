// A plugin provider written with the C++ classes, as such libraries are: it compiles single Relu nodes, and looks at
// everything that a graph shows while it does.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace {

constexpr const char* kName = "CppTestExecutionProvider";

// What a graph of the test says about itself, one property a line; the first difference is an error of the session.
struct Expectation {
  static void That(bool right, const std::string& what) {
    if (!right) ORT_CXX_API_THROW("the graph is not as expected: " + what, ORT_EP_FAIL);
  }
};

void LookAtNode(const Ort::ConstNode& node, const Ort::ConstGraph& graph) {
  using E = Expectation;
  E::That(node.GetDomain().empty() && node.GetSinceVersion() >= 1, "domain and version of " + node.GetName());
  E::That(static_cast<const OrtGraph*>(node.GetGraph()) == static_cast<const OrtGraph*>(graph), "graph of a node");
  E::That(node.GetSubgraphs().empty() && node.GetImplicitInputs().empty(), "subgraphs");
  for (const Ort::ConstValueInfo& output : node.GetOutputs()) {
    const auto producer = output.GetProducerNode();
    E::That(producer.node.GetId() == node.GetId() && producer.index == 0, "producer of " + output.GetName());
    E::That(!output.IsFromOuterScope() && !output.IsConstantInitializer(), "kind of " + output.GetName());
    const auto shape = output.TypeInfo().GetTensorTypeAndShapeInfo();
    E::That(shape.GetElementType() == ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, "type of " + output.GetName());
    for (const auto& consumer : output.GetConsumers()) {
      E::That(consumer.node.GetInputs().at(consumer.index).GetName() == output.GetName(), "consumers");
    }
  }
  Ort::ConstOpAttr attribute;
  E::That(node.GetAttributeByName("no_such_attribute", attribute).GetErrorCode() == ORT_NOT_FOUND, "missing attribute");
  if (node.GetOperatorType() != "Gemm" || node.GetAttributes().empty()) return;
  float alpha = 0;
  int64_t trans_b = 0;
  E::That(node.GetAttributeByName("alpha", attribute).IsOK() && attribute.GetType() == ORT_OP_ATTR_FLOAT, "alpha");
  E::That(attribute.GetName() == "alpha" && attribute.GetValue(alpha).IsOK() && alpha == 0.5f, "value of alpha");
  const std::string refusal = attribute.GetValue(trans_b).GetErrorMessage();
  E::That(refusal.find("attribute 'alpha' has type") != std::string::npos, "wrong type of alpha: " + refusal);
  E::That(node.GetAttributeByName("transB", attribute).IsOK() && attribute.GetValue(trans_b).IsOK() && trans_b == 1,
          "transB");
}

void LookAtGraph(const Ort::ConstGraph& graph) {
  using E = Expectation;
  E::That(graph.GetOnnxIRVersion() > 0 && graph.GetModelPath().empty(), "version and path");
  bool has_standard = false;
  for (const Ort::OperatorSet& set : graph.GetOperatorSets()) has_standard |= set.domain.empty() && set.version == 17;
  E::That(has_standard, "operator sets");
  E::That(static_cast<const OrtNode*>(graph.GetParentNode()) == nullptr, "parent");
  E::That(graph.GetInputs().at(0).IsRequiredGraphInput() && !graph.GetInputs()[0].IsOptionalGraphInput(), "inputs");
  E::That(graph.GetOutputs().at(0).IsGraphOutput(), "outputs");
  for (const Ort::ConstValueInfo& info : graph.GetInitializers()) {
    Ort::ConstValue value;
    E::That(info.IsConstantInitializer() && info.GetInitializer(value).IsOK(), "initializer " + info.GetName());
    E::That(value.GetTensorTypeAndShapeInfo().GetElementCount() > 0, "elements of " + info.GetName());
    Ort::ExternalInitializerInfo place{nullptr};
    E::That(info.GetExternalInitializerInfo(place).IsOK(), "place of " + info.GetName());
    E::That(static_cast<OrtExternalInitializerInfo*>(place) == nullptr, "place in a file");
  }
  for (const Ort::ConstNode& node : graph.GetNodes()) LookAtNode(node, graph);
  Ort::AllocatorWithDefaultOptions allocator;
  static_cast<void>(graph.GetModelMetadata().GetProducerNameAllocated(allocator));
  const Ort::Graph part = graph.GetGraphView({graph.GetNodes().at(0)});
  E::That(part.GetNodes().size() == 1, "view");
}

// What a failing action throws, as a status for the runtime.
template <typename Action>
OrtStatus* Guard(const Action& action) noexcept {
  try {
    action();
    return nullptr;
  } catch (const Ort::Exception& e) {
    return Ort::Status(e).release();
  } catch (const std::exception& e) {
    return Ort::Status(e).release();
  }
}

struct Relu : OrtNodeComputeInfo {
  Relu() : OrtNodeComputeInfo{} {
    ort_version_supported = ORT_API_VERSION;
    CreateState = [](OrtNodeComputeInfo*, OrtNodeComputeContext*, void** state) -> OrtStatus* {
      *state = nullptr;
      return nullptr;
    };
    Compute = [](OrtNodeComputeInfo*, void*, OrtKernelContext* raw) -> OrtStatus* {
      return Guard([raw] {
        const Ort::KernelContext context(raw);
        const Ort::ConstValue x = context.GetInput(0);
        ONNXTensorElementDataType type{};
        Ort::Value::Shape shape{};
        x.GetTensorElementTypeAndShapeDataReference(type, shape);
        Ort::UnownedValue y = context.GetOutput(0, shape.shape, shape.shape_len);
        const float* in = x.GetTensorData<float>();
        std::transform(in, in + x.GetTensorSizeInBytes() / sizeof(float), y.GetTensorMutableData<float>(),
                       [](float value) { return std::max(value, 0.0f); });
      });
    };
    ReleaseState = [](OrtNodeComputeInfo*, void*) {};
  }
};

struct Provider : OrtEp {
  explicit Provider(const OrtLogger* raw_logger) : OrtEp{}, logger(raw_logger) {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEp*) { return kName; };
    GetCapability = [](OrtEp* self, const OrtGraph* raw, OrtEpGraphSupportInfo* support) -> OrtStatus* {
      return Guard([&] {
        const Ort::ConstGraph graph(raw);
        LookAtGraph(graph);
        for (const Ort::ConstNode& node : graph.GetNodes()) {
          if (node.GetOperatorType() != "Relu") continue;
          const OrtNode* pointer = node;
          OrtNodeFusionOptions options{};
          options.ort_version_supported = ORT_API_VERSION;
          Ort::ThrowOnError(Ort::GetEpApi().EpGraphSupportInfo_AddNodesToFuse(support, &pointer, 1, &options));
        }
        ORT_CXX_LOGF_NOEXCEPT(static_cast<Provider*>(self)->logger, ORT_LOGGING_LEVEL_INFO, "looked at %zu nodes",
                              graph.GetNodes().size());
      });
    };
    Compile = [](OrtEp*, const OrtGraph** graphs, const OrtNode** fused, size_t count, OrtNodeComputeInfo** infos,
                 OrtNode**) -> OrtStatus* {
      return Guard([&] {
        for (size_t i = 0; i < count; ++i) {
          Expectation::That(Ort::ConstGraph(graphs[i]).GetNodes().size() == 1, "part");
          Expectation::That(Ort::ConstNode(fused[i]).GetEpName() == kName, "provider of the fused node");
          infos[i] = std::make_unique<Relu>().release();
        }
      });
    };
    ReleaseNodeComputeInfos = [](OrtEp*, OrtNodeComputeInfo** infos, size_t count) {
      for (size_t i = 0; i < count; ++i) delete static_cast<Relu*>(infos[i]);
    };
  }

  Ort::Logger logger;
};

struct Factory : OrtEpFactory {
  Factory() : OrtEpFactory{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEpFactory*) { return kName; };
    GetVendor = [](const OrtEpFactory*) { return "Ortolan tests"; };
    GetVendorId = [](const OrtEpFactory*) -> uint32_t { return 0xABCD; };
    GetVersion = [](const OrtEpFactory*) { return "1.2.3"; };
    IsStreamAware = [](const OrtEpFactory*) { return false; };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const* devices, size_t count,
                             OrtEpDevice** ep_devices, size_t max, size_t* found) -> OrtStatus* {
      return Guard([&] {
        *found = 0;
        for (size_t i = 0; i < count && *found < max; ++i) {
          Ort::ConstHardwareDevice device(devices[i]);
          if (device.Type() != OrtHardwareDeviceType_CPU) continue;
          Ort::KeyValuePairs metadata, options;
          metadata.Add("written_in", "C++");
          options.Add("level", "1");
          Ort::EpDevice made(*self, device, metadata.GetConst(), options.GetConst());
          Expectation::That(made.EpOptions().GetKeyValuePairs().at("level") == "1", "options of a device");
          ep_devices[(*found)++] = made.release();
        }
      });
    };
    CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const* metadata, size_t count,
                  const OrtSessionOptions* raw_options, const OrtLogger* logger, OrtEp** ep) -> OrtStatus* {
      return Guard([&] {
        const Ort::ConstSessionOptions options(raw_options);
        Expectation::That(options.GetExecutionMode() == ORT_SEQUENTIAL && options.GetMemPatternEnabled(), "session");
        Expectation::That(
            count == 1 && std::strcmp(Ort::ConstKeyValuePairs(metadata[0]).GetValue("written_in"), "C++") == 0,
            "metadata");
        *ep = std::make_unique<Provider>(logger).release();
      });
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) { delete static_cast<Provider*>(ep); };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator*) {};
  }
};

}  // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base,
                                                                               const OrtLogger*,
                                                                               OrtEpFactory** factories, size_t max,
                                                                               size_t* count) {
  Ort::InitApi(base->GetApi(ORT_API_VERSION));
  if (max < 1) return Ort::Status("there must be room for a factory", ORT_INVALID_ARGUMENT).release();
  factories[0] = std::make_unique<Factory>().release();
  *count = 1;
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}
