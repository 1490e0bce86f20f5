// Sessions, values and runs through the function table.
#include "runtime.h"

#include <dlfcn.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace ortolan::plugin_test {
namespace {

size_t count_of(const Dims& dims) {
  size_t count = 1;
  for (int64_t dim : dims) count *= static_cast<size_t>(dim);
  return count;
}

Array combine(const Array& left, const Array& right, float (*operation)(float, float)) {
  size_t rank = std::max(left.dims.size(), right.dims.size());
  auto dim = [&](const Array& array, size_t axis) {
    size_t missing = rank - array.dims.size();
    return axis < missing ? int64_t{1} : array.dims[axis - missing];
  };
  Array result;
  for (size_t axis = 0; axis < rank; axis++) {
    result.dims.push_back(dim(left, axis) == 1 ? dim(right, axis) : dim(left, axis));
  }
  size_t count = count_of(result.dims);
  for (size_t i = 0; i < count; i++) {
    size_t rest = i, a = 0, b = 0, a_step = 1, b_step = 1;
    for (size_t axis = rank; axis-- > 0;) {
      size_t index = rest % static_cast<size_t>(result.dims[axis]);
      rest /= static_cast<size_t>(result.dims[axis]);
      if (dim(left, axis) != 1) a += index * a_step;
      if (dim(right, axis) != 1) b += index * b_step;
      a_step *= static_cast<size_t>(dim(left, axis));
      b_step *= static_cast<size_t>(dim(right, axis));
    }
    result.values.push_back(operation(left.values[a], right.values[b]));
  }
  return result;
}

}  // namespace

Runtime open_runtime(const std::string& path, uint32_t level) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) throw Mismatch{dlerror()};
  auto* get = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(library, "OrtGetApiBase"));
  if (!get) throw Mismatch{path + " has no OrtGetApiBase"};
  Runtime runtime;
  runtime.base = get();
  runtime.level = level;
  runtime.library = path;
  runtime.api = runtime.base->GetApi(level);
  if (!runtime.api) throw Mismatch{path + " has no API " + std::to_string(level)};
  runtime.ours = std::strstr(runtime.api->GetBuildInfoString(), "rtolan") != nullptr;
  return runtime;
}

void Runtime::ok(OrtStatus* status) const {
  if (!status) return;
  std::string text = api->GetErrorMessage(status);
  api->ReleaseStatus(status);
  throw Mismatch{text};
}

std::string Runtime::fails(OrtStatus* status, const std::string& words) const {
  expect(status != nullptr, "succeeds, but must fail");
  std::string text = api->GetErrorMessage(status);
  OrtErrorCode code = api->GetErrorCode(status);
  api->ReleaseStatus(status);
  expect(code != ORT_OK, "an error has the code of success");
  expect(!words.empty() && text.find(words) != std::string::npos,
         "the error does not mention '" + words + "': " + text);
  return text;
}

std::vector<const OrtEpDevice*> Runtime::devices() const {
  const OrtEpDevice* const* list = nullptr;
  size_t count = 0;
  ok(api->GetEpDevices(env, &list, &count));
  return {list, list + count};
}

std::vector<const OrtEpDevice*> Runtime::devices(const std::string& provider) const {
  std::vector<const OrtEpDevice*> found;
  for (const OrtEpDevice* device : devices()) {
    if (api->EpDevice_EpName(device) == provider) found.push_back(device);
  }
  return found;
}

const OrtEpDevice* Runtime::device(const std::string& provider) const {
  std::vector<const OrtEpDevice*> found = devices(provider);
  expect_equal(found.size(), size_t{1}, "devices of " + provider);
  return found[0];
}

example::Counters& Runtime::counters() {
  if (!counters_) {
    const char* text = api->GetKeyValue(api->EpDevice_EpMetadata(device(kCompileProvider)), example::kCountersKey);
    expect(text != nullptr, "the plugin's metadata lacks its counters");
    counters_ = reinterpret_cast<example::Counters*>(std::strtoull(text, nullptr, 10));
  }
  return *counters_;
}

Handle<OrtSessionOptions> Runtime::options() const {
  OrtSessionOptions* made = nullptr;
  ok(api->CreateSessionOptions(&made));
  Handle<OrtSessionOptions> options(made, api->ReleaseSessionOptions);
  ok(api->SetIntraOpNumThreads(made, 1));
  ok(api->AddSessionConfigEntry(made, "session.record_ep_graph_assignment_info", "1"));
  return options;
}

OrtStatus* Runtime::append(OrtSessionOptions* options, const std::vector<const OrtEpDevice*>& list,
                           const Pairs& settings) const {
  std::vector<const char*> keys, values;
  for (const auto& [key, value] : settings) {
    keys.push_back(key.c_str());
    values.push_back(value.c_str());
  }
  return api->SessionOptionsAppendExecutionProvider_V2(options, env, list.data(), list.size(), keys.data(),
                                                       values.data(), keys.size());
}

Handle<OrtSessionOptions> Runtime::options_with(const std::string& provider, const Pairs& settings) const {
  Handle<OrtSessionOptions> made = options();
  ok(append(made.get(), {device(provider)}, settings));
  return made;
}

OrtStatus* Runtime::try_session(const GraphText& graph, const OrtSessionOptions* options) const {
  std::string model = graph.model();
  OrtSession* session = nullptr;
  OrtStatus* status = api->CreateSessionFromArray(env, model.data(), model.size(), options, &session);
  api->ReleaseSession(session);
  return status;
}

Handle<OrtSession> Runtime::session(const GraphText& graph, const OrtSessionOptions* options) const {
  std::string model = graph.model();
  OrtSession* session = nullptr;
  ok(api->CreateSessionFromArray(env, model.data(), model.size(), options, &session));
  return {session, api->ReleaseSession};
}

Handle<OrtValue> Runtime::value(const Array& array) const {
  OrtAllocator* allocator = nullptr;
  ok(api->GetAllocatorWithDefaultOptions(&allocator));
  OrtValue* value = nullptr;
  ok(api->CreateTensorAsOrtValue(allocator, array.dims.data(), array.dims.size(), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT,
                                 &value));
  void* data = nullptr;
  ok(api->GetTensorMutableData(value, &data));
  if (!array.values.empty()) std::memcpy(data, array.values.data(), array.values.size() * sizeof(float));
  return {value, api->ReleaseValue};
}

Handle<OrtValue> Runtime::value(const std::vector<int64_t>& integers) const {
  OrtAllocator* allocator = nullptr;
  ok(api->GetAllocatorWithDefaultOptions(&allocator));
  OrtValue* value = nullptr;
  auto count = static_cast<int64_t>(integers.size());
  ok(api->CreateTensorAsOrtValue(allocator, &count, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_INT64, &value));
  void* data = nullptr;
  ok(api->GetTensorMutableData(value, &data));
  std::memcpy(data, integers.data(), integers.size() * sizeof(int64_t));
  return {value, api->ReleaseValue};
}

Handle<OrtValue> Runtime::value(bool truth) const {
  OrtAllocator* allocator = nullptr;
  ok(api->GetAllocatorWithDefaultOptions(&allocator));
  OrtValue* value = nullptr;
  ok(api->CreateTensorAsOrtValue(allocator, nullptr, 0, ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, &value));
  void* data = nullptr;
  ok(api->GetTensorMutableData(value, &data));
  *static_cast<bool*>(data) = truth;
  return {value, api->ReleaseValue};
}

Array Runtime::array(const OrtValue* value) const {
  OrtTensorTypeAndShapeInfo* info = nullptr;
  ok(api->GetTensorTypeAndShape(value, &info));
  Handle<OrtTensorTypeAndShapeInfo> owner(info, api->ReleaseTensorTypeAndShapeInfo);
  size_t rank = 0;
  ok(api->GetDimensionsCount(info, &rank));
  Array array;
  array.dims.resize(rank);
  ok(api->GetDimensions(info, array.dims.data(), rank));
  void* data = nullptr;
  ok(api->GetTensorMutableData(const_cast<OrtValue*>(value), &data));
  auto* floats = static_cast<const float*>(data);
  array.values.assign(floats, floats + count_of(array.dims));
  return array;
}

OrtStatus* Runtime::try_run(OrtSession* session, const std::map<std::string, const OrtValue*>& inputs,
                            const Names& outputs, std::vector<OrtValue*>& results, const OrtRunOptions* options) const {
  std::vector<const char*> input_names, output_names;
  std::vector<const OrtValue*> values;
  for (const auto& [name, value] : inputs) {
    input_names.push_back(name.c_str());
    values.push_back(value);
  }
  for (const std::string& name : outputs) output_names.push_back(name.c_str());
  results.resize(outputs.size());
  return api->Run(session, options, input_names.data(), values.data(), values.size(), output_names.data(),
                  output_names.size(), results.data());
}

std::vector<Array> Runtime::run(OrtSession* session, const Arrays& inputs, const Names& outputs) const {
  std::vector<Handle<OrtValue>> owners;
  std::map<std::string, const OrtValue*> values;
  for (const auto& [name, array] : inputs) {
    owners.push_back(value(array));
    values[name] = owners.back().get();
  }
  std::vector<OrtValue*> results;
  ok(try_run(session, values, outputs, results));
  std::vector<Array> arrays;
  for (OrtValue* result : results) {
    owners.emplace_back(result, api->ReleaseValue);
    arrays.push_back(array(result));
  }
  return arrays;
}

std::map<std::string, std::vector<std::string>> Runtime::placement(const OrtSession* session) const {
  const OrtEpAssignedSubgraph* const* parts = nullptr;
  size_t count = 0;
  ok(api->Session_GetEpGraphAssignmentInfo(session, &parts, &count));
  std::map<std::string, std::vector<std::string>> result;
  for (size_t i = 0; i < count; i++) {
    const char* provider = nullptr;
    ok(api->EpAssignedSubgraph_GetEpName(parts[i], &provider));
    const OrtEpAssignedNode* const* nodes = nullptr;
    size_t node_count = 0;
    ok(api->EpAssignedSubgraph_GetNodes(parts[i], &nodes, &node_count));
    for (size_t node = 0; node < node_count; node++) {
      const char *name = nullptr, *type = nullptr, *domain = nullptr;
      ok(api->EpAssignedNode_GetName(nodes[node], &name));
      ok(api->EpAssignedNode_GetOperatorType(nodes[node], &type));
      ok(api->EpAssignedNode_GetDomain(nodes[node], &domain));
      result[provider].push_back(std::string(type));
    }
  }
  for (auto& [provider, types] : result) std::sort(types.begin(), types.end());
  return result;
}

void expect_near(const Array& found, const Array& wanted, const std::string& what) {
  expect(found.dims == wanted.dims, what + " has another shape");
  for (size_t i = 0; i < wanted.values.size(); i++) {
    expect(std::abs(found.values[i] - wanted.values[i]) <= 1e-5f * (1 + std::abs(wanted.values[i])),
           what + "[" + std::to_string(i) + "] is " + std::to_string(found.values[i]) + ", not " +
               std::to_string(wanted.values[i]));
  }
}

Array ramp(const Dims& dims, float offset) {
  Array array{dims, std::vector<float>(count_of(dims))};
  for (size_t i = 0; i < array.values.size(); i++) array.values[i] = offset + 0.5f * static_cast<float>(i);
  return array;
}

Array multiply(const Array& left, const Array& right) {
  return combine(left, right, [](float a, float b) { return a * b; });
}

Array add(const Array& left, const Array& right) {
  return combine(left, right, [](float a, float b) { return a + b; });
}

Array negate(const Array& array) {
  Array result = array;
  for (float& value : result.values) value = -value;
  return result;
}

}  // namespace ortolan::plugin_test
