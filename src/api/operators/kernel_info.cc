// OrtKernelInfo: what a custom operator's kernel learns about its node.
#include "api/operators/kernel_info.h"

#include "api/arguments.h"
#include "api/environment/allocators.h"
#include "api/guard.h"
#include "base/key_values.h"
#include "ops/since_version.h"

namespace ortolan::api {
namespace {

std::vector<NamedType> describe_values(const std::vector<graph::ValueInfo*>& values,
                                       const graph::SymbolTable& symbols) {
  std::vector<NamedType> result;
  for (const graph::ValueInfo* value : values) {
    result.push_back(value == nullptr ? NamedType{} : NamedType{value->name, describe(value->type, &symbols)});
  }
  return result;
}

const KernelDescription& node_of(const OrtKernelInfo* info) { return *unwrap(info, "info").node; }

template <class Items>
auto& item_at(const Items& items, size_t index, const char* what) {
  require(index < items.size(), ErrorCode::kFail, "index ", index, " is out of range; the node has ", items.size(), " ",
          what);
  return items[index];
}

/** The attribute's value as T; throws kFail when it is missing or of another kind. */
template <class T>
const T& attribute(const OrtKernelInfo* info, const char* name) {
  const KernelDescription& node = node_of(info);
  std::string_view wanted = text(name, "name");
  for (const graph::Attribute& attribute : node.attributes) {
    if (attribute.name != wanted) continue;
    const T* value = std::get_if<T>(&attribute.value);
    require(value != nullptr, ErrorCode::kFail, "attribute '", wanted, "' of node '", node.node_name,
            "' is of another type (ONNX attribute type ", attribute.kind(), ")");
    return *value;
  }
  fail(ErrorCode::kFail, "node '", node.node_name, "' (", node.op_type, ") has no attribute '", wanted, "'");
}

}  // namespace

std::shared_ptr<KernelDescription> describe_kernel(const runtime::KernelInfo& info) {
  const graph::Node& node = info.node();
  const graph::SymbolTable& symbols = node.graph().context().symbols;
  auto result = std::make_shared<KernelDescription>();
  result->node_name = node.name;
  result->op_type = node.op_type;
  result->domain = node.domain;
  result->since_version = ops::since_version(node);
  result->inputs = describe_values(node.inputs(), symbols);
  result->outputs = describe_values(node.outputs(), symbols);
  result->attributes = node.attributes();
  for (size_t i = 0; i < info.input_count(); ++i) {
    const Tensor* constant = info.constant_input(i);
    result->constants.push_back(constant == nullptr ? Value() : Value(*constant));
  }
  result->logger = info.logger();
  result->config = info.config_entries();
  result->threads = &info.threads();
  return result;
}

const base::Logger& fallback_logger() {
  static const auto* logger = new base::Logger(base::stderr_sink(), "Default", base::Severity::kWarning);
  return *logger;
}

OrtStatus* ORT_API_CALL CopyKernelInfo(const OrtKernelInfo* info, OrtKernelInfo** info_copy) noexcept {
  return guard([&] { give(info_copy, KernelInfoObject{unwrap(info, "info").node}, "info_copy"); });
}

void ORT_API_CALL ReleaseKernelInfo(OrtKernelInfo* info) noexcept { release(info); }

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_float(const OrtKernelInfo* info, const char* name, float* out) noexcept {
  return guard([&] { put(out, attribute<float>(info, name)); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_int64(const OrtKernelInfo* info, const char* name,
                                                     int64_t* out) noexcept {
  return guard([&] { put(out, attribute<int64_t>(info, name)); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_string(const OrtKernelInfo* info, const char* name, char* out,
                                                      size_t* size) noexcept {
  return guard([&] { fill_text(attribute<std::string>(info, name), out, size); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttribute_tensor(const OrtKernelInfo* info, const char* name,
                                                      OrtAllocator* allocator, OrtValue** out) noexcept {
  return guard([&] { give(out, Value(clone(attribute<Tensor>(info, name), core_allocator(allocator)))); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttributeArray_float(const OrtKernelInfo* info, const char* name, float* out,
                                                          size_t* size) noexcept {
  return guard([&] { fill_items(std::span<const float>(attribute<std::vector<float>>(info, name)), out, size); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttributeArray_int64(const OrtKernelInfo* info, const char* name, int64_t* out,
                                                          size_t* size) noexcept {
  return guard([&] { fill_items(std::span<const int64_t>(attribute<std::vector<int64_t>>(info, name)), out, size); });
}

OrtStatus* ORT_API_CALL KernelInfoGetAttributeArray_string(const OrtKernelInfo* info, const char* name,
                                                           OrtAllocator* allocator, char*** out,
                                                           size_t* size) noexcept {
  return guard([&] {
    const auto& strings = attribute<std::vector<std::string>>(info, name);
    require_argument(out, "out");
    put(size, strings.size(), "size");
    *out = copy_texts(allocator, {strings.begin(), strings.end()});
  });
}

OrtStatus* ORT_API_CALL KernelInfo_GetInputCount(const OrtKernelInfo* info, size_t* out) noexcept {
  return guard([&] { put(out, node_of(info).inputs.size()); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOutputCount(const OrtKernelInfo* info, size_t* out) noexcept {
  return guard([&] { put(out, node_of(info).outputs.size()); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetInputName(const OrtKernelInfo* info, size_t index, char* out,
                                                size_t* size) noexcept {
  return guard([&] { fill_text(item_at(node_of(info).inputs, index, "inputs").name, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOutputName(const OrtKernelInfo* info, size_t index, char* out,
                                                 size_t* size) noexcept {
  return guard([&] { fill_text(item_at(node_of(info).outputs, index, "outputs").name, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetInputTypeInfo(const OrtKernelInfo* info, size_t index,
                                                    OrtTypeInfo** type_info) noexcept {
  return guard([&] { give(type_info, item_at(node_of(info).inputs, index, "inputs").type, "type_info"); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOutputTypeInfo(const OrtKernelInfo* info, size_t index,
                                                     OrtTypeInfo** type_info) noexcept {
  return guard([&] { give(type_info, item_at(node_of(info).outputs, index, "outputs").type, "type_info"); });
}

OrtStatus* ORT_API_CALL KernelInfoGetConstantInput_tensor(const OrtKernelInfo* info, size_t index, int* is_constant,
                                                          const OrtValue** out) noexcept {
  return guard([&] {
    const Value& value = item_at(node_of(info).constants, index, "inputs");
    require_argument(out, "out");
    put(is_constant, value.has_value(), "is_constant");
    *out = value.has_value() ? wrap<const OrtValue>(&value) : nullptr;
  });
}

OrtStatus* ORT_API_CALL KernelInfo_GetNodeName(const OrtKernelInfo* info, char* out, size_t* size) noexcept {
  return guard([&] { fill_text(node_of(info).node_name, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOperatorDomain(const OrtKernelInfo* info, char* out, size_t* size) noexcept {
  return guard([&] { fill_text(node_of(info).domain, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOperatorType(const OrtKernelInfo* info, char* out, size_t* size) noexcept {
  return guard([&] { fill_text(node_of(info).op_type, out, size); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetOperatorSinceVersion(const OrtKernelInfo* info, int* since_version) noexcept {
  return guard([&] { put(since_version, node_of(info).since_version, "since_version"); });
}

OrtStatus* ORT_API_CALL KernelInfo_GetLogger(const OrtKernelInfo* info, const OrtLogger** logger) noexcept {
  return guard([&] {
    const base::Logger* core = node_of(info).logger;
    put(logger, wrap<const OrtLogger>(core != nullptr ? core : &fallback_logger()), "logger");
  });
}

OrtStatus* ORT_API_CALL KernelInfo_GetConfigEntries(const OrtKernelInfo* info, OrtKeyValuePairs** out) noexcept {
  return guard([&] {
    base::KeyValues entries;
    if (const auto* config = node_of(info).config) {
      for (const auto& [key, value] : *config) entries.set(key, value);
    }
    give(out, std::move(entries));
  });
}

OrtStatus* ORT_API_CALL KernelInfoGetAllocator(const OrtKernelInfo* info, OrtMemType mem_type,
                                               OrtAllocator** out) noexcept {
  return guard([&] {
    const auto& own = node_of(info).allocator;
    require_argument(out, "out");
    *out = new_api_allocator(mem_type == OrtMemTypeDefault && own != nullptr ? own : cpu_allocator());
  });
}

}  // namespace ortolan::api
