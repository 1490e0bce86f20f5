// A few kernels, those of control flow with their helpers, and the registry's rows.
#include "kernels.h"

#include <cstring>
#include <memory>
#include <vector>

#include "device.h"

namespace kernel_plugin {
namespace {

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

}  // namespace

OrtStatus* add_kernels(OrtKernelRegistry* registry) {
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

}  // namespace kernel_plugin
