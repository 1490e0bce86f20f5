// A plugin provider for tests of kernel registries: a few kernels, and control flow, on memory that only it can reach.
// What it counts is in metadata of its device, as the address of the counters.
#include <sys/mman.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "counters.h"
#include "onnxruntime_c_api.h"

namespace {

const OrtApi* api;
const OrtEpApi* ep_api;
KernelCounters counters;
const char* const kName = "KernelTestProvider";

#define TRY(call)                                  \
  do {                                             \
    if (OrtStatus* failed = (call)) return failed; \
  } while (false)

/** Addresses within a range that nobody may touch; each stands for one of `memory`. */
class Device {
 public:
  Device() {
    base_ = static_cast<char*>(mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    memory_ = static_cast<char*>(
        mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  }
  void* allocate(size_t bytes) {
    std::lock_guard lock(mutex_);
    bytes = (bytes + 255) / 256 * 256;
    if (next_ + bytes > kBytes) return nullptr;
    char* block = base_ + next_;
    next_ += bytes;
    return block;
  }
  bool holds(const void* address) const { return address >= base_ && address < base_ + kBytes; }
  void* memory(const void* address) const {
    if (!holds(address)) std::abort();
    return memory_ + (static_cast<const char*>(address) - base_);
  }
  /** What the CPU may touch for an address of either kind. */
  void* reach(const void* address) const { return holds(address) ? memory(address) : const_cast<void*>(address); }

 private:
  static constexpr size_t kBytes = size_t{1} << 30;
  char* base_;
  char* memory_;
  size_t next_ = 0;
  std::mutex mutex_;
};
Device& device() {
  static Device device;
  return device;
}

struct View {
  std::vector<int64_t> shape;
  void* data = nullptr;
  size_t bytes = 0;
};

OrtStatus* view_of(const OrtValue* value, View* view) {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  TRY(api->GetTensorTypeAndShape(value, &info));
  size_t rank = 0;
  OrtStatus* status = api->GetDimensionsCount(info, &rank);
  view->shape.resize(rank);
  if (status == nullptr) status = api->GetDimensions(info, view->shape.data(), rank);
  api->ReleaseTensorTypeAndShapeInfo(info);
  if (status == nullptr) status = api->GetTensorSizeInBytes(value, &view->bytes);
  const void* data = nullptr;
  if (status == nullptr) status = api->GetTensorData(value, &data);
  view->data = const_cast<void*>(data);
  return status;
}

OrtStatus* input_of(OrtKernelContext* context, size_t i, View* view) {
  const OrtValue* value = nullptr;
  TRY(api->KernelContext_GetInput(context, i, &value));
  return view_of(value, view);
}

OrtStatus* output_of(OrtKernelContext* context, const std::vector<int64_t>& shape, View* view) {
  OrtValue* value = nullptr;
  TRY(api->KernelContext_GetOutput(context, 0, shape.data(), shape.size(), &value));
  return view_of(value, view);
}

/** Counts inputs and outputs that are not where they should be. */
void* on_device(const View& view) {
  if (view.bytes != 0 && !device().holds(view.data)) ++counters.misplaced;
  return view.bytes != 0 ? device().reach(view.data) : nullptr;
}

/** y = a op b, where b is as large as a or has one element. */
struct Binary : OrtKernelImpl {
  bool multiply;
  bool is_packed = false;
  std::vector<float> packed;  // b

  explicit Binary(bool multiply) : OrtKernelImpl{}, multiply(multiply) {
    ort_version_supported = ORT_API_VERSION;
    ++counters.kernels;
    Compute = [](OrtKernelImpl* self, OrtKernelContext* context) noexcept -> OrtStatusPtr {
      return static_cast<Binary*>(self)->compute(context);
    };
    Release = [](OrtKernelImpl* self) noexcept {
      --counters.kernels;
      delete static_cast<Binary*>(self);
    };
    PrePackWeight = [](OrtKernelImpl* self, const OrtValue* weight, int input, OrtAllocator*,
                       OrtSharedPrePackedWeightCache*, bool* packed) noexcept -> OrtStatusPtr {
      return static_cast<Binary*>(self)->pack(weight, input, packed);
    };
  }

  OrtStatus* pack(const OrtValue* weight, int input, bool* done) {
    *done = false;
    if (!multiply || input != 1) return nullptr;
    View view;
    TRY(view_of(weight, &view));
    auto* data = static_cast<const float*>(on_device(view));
    packed.assign(data, data + view.bytes / sizeof(float));
    ++counters.packed;
    is_packed = *done = true;
    return nullptr;
  }

  OrtStatus* compute(OrtKernelContext* context) {
    View a, b, y;
    TRY(input_of(context, 0, &a));
    if (!is_packed) TRY(input_of(context, 1, &b));
    TRY(output_of(context, a.shape, &y));
    auto* left = static_cast<const float*>(on_device(a));
    auto* right = is_packed ? packed.data() : static_cast<const float*>(on_device(b));
    size_t right_count = is_packed ? packed.size() : b.bytes / sizeof(float);
    auto* out = static_cast<float*>(on_device(y));
    for (size_t i = 0; i < a.bytes / sizeof(float); ++i) {
      float other = right[right_count == 1 ? 0 : i];
      out[i] = multiply ? left[i] * other : left[i] + other;
    }
    ++counters.computed;
    return nullptr;
  }
};

/** MemcpyFromHost and MemcpyToHost. */
struct Copy : OrtKernelImpl {
  Copy() : OrtKernelImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Compute = [](OrtKernelImpl*, OrtKernelContext* context) noexcept -> OrtStatusPtr {
      View from, to;
      TRY(input_of(context, 0, &from));
      TRY(output_of(context, from.shape, &to));
      if (from.bytes != 0) std::memcpy(device().reach(to.data), device().reach(from.data), from.bytes);
      return nullptr;
    };
    Release = [](OrtKernelImpl* self) noexcept { delete static_cast<Copy*>(self); };
  }
};

/** Reshape as an alias of its input. Packs a constant shape where it can be shared. */
struct Reshape : OrtKernelImpl {
  const int64_t* packed = nullptr;
  size_t packed_count = 0;

  Reshape() : OrtKernelImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Compute = [](OrtKernelImpl* self, OrtKernelContext* context) noexcept -> OrtStatusPtr {
      return static_cast<Reshape*>(self)->compute(context);
    };
    Release = [](OrtKernelImpl* self) noexcept { delete static_cast<Reshape*>(self); };
    PrePackWeight = [](OrtKernelImpl*, const OrtValue* weight, int input, OrtAllocator* allocator,
                       OrtSharedPrePackedWeightCache* cache, bool* packed) noexcept -> OrtStatusPtr {
      *packed = cache != nullptr && input == 1;
      return *packed ? store(weight, allocator, cache) : nullptr;
    };
    SetSharedPrePackedWeight = [](OrtKernelImpl* self, const void* const* data, const size_t* sizes, size_t count,
                                  int input) noexcept -> OrtStatusPtr {
      if (count != 1 || input != 1) return api->CreateStatus(ORT_FAIL, "not the buffer that was stored");
      auto& kernel = *static_cast<Reshape*>(self);
      kernel.packed = static_cast<const int64_t*>(data[0]);
      kernel.packed_count = sizes[0] / sizeof(int64_t);
      ++counters.shared;
      if (counters.last_shared.exchange(data[0]) == data[0]) ++counters.shared_again;
      return nullptr;
    };
  }

  static OrtStatus* store(const OrtValue* weight, OrtAllocator* allocator, OrtSharedPrePackedWeightCache* cache) {
    View view;
    TRY(view_of(weight, &view));
    void* block = allocator->Alloc(allocator, view.bytes);
    std::memcpy(block, view.data, view.bytes);
    TRY(ep_api->SharedPrePackedWeightCache_StoreWeightData(cache, &block, &view.bytes, 1));
    OrtStatus* again = ep_api->SharedPrePackedWeightCache_StoreWeightData(cache, &block, &view.bytes, 1);
    if (again == nullptr) ++counters.misplaced;  // a weight is stored once
    api->ReleaseStatus(again);
    return nullptr;
  }

  OrtStatus* compute(OrtKernelContext* context) {
    View data, shape, out;
    TRY(input_of(context, 0, &data));
    if (packed == nullptr) TRY(input_of(context, 1, &shape));
    if (shape.bytes != 0 && device().holds(shape.data)) ++counters.misplaced;
    auto* dims = packed != nullptr ? packed : static_cast<const int64_t*>(shape.data);
    size_t rank = packed != nullptr ? packed_count : shape.bytes / sizeof(int64_t);
    TRY(output_of(context, {dims, dims + rank}, &out));
    if (out.data == data.data || out.bytes == 0) return nullptr;
    ++counters.copied;  // what leaves the graph may be elsewhere
    std::memcpy(on_device(out), on_device(data), out.bytes);
    return nullptr;
  }
};

struct LoopHelper : OrtLoopKernelHelper {
  LoopHelper() : OrtLoopKernelHelper{} {
    ort_version_supported = ORT_API_VERSION;
    ++counters.helpers;
    Release = [](OrtLoopKernelHelper* self) noexcept {
      --counters.helpers;
      delete static_cast<LoopHelper*>(self);
    };
    ConcatOutput = [](OrtLoopKernelHelper*, void*, const OrtValue* const* slices, size_t count, void* output,
                      size_t bytes) noexcept -> OrtStatusPtr {
      ++counters.concatenated;
      size_t at = 0;
      for (size_t i = 0; i < count; ++i) {
        View slice;
        TRY(view_of(slices[i], &slice));
        if (at + slice.bytes > bytes) return api->CreateStatus(ORT_FAIL, "the slices are longer than the output");
        if (slice.bytes != 0) {
          std::memcpy(static_cast<char*>(device().memory(output)) + at, on_device(slice), slice.bytes);
        }
        at += slice.bytes;
      }
      return at == bytes ? nullptr : api->CreateStatus(ORT_FAIL, "the slices are shorter than the output");
    };
  }
};

struct ScanHelper : OrtScanKernelHelper {
  ScanHelper() : OrtScanKernelHelper{} {
    ort_version_supported = ORT_API_VERSION;
    ++counters.helpers;
    Release = [](OrtScanKernelHelper* self) noexcept {
      --counters.helpers;
      delete static_cast<ScanHelper*>(self);
    };
    Transpose = [](OrtScanKernelHelper*, const size_t* permutation, size_t count, const OrtValue* input, OrtSyncStream*,
                   OrtValue* output) noexcept -> OrtStatusPtr {
      ++counters.transposed;
      View from, to;
      TRY(view_of(input, &from));
      TRY(view_of(output, &to));
      if (from.shape.size() != count || to.shape.size() != count || from.bytes != to.bytes) {
        return api->CreateStatus(ORT_FAIL, "ranks or sizes differ");
      }
      std::vector<size_t> strides(count, 1);
      for (size_t i = count; i-- > 1;) strides[i - 1] = strides[i] * static_cast<size_t>(from.shape[i]);
      auto* source = static_cast<const float*>(on_device(from));
      auto* target = static_cast<float*>(on_device(to));
      for (size_t i = 0; i < to.bytes / sizeof(float); ++i) {
        size_t rest = i, at = 0;
        for (size_t d = count; d-- > 0;) {
          auto dim = static_cast<size_t>(to.shape[d]);
          at += rest % dim * strides[permutation[d]];
          rest /= dim;
        }
        target[i] = source[at];
      }
      return nullptr;
    };
  }
};

OrtStatus* learn(const OrtKernelInfo* info) {
  const OrtEp* ep = nullptr;
  TRY(ep_api->KernelInfo_GetEp(info, &ep));
  if (ep == nullptr || std::strcmp(ep->GetName(ep), kName) != 0) ++counters.misplaced;
  return nullptr;
}

template <class Made>
OrtStatus* ORT_API_CALL make_copy(void*, const OrtKernelInfo* info, OrtKernelImpl** out) noexcept {
  TRY(learn(info));
  *out = new Made;
  return nullptr;
}
template <bool kMultiply>
OrtStatus* ORT_API_CALL make_binary(void*, const OrtKernelInfo* info, OrtKernelImpl** out) noexcept {
  TRY(learn(info));
  *out = new Binary(kMultiply);
  return nullptr;
}
OrtStatus* ORT_API_CALL make_if(void*, const OrtKernelInfo* info, OrtKernelImpl** out) noexcept {
  OrtKernelImpl* unused = nullptr;
  TRY(ep_api->CreateIfKernel(info, &unused));
  ep_api->ReleaseKernelImpl(unused);
  return ep_api->CreateIfKernel(info, out);
}
OrtStatus* ORT_API_CALL make_loop(void*, const OrtKernelInfo* info, OrtKernelImpl** out) noexcept {
  auto helper = std::make_unique<LoopHelper>();
  TRY(ep_api->CreateLoopKernel(info, helper.get(), out));
  helper.release();
  return nullptr;
}
OrtStatus* ORT_API_CALL make_scan(void*, const OrtKernelInfo* info, OrtKernelImpl** out) noexcept {
  auto helper = std::make_unique<ScanHelper>();
  TRY(ep_api->CreateScanKernel(info, helper.get(), out));
  helper.release();
  return nullptr;
}
OrtStatus* ORT_API_CALL make_nothing(void*, const OrtKernelInfo*, OrtKernelImpl** out) noexcept {
  *out = nullptr;
  return nullptr;
}

struct Row {
  const char* op;
  int since, until;
  std::vector<size_t> cpu_inputs, cpu_outputs;
  const char* floats;  // the type parameter that must be float; NULL for none
  bool alias;
  OrtKernelCreateFunc make;
};

OrtStatus* add(OrtKernelRegistry* registry, const Row& row) {
  OrtKernelDefBuilder* builder = nullptr;
  TRY(ep_api->CreateKernelDefBuilder(&builder));
  std::unique_ptr<OrtKernelDefBuilder, decltype(ep_api->ReleaseKernelDefBuilder)> end(builder,
                                                                                      ep_api->ReleaseKernelDefBuilder);
  TRY(ep_api->KernelDefBuilder_SetOperatorType(builder, row.op));
  TRY(ep_api->KernelDefBuilder_SetDomain(builder, ""));
  TRY(ep_api->KernelDefBuilder_SetSinceVersion(builder, row.since, row.until));
  TRY(ep_api->KernelDefBuilder_SetExecutionProvider(builder, kName));
  for (size_t i : row.cpu_inputs) TRY(ep_api->KernelDefBuilder_SetInputMemType(builder, i, OrtMemTypeCPUInput));
  for (size_t i : row.cpu_outputs) TRY(ep_api->KernelDefBuilder_SetOutputMemType(builder, i, OrtMemTypeCPUOutput));
  if (row.floats != nullptr) {
    const OrtDataType* type = nullptr;
    TRY(ep_api->GetTensorDataType(ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, &type));
    TRY(ep_api->KernelDefBuilder_AddTypeConstraint(builder, row.floats, &type, 1));
  }
  const int zero = 0;
  if (row.alias) TRY(ep_api->KernelDefBuilder_AddInputOutputAliases(builder, &zero, &zero, 1));
  OrtKernelDef* def = nullptr;
  TRY(ep_api->KernelDefBuilder_Build(builder, &def));
  OrtStatus* status = ep_api->KernelRegistry_AddKernel(registry, def, row.make, nullptr);
  ep_api->ReleaseKernelDef(def);
  return status;
}

/** Adds one event to each profile, which says how many events of the runtime it saw. */
struct Profiler : OrtEpProfilerImpl {
  std::atomic<int> seen{0};

  Profiler() : OrtEpProfilerImpl{} {
    ort_version_supported = ORT_API_VERSION;
    ++counters.profilers;
    Release = [](OrtEpProfilerImpl* self) noexcept {
      --counters.profilers;
      delete static_cast<Profiler*>(self);
    };
    StartProfiling = [](OrtEpProfilerImpl*, int64_t offset) noexcept -> OrtStatusPtr {
      if (offset < 0) ++counters.misplaced;
      return nullptr;
    };
    StartEvent = [](OrtEpProfilerImpl*, uint64_t) noexcept -> OrtStatusPtr {
      ++counters.events_begun;
      return nullptr;
    };
    StopEvent = [](OrtEpProfilerImpl* self, uint64_t, const OrtProfilingEvent* event) noexcept -> OrtStatusPtr {
      const char* name = nullptr;
      TRY(ep_api->ProfilingEvent_GetName(event, &name));
      if (std::strstr(name, "Add_node") != nullptr) ++static_cast<Profiler*>(self)->seen;
      ++counters.events_ended;
      return nullptr;
    };
    EndProfiling = [](OrtEpProfilerImpl* self, OrtProfilingEventsContainer* container) noexcept -> OrtStatusPtr {
      std::string seen = std::to_string(static_cast<Profiler*>(self)->seen.load());
      const char *key = "adds_seen", *value = seen.c_str();
      OrtProfilingEvent* event = nullptr;
      TRY(ep_api->CreateProfilingEvent(OrtProfilingEventCategory_KERNEL, 1, 2, "kernel_test_event", 3, 4, &key, &value,
                                       1, &event));
      OrtStatus* status = ep_api->ProfilingEventsContainer_AddEvents(container, &event, 1);
      ep_api->ReleaseProfilingEvent(event);
      return status;
    };
  }
};

struct Provider : OrtEp {
  OrtKernelRegistry* registry = nullptr;

  Provider() : OrtEp{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEp*) noexcept -> const char* { return kName; };
    GetCapability = [](OrtEp*, const OrtGraph* graph, OrtEpGraphSupportInfo* support) noexcept -> OrtStatusPtr {
      size_t count = 0;
      TRY(api->Graph_GetNumNodes(graph, &count));
      std::vector<const OrtNode*> nodes(count);
      TRY(api->Graph_GetNodes(graph, nodes.data(), count));
      for (const OrtNode* node : nodes) {
        const OrtKernelDef* def = nullptr;
        TRY(ep_api->EpGraphSupportInfo_LookUpKernel(support, node, &def));
        if (def != nullptr) TRY(ep_api->EpGraphSupportInfo_AddSingleNode(support, node));
      }
      return nullptr;
    };
    CreateProfiler = [](OrtEp*, OrtEpProfilerImpl** out) noexcept -> OrtStatusPtr {
      *out = new Profiler;
      return nullptr;
    };
    GetKernelRegistry = [](OrtEp* self, const OrtKernelRegistry** out) noexcept -> OrtStatusPtr {
      *out = static_cast<Provider*>(self)->registry;
      return nullptr;
    };
  }
  ~Provider() { ep_api->ReleaseKernelRegistry(registry); }

  OrtStatus* add_kernels() {
    TRY(ep_api->CreateKernelRegistry(&registry));
    const Row rows[] = {
        {"MemcpyFromHost", 1, 1, {0}, {}, nullptr, false, make_copy<Copy>},
        {"MemcpyToHost", 1, 1, {}, {0}, nullptr, false, make_copy<Copy>},
        {"Add", 7, 14, {}, {}, "T", false, make_binary<false>},
        {"Mul", 13, 13, {}, {}, "T", false, make_nothing},  // for another version than the models have
        {"Mul", 14, 14, {}, {}, "T", false, make_binary<true>},
        {"Reshape", 13, 14, {1}, {}, "T", true, make_copy<Reshape>},
        {"If", 1, 25, {0}, {}, nullptr, false, make_if},
        {"Loop", 1, 25, {0, 1}, {}, nullptr, false, make_loop},
        {"Scan", 9, 25, {}, {}, nullptr, false, make_scan},
        {"Neg", 13, 13, {}, {}, nullptr, false, make_nothing},
    };
    for (const Row& row : rows) TRY(add(registry, row));
    return nullptr;
  }
};

struct Allocator : OrtAllocator {
  const OrtMemoryInfo* memory;
  explicit Allocator(const OrtMemoryInfo* memory) : OrtAllocator{}, memory(memory) {
    version = ORT_API_VERSION;
    Alloc = [](OrtAllocator*, size_t bytes) noexcept { return device().allocate(bytes); };
    Free = [](OrtAllocator*, void*) noexcept {};
    Info = [](const OrtAllocator* self) noexcept { return static_cast<const Allocator*>(self)->memory; };
    Reserve = Alloc;
  }
};

struct Transfer : OrtDataTransferImpl {
  Transfer() : OrtDataTransferImpl{} {
    ort_version_supported = ORT_API_VERSION;
    Release = [](OrtDataTransferImpl* self) noexcept { delete static_cast<Transfer*>(self); };
    CanCopy = [](const OrtDataTransferImpl*, const OrtMemoryDevice* from, const OrtMemoryDevice* to) noexcept {
      auto known = [](const OrtMemoryDevice* memory) {
        return ep_api->MemoryDevice_GetDeviceType(memory) == OrtMemoryInfoDeviceType_CPU ||
               ep_api->MemoryDevice_GetVendorId(memory) == kVendor;
      };
      return known(from) && known(to);
    };
    CopyTensors = [](OrtDataTransferImpl*, const OrtValue** sources, OrtValue** targets, OrtSyncStream**,
                     size_t count) noexcept -> OrtStatusPtr {
      for (size_t i = 0; i < count; ++i) {
        View from, to;
        TRY(view_of(sources[i], &from));
        TRY(view_of(targets[i], &to));
        if (from.bytes != 0) std::memcpy(device().reach(to.data), device().reach(from.data), from.bytes);
      }
      return nullptr;
    };
  }
  static constexpr uint32_t kVendor = 0x4B54;
};

struct Factory : OrtEpFactory {
  OrtMemoryInfo* memory = nullptr;
  OrtHardwareDevice* hardware = nullptr;

  Factory() : OrtEpFactory{} {
    ort_version_supported = ORT_API_VERSION;
    GetName = [](const OrtEpFactory*) noexcept { return kName; };
    GetVendor = [](const OrtEpFactory*) noexcept -> const char* { return "Ortolan tests"; };
    GetVendorId = [](const OrtEpFactory*) noexcept { return Transfer::kVendor; };
    GetVersion = [](const OrtEpFactory*) noexcept -> const char* { return "1.0.0"; };
    GetSupportedDevices = [](OrtEpFactory* self, const OrtHardwareDevice* const*, size_t, OrtEpDevice** devices, size_t,
                             size_t* count) noexcept -> OrtStatusPtr {
      return static_cast<Factory*>(self)->show_device(devices, count);
    };
    CreateEp = [](OrtEpFactory*, const OrtHardwareDevice* const*, const OrtKeyValuePairs* const*, size_t,
                  const OrtSessionOptions*, const OrtLogger*, OrtEp** out) noexcept -> OrtStatusPtr {
      auto provider = std::make_unique<Provider>();
      TRY(provider->add_kernels());
      *out = provider.release();
      return nullptr;
    };
    ReleaseEp = [](OrtEpFactory*, OrtEp* ep) noexcept { delete static_cast<Provider*>(ep); };
    CreateAllocator = [](OrtEpFactory*, const OrtMemoryInfo* info, const OrtKeyValuePairs*,
                         OrtAllocator** out) noexcept -> OrtStatusPtr {
      *out = new Allocator(info);
      return nullptr;
    };
    ReleaseAllocator = [](OrtEpFactory*, OrtAllocator* allocator) noexcept {
      delete static_cast<Allocator*>(allocator);
    };
    CreateDataTransfer = [](OrtEpFactory*, OrtDataTransferImpl** out) noexcept -> OrtStatusPtr {
      *out = new Transfer;
      return nullptr;
    };
    IsStreamAware = [](const OrtEpFactory*) noexcept { return false; };
  }
  ~Factory() {
    api->ReleaseMemoryInfo(memory);
    ep_api->ReleaseHardwareDevice(hardware);
  }

  OrtStatus* show_device(OrtEpDevice** devices, size_t* count) {
    *count = 0;
    if (hardware == nullptr) {
      TRY(api->CreateMemoryInfo_V2("KernelTest", OrtMemoryInfoDeviceType_GPU, Transfer::kVendor, 0,
                                   OrtDeviceMemoryType_DEFAULT, 256, OrtDeviceAllocator, &memory));
      TRY(ep_api->CreateHardwareDevice(OrtHardwareDeviceType_GPU, Transfer::kVendor, 0, "Ortolan tests", nullptr,
                                       &hardware));
    }
    OrtKeyValuePairs* metadata = nullptr;
    api->CreateKeyValuePairs(&metadata);
    api->AddKeyValuePair(metadata, kKernelCountersKey, std::to_string(reinterpret_cast<uintptr_t>(&counters)).c_str());
    OrtStatus* status = ep_api->CreateEpDevice(this, hardware, metadata, nullptr, &devices[0]);
    api->ReleaseKeyValuePairs(metadata);
    if (status == nullptr) status = ep_api->EpDevice_AddAllocatorInfo(devices[0], memory);
    *count = status == nullptr ? 1 : 0;
    return status;
  }
};

}  // namespace

extern "C" {
ORT_EXPORT OrtStatus* CreateEpFactories(const char*, const OrtApiBase* base, const OrtLogger*, OrtEpFactory** factories,
                                        size_t, size_t* num_factories) {
  api = base->GetApi(ORT_API_VERSION);
  ep_api = api->GetEpApi();
  factories[0] = new Factory;
  *num_factories = 1;
  return nullptr;
}

ORT_EXPORT OrtStatus* ReleaseEpFactory(OrtEpFactory* factory) {
  delete static_cast<Factory*>(factory);
  return nullptr;
}
}
