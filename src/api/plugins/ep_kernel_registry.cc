// KernelDefBuilder, KernelDef and KernelRegistry of plugin providers, and the look-up of a node's kernel.
#include "api/plugins/ep_kernel_registry.h"

#include <algorithm>
#include <array>

#include "api/arguments.h"
#include "api/guard.h"
#include "ops/signatures.h"
#include "ops/since_version.h"

namespace ortolan::api {
namespace {

std::string key_of(std::string_view domain, std::string_view name) {
  return join(domain == "ai.onnx" ? std::string_view() : domain, ":", name);
}

OrtMemType memory_at(const std::map<size_t, OrtMemType>& memory, size_t i) {
  auto found = memory.find(i);
  return found == memory.end() ? OrtMemTypeDefault : found->second;
}

bool version_fits(const KernelDef& def, int since) {
  bool in_range = def.until != INT_MAX && def.since < since && since <= def.until;
  return def.since == since || in_range;
}

/** The first value at the node that is declared as number `declared`, or after it for a variadic last one. */
const graph::ValueInfo* value_at(const std::vector<graph::ValueInfo*>& values, size_t declared, size_t count) {
  if (declared + 1 < count) return declared < values.size() ? values[declared] : nullptr;
  for (size_t i = declared; i < values.size(); ++i) {
    if (values[i] != nullptr) return values[i];
  }
  return nullptr;
}

/** Whether the value's type is known not to be a tensor of one of these elements. */
bool is_refused(const graph::ValueInfo* value, TypeSet types) {
  if (value == nullptr || !value->type.known()) return false;
  if (!value->type.is_tensor()) return true;
  return value->type.element != ElementType::kUndefined && !types.contains(value->type.element);
}

/** Finds the value that a constraint speaks of: one of that type parameter, or of that name. */
struct ConstrainedValue {
  const graph::ValueInfo* value = nullptr;
  bool declared = false;  // the operator has such a name

  void look(const std::vector<ops::FormalValue>& formal, const std::vector<graph::ValueInfo*>& actual,
            const std::vector<ops::TypeParameter>& parameters, std::string_view name) {
    for (size_t i = 0; i < formal.size() && value == nullptr; ++i) {
      int parameter = formal[i].parameter;
      if (formal[i].name != name && (parameter < 0 || parameters[parameter].name != name)) continue;
      declared = true;
      value = value_at(actual, i, formal.size());
    }
  }
};

/** Why the node breaks a constraint of the kernel; empty when it breaks none. */
std::string broken_constraint(const KernelDef& def, const graph::Node& node, const ops::OperatorSignature* signature) {
  for (const auto& [name, types] : def.types) {
    ConstrainedValue found;
    if (signature != nullptr) {
      found.look(signature->inputs, node.inputs(), signature->parameters, name);
      if (found.value == nullptr) found.look(signature->outputs, node.outputs(), signature->parameters, name);
    }
    if (!found.declared) return join("the operator has no type parameter, input or output '", name, "'");
    if (is_refused(found.value, types)) {
      return join("type ", name, " is ", found.value->type, "; there is a kernel for ", types);
    }
  }
  return {};
}

void set_memory(std::map<size_t, OrtMemType>& memory, size_t index, OrtMemType type) {
  bool known = type == OrtMemTypeCPUInput || type == OrtMemTypeCPUOutput || type == OrtMemTypeDefault;
  require(known, ErrorCode::kInvalidArgument, "mem_type is ", static_cast<int>(type),
          "; it must be a value of OrtMemType");
  memory[index] = type;
}

void add_pairs(std::vector<std::pair<int, int>>& pairs, const int* inputs, const int* outputs, size_t count) {
  require(count != 0, ErrorCode::kInvalidArgument, "num_io_indices is 0; give at least one pair");
  auto from = array(inputs, count, "input_indices");
  auto to = array(outputs, count, "output_indices");
  for (size_t i = 0; i < count; ++i) pairs.emplace_back(from[i], to[i]);
}

/** An element type for each number; OrtDataType handles point here. */
constexpr auto kElementTypes = [] {
  std::array<ElementType, kElementTypeCount> types{};
  for (int i = 0; i < kElementTypeCount; ++i) types[i] = static_cast<ElementType>(i);
  return types;
}();

}  // namespace

OrtMemType KernelDef::memory_of_input(size_t i) const { return memory_at(input_memory, i); }
OrtMemType KernelDef::memory_of_output(size_t i) const { return memory_at(output_memory, i); }

void PluginKernelRegistry::add(const KernelDef& def, OrtKernelCreateFunc create, void* state) {
  kernels_[key_of(def.domain, def.op_type)].push_back({def, create, state});
}

const PluginKernel* PluginKernelRegistry::find(const graph::Node& node, std::string_view provider,
                                               std::string* why) const {
  auto found = kernels_.find(key_of(node.domain, node.op_type));
  if (found == kernels_.end()) {
    if (why) *why = join("no kernel for operator '", node.op_type, "'");
    return nullptr;
  }
  const auto* signature = ops::find_signature(node.domain, node.op_type, node.opset);
  int since = ops::since_version(node);
  std::string reason = join("no kernel for version ", since, " of operator '", node.op_type, "'");
  for (const PluginKernel& kernel : found->second) {
    if (kernel.def.provider != provider || !version_fits(kernel.def, since)) continue;
    std::string broken = broken_constraint(kernel.def, node, signature);
    if (broken.empty()) return &kernel;
    reason = std::move(broken);
  }
  if (why) *why = std::move(reason);
  return nullptr;
}

OrtStatus* ORT_API_CALL CreateKernelRegistry(OrtKernelRegistry** kernel_registry) noexcept {
  return guard([&] { give(kernel_registry, PluginKernelRegistry(), "kernel_registry"); });
}

void ORT_API_CALL ReleaseKernelRegistry(OrtKernelRegistry* registry) noexcept { release(registry); }

OrtStatus* ORT_API_CALL KernelRegistry_AddKernel(OrtKernelRegistry* kernel_registry, const OrtKernelDef* kernel_def,
                                                 OrtKernelCreateFunc create, void* state) noexcept {
  return guard([&] {
    auto& registry = unwrap(kernel_registry, "kernel_registry");
    const KernelDef& def = unwrap(kernel_def, "kernel_def");
    require(create != nullptr, ErrorCode::kInvalidArgument, "argument 'kernel_create_func' must not be NULL");
    registry.add(def, create, state);
  });
}

OrtStatus* ORT_API_CALL CreateKernelDefBuilder(OrtKernelDefBuilder** out) noexcept {
  return guard([&] { give(out, KernelDef(), "kernel_def_builder_out"); });
}

void ORT_API_CALL ReleaseKernelDefBuilder(OrtKernelDefBuilder* builder) noexcept { release(builder); }

OrtStatus* ORT_API_CALL KernelDefBuilder_SetOperatorType(OrtKernelDefBuilder* builder, const char* op_type) noexcept {
  return guard([&] { unwrap(builder, "kernel_def_builder").op_type = text(op_type, "op_type"); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetDomain(OrtKernelDefBuilder* builder, const char* domain) noexcept {
  return guard([&] { unwrap(builder, "kernel_def_builder").domain = text(domain, "domain"); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetSinceVersion(OrtKernelDefBuilder* builder, int start, int end) noexcept {
  return guard([&] {
    KernelDef& def = unwrap(builder, "kernel_def_builder");
    require(start >= 1, ErrorCode::kInvalidArgument, "since_version_start is ", start, "; it must be at least 1");
    require(end >= start, ErrorCode::kInvalidArgument, "since_version_end is ", end,
            "; it must be at least since_version_start, which is ", start);
    def.since = start;
    def.until = end;
  });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetExecutionProvider(OrtKernelDefBuilder* builder,
                                                              const char* ep_name) noexcept {
  return guard([&] { unwrap(builder, "kernel_def_builder").provider = text(ep_name, "ep_name"); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetInputMemType(OrtKernelDefBuilder* builder, size_t input_index,
                                                         OrtMemType mem_type) noexcept {
  return guard([&] { set_memory(unwrap(builder, "kernel_def_builder").input_memory, input_index, mem_type); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_SetOutputMemType(OrtKernelDefBuilder* builder, size_t output_index,
                                                          OrtMemType mem_type) noexcept {
  return guard([&] { set_memory(unwrap(builder, "kernel_def_builder").output_memory, output_index, mem_type); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_AddTypeConstraint(OrtKernelDefBuilder* builder, const char* arg_name,
                                                           const OrtDataType* const* types, size_t num_types) noexcept {
  return guard([&] {
    KernelDef& def = unwrap(builder, "kernel_def_builder");
    std::string name = text(arg_name, "arg_name");
    require(num_types != 0, ErrorCode::kInvalidArgument, "num_types is 0; a type constraint needs at least one type");
    TypeSet allowed;
    for (const OrtDataType* type : array(types, num_types, "types")) allowed = allowed | unwrap(type, "types[i]");
    auto same = std::ranges::find_if(def.types, [&](const auto& entry) { return entry.first == name; });
    if (same != def.types.end()) {
      same->second = allowed;
    } else {
      def.types.emplace_back(std::move(name), allowed);
    }
  });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_AddInputOutputAliases(OrtKernelDefBuilder* builder, const int* input_indices,
                                                               const int* output_indices, size_t count) noexcept {
  return guard([&] { add_pairs(unwrap(builder, "kernel_def_builder").aliases, input_indices, output_indices, count); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_AddInputOutputMutableAliases(OrtKernelDefBuilder* builder,
                                                                      const int* input_indices,
                                                                      const int* output_indices,
                                                                      size_t count) noexcept {
  return guard(
      [&] { add_pairs(unwrap(builder, "kernel_def_builder").mutable_aliases, input_indices, output_indices, count); });
}

OrtStatus* ORT_API_CALL KernelDefBuilder_Build(OrtKernelDefBuilder* builder, OrtKernelDef** kernel_def_out) noexcept {
  return guard([&] { give(kernel_def_out, KernelDef(unwrap(builder, "kernel_def_builder")), "kernel_def_out"); });
}

void ORT_API_CALL ReleaseKernelDef(OrtKernelDef* kernel_def) noexcept { release(kernel_def); }

const char* ORT_API_CALL KernelDef_GetOperatorType(const OrtKernelDef* kernel_def) noexcept {
  return kernel_def == nullptr ? "" : unwrap_optional(kernel_def)->op_type.c_str();
}

const char* ORT_API_CALL KernelDef_GetDomain(const OrtKernelDef* kernel_def) noexcept {
  return kernel_def == nullptr ? "" : unwrap_optional(kernel_def)->domain.c_str();
}

const char* ORT_API_CALL KernelDef_GetExecutionProvider(const OrtKernelDef* kernel_def) noexcept {
  return kernel_def == nullptr ? "" : unwrap_optional(kernel_def)->provider.c_str();
}

OrtStatus* ORT_API_CALL KernelDef_GetSinceVersion(const OrtKernelDef* kernel_def, int* start_version,
                                                  int* end_version) noexcept {
  return guard([&] {
    const KernelDef& def = unwrap(kernel_def, "kernel_def");
    require_argument(end_version, "end_version");
    put(start_version, def.since, "start_version");
    *end_version = def.until;
  });
}

OrtStatus* ORT_API_CALL KernelDef_GetInputMemType(const OrtKernelDef* kernel_def, size_t input_index,
                                                  OrtMemType* mem_type) noexcept {
  return guard([&] { put(mem_type, unwrap(kernel_def, "kernel_def").memory_of_input(input_index), "mem_type"); });
}

OrtStatus* ORT_API_CALL KernelDef_GetOutputMemType(const OrtKernelDef* kernel_def, size_t output_index,
                                                   OrtMemType* mem_type) noexcept {
  return guard([&] { put(mem_type, unwrap(kernel_def, "kernel_def").memory_of_output(output_index), "mem_type"); });
}

OrtStatus* ORT_API_CALL GetTensorDataType(ONNXTensorElementDataType elem_type, const OrtDataType** out) noexcept {
  return guard([&] {
    int number = static_cast<int>(elem_type);
    require(number > 0 && number < kElementTypeCount, ErrorCode::kNotImplemented, "there are no tensors of type ",
            number, "; element types are 1 to ", kElementTypeCount - 1);
    ElementType type = element_type_from_api(elem_type);
    put(out, wrap<const OrtDataType>(&kElementTypes[static_cast<size_t>(type)]));
  });
}

}  // namespace ortolan::api
