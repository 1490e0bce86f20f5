// A library of custom operators that is not linked with the runtime, as programs load it by name.
#define ORT_API_MANUAL_INIT
#include <onnxruntime_cxx_api.h>
#undef ORT_API_MANUAL_INIT

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

// y = x * factor^power + the constant input c; gives its text attribute through the error of a negative power.
struct Kernel {
  Kernel(const OrtApi&, const OrtKernelInfo* raw) : info_(Ort::ConstKernelInfo(raw).Copy()) {
    const Ort::ConstKernelInfo info(raw);
    const auto power = info.GetAttribute<int64_t>("power");
    const auto factors = info.GetAttributes<float>("factors");
    if (power < 0) ORT_CXX_API_THROW(info.GetAttribute<std::string>("complaint"), ORT_INVALID_ARGUMENT);
    for (int64_t i = 0; i < power; ++i) {
      for (float factor : factors) factor_ *= factor;
    }
    int is_constant = 0;
    const Ort::ConstValue constant = info.GetTensorConstantInput(1, &is_constant);
    if (is_constant != 0) offset_ = *constant.GetTensorData<float>();
    Ort::AllocatorWithDefaultOptions allocator;
    const Ort::Value table = info.GetTensorAttribute("table", allocator);
    offset_ += table.At<float>({0});
  }

  OrtStatusPtr ComputeV2(OrtKernelContext* context) {
    const Ort::KernelContext ctx(context);
    if (info_.GetInputCount() != ctx.GetInputCount()) return Ort::Status("another node", ORT_FAIL).release();
    const Ort::ConstValue x = ctx.GetInput(0);
    const auto shape = x.GetTensorTypeAndShapeInfo().GetShape();
    auto y = ctx.GetOutput(0, shape);
    struct Work {
      const float* in;
      float* out;
      float factor, offset;
    } work{x.GetTensorData<float>(), y.GetTensorMutableData<float>(), factor_, offset_};
    ctx.ParallelFor(
        [](void* data, size_t i) {
          auto& job = *static_cast<Work*>(data);
          job.out[i] = job.in[i] * job.factor + job.offset;
        },
        x.GetTensorTypeAndShapeInfo().GetElementCount(), 0, &work);
    return nullptr;
  }

 private:
  Ort::KernelInfo info_;
  float factor_ = 1, offset_ = 0;
};

struct PowerOp : Ort::CustomOpBase<PowerOp, Kernel, true> {
  PowerOp() { start_ver_ = 1; }

  OrtStatusPtr CreateKernelV2(const OrtApi& api, const OrtKernelInfo* info, void** kernel) const {
    try {
      auto made = std::make_unique<Kernel>(api, info);
      *kernel = made.release();
      return nullptr;
    } catch (const Ort::Exception& e) {
      return Ort::Status(e).release();
    }
  }
  const char* GetName() const { return "Power"; }
  const char* GetExecutionProviderType() const { return "CPUExecutionProvider"; }
  size_t GetInputTypeCount() const { return 2; }
  ONNXTensorElementDataType GetInputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  OrtCustomOpInputOutputCharacteristic GetInputCharacteristic(size_t index) const {
    return index == 0 ? INPUT_OUTPUT_REQUIRED : INPUT_OUTPUT_OPTIONAL;
  }
  size_t GetOutputTypeCount() const { return 1; }
  ONNXTensorElementDataType GetOutputType(size_t) const { return ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT; }
  std::vector<std::string> GetSessionConfigKeys() const { return {"style"}; }

  static Ort::Status InferOutputShape(Ort::ShapeInferContext& ctx) {
    if (ctx.GetAttrInt("power") > 100) return Ort::Status("the power is too high", ORT_INVALID_ARGUMENT);
    if (ctx.GetAttrFloats("factors").empty()) return Ort::Status("there are no factors", ORT_INVALID_ARGUMENT);
    return ctx.SetOutputShape(0, ctx.GetInputShape(0));
  }

  std::string Style(OrtSessionOptions* options) const {
    std::unordered_map<std::string, std::string> configs;
    GetSessionConfigs(configs, Ort::ConstSessionOptions(options));
    return configs.count("style") != 0 ? configs["style"] : "";
  }
};

void KeepUntilExit(Ort::CustomOpDomain&& domain) {
  static std::vector<Ort::CustomOpDomain> domains;
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  domains.push_back(std::move(domain));
}

}  // namespace

extern "C" __attribute__((visibility("default"))) OrtStatus* ORT_API_CALL RegisterCustomOps(OrtSessionOptions* options,
                                                                                            const OrtApiBase* api) {
  Ort::InitApi(api->GetApi(ORT_API_VERSION));
  static const PowerOp op;
  try {
    if (op.Style(options) == "forbidden") return Ort::Status("this style is forbidden", ORT_EP_FAIL).release();
    Ort::CustomOpDomain domain{"test.power"};
    domain.Add(&op);
    Ort::UnownedSessionOptions(options).Add(domain);
    KeepUntilExit(std::move(domain));
  } catch (const std::exception& e) {
    return Ort::Status(e).release();
  }
  return nullptr;
}
