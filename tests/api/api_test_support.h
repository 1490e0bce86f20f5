// What the tests of the API share: the table, checks on statuses, handles that end themselves, and small models.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "onnxruntime_c_api.h"

inline const OrtApi& api() {
  static const OrtApi* const table = OrtGetApiBase()->GetApi(ORT_API_VERSION);
  return *table;
}

/** Success, or the status' code and text in the failure's message. */
inline ::testing::AssertionResult succeeded(OrtStatus* status) {
  if (status == nullptr) return ::testing::AssertionSuccess();
  auto result = ::testing::AssertionFailure() << api().GetErrorCode(status) << ": " << api().GetErrorMessage(status);
  api().ReleaseStatus(status);
  return result;
}

/** A status of that code whose text holds `part`: the few words that tell this error from others. */
inline ::testing::AssertionResult refused(OrtStatus* status, OrtErrorCode code, const std::string& part) {
  if (status == nullptr) return ::testing::AssertionFailure() << "succeeded";
  OrtErrorCode got = api().GetErrorCode(status);
  std::string text = api().GetErrorMessage(status);
  api().ReleaseStatus(status);
  if (got == code && !part.empty() && text.find(part) != std::string::npos) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "code " << got << ", text '" << text << "', not told by '" << part << "'";
}

#define EXPECT_OK(call) EXPECT_TRUE(succeeded(call))
#define ASSERT_OK(call) ASSERT_TRUE(succeeded(call))
#define EXPECT_REFUSED(call, code, part) EXPECT_TRUE(refused(call, code, part))

/** A handle with the function of the table that ends it: `Handle<OrtValue, &OrtApi::ReleaseValue>`. */
template <class T, auto Release>
class Handle {
 public:
  Handle() = default;
  explicit Handle(T* handle) : handle_(handle) {}
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { (api().*Release)(handle_); }
  operator T*() const { return handle_; }
  /** For out parameters. */
  T** out() {
    (api().*Release)(handle_);
    handle_ = nullptr;
    return &handle_;
  }

 private:
  T* handle_ = nullptr;
};
using Env = Handle<OrtEnv, &OrtApi::ReleaseEnv>;
using Value = Handle<OrtValue, &OrtApi::ReleaseValue>;
using Session = Handle<OrtSession, &OrtApi::ReleaseSession>;
using SessionOptions = Handle<OrtSessionOptions, &OrtApi::ReleaseSessionOptions>;
using RunOptions = Handle<OrtRunOptions, &OrtApi::ReleaseRunOptions>;
using MemoryInfo = Handle<OrtMemoryInfo, &OrtApi::ReleaseMemoryInfo>;
using TypeInfo = Handle<OrtTypeInfo, &OrtApi::ReleaseTypeInfo>;
using TensorInfo = Handle<OrtTensorTypeAndShapeInfo, &OrtApi::ReleaseTensorTypeAndShapeInfo>;
using KeyValuePairs = Handle<OrtKeyValuePairs, &OrtApi::ReleaseKeyValuePairs>;

inline OrtAllocator* default_allocator() {
  OrtAllocator* allocator = nullptr;
  EXPECT_OK(api().GetAllocatorWithDefaultOptions(&allocator));
  return allocator;
}

/** A text that the default allocator made; freed here. */
inline std::string take(char* text) {
  if (text == nullptr) return "(null)";
  std::string copy = text;
  EXPECT_OK(api().AllocatorFree(default_allocator(), text));
  return copy;
}

inline MemoryInfo cpu_memory() {
  MemoryInfo info;
  EXPECT_OK(api().CreateCpuMemoryInfo(OrtArenaAllocator, OrtMemTypeDefault, info.out()));
  return info;
}

/** An allocator of the caller's that counts, of the given version. */
struct CountingAllocator : OrtAllocator {
  explicit CountingAllocator(uint32_t with_version) : OrtAllocator{} {
    version = with_version;
    Alloc = [](OrtAllocator* self, size_t size) -> void* {
      ++static_cast<CountingAllocator*>(self)->allocations;
      return std::malloc(size);
    };
    Free = [](OrtAllocator* self, void* block) {
      ++static_cast<CountingAllocator*>(self)->frees;
      std::free(block);
    };
    Info = [](const OrtAllocator* self) -> const OrtMemoryInfo* {
      return static_cast<const CountingAllocator*>(self)->info;
    };
    auto poison = reinterpret_cast<void (*)()>(uintptr_t{0x10});  // members that its version does not have
    std::memcpy(&Reserve, &poison, sizeof poison);
    std::memcpy(&GetStats, &poison, sizeof poison);
    std::memcpy(&AllocOnStream, &poison, sizeof poison);
    std::memcpy(&Shrink, &poison, sizeof poison);
  }
  MemoryInfo info = cpu_memory();
  int allocations = 0;
  int frees = 0;
};

/** A tensor around `data`, which must outlive it. */
template <class T>
Value tensor_around(std::vector<T>& data, std::vector<int64_t> shape, ONNXTensorElementDataType type) {
  Value value;
  EXPECT_OK(api().CreateTensorWithDataAsOrtValue(cpu_memory(), data.data(), data.size() * sizeof(T), shape.data(),
                                                 shape.size(), type, value.out()));
  return value;
}
inline Value floats(std::vector<float>& data, std::vector<int64_t> shape) {
  return tensor_around(data, std::move(shape), ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT);
}

inline Value string_tensor(const std::vector<const char*>& strings) {
  Value value;
  auto count = static_cast<int64_t>(strings.size());
  EXPECT_OK(
      api().CreateTensorAsOrtValue(default_allocator(), &count, 1, ONNX_TENSOR_ELEMENT_DATA_TYPE_STRING, value.out()));
  EXPECT_OK(api().FillStringTensor(value, strings.data(), strings.size()));
  return value;
}

template <class T>
std::vector<T> content(const OrtValue* value) {
  size_t bytes = 0;
  const void* data = nullptr;
  EXPECT_OK(api().GetTensorSizeInBytes(value, &bytes));
  EXPECT_OK(api().GetTensorData(value, &data));
  auto* items = static_cast<const T*>(data);
  return {items, items + bytes / sizeof(T)};
}

inline std::vector<int64_t> shape_of(const OrtValue* value) {
  TensorInfo info;
  size_t rank = 0;
  EXPECT_OK(api().GetTensorTypeAndShape(value, info.out()));
  EXPECT_OK(api().GetDimensionsCount(info, &rank));
  std::vector<int64_t> dims(rank);
  EXPECT_OK(api().GetDimensions(info, dims.data(), rank));
  return dims;
}

/** Writes a model file's bytes (protobuf wire format), as far as the tests need it. */
class ModelWriter {
 public:
  explicit ModelWriter(int opset = 17) { opset_import("", opset); }

  void opset_import(const std::string& domain, int version) {
    opsets_ += field(8, field(1, domain) + number(2, version));
  }
  /** Dimensions are numbers or names, or "name:DENOTATION". */
  void input(const std::string& name, int type, const std::vector<std::string>& dims) {
    graph_ += field(11, value_info(name, type, dims));
  }
  void output(const std::string& name, int type, const std::vector<std::string>& dims) {
    graph_ += field(12, value_info(name, type, dims));
  }
  void initializer(const std::string& name, int type, const std::vector<int64_t>& dims, const void* data,
                   size_t bytes) {
    graph_ += field(5, tensor(name, type, dims, data, bytes));
  }
  /** Its elements are `length` bytes at `offset` of a file. */
  void external_initializer(const std::string& name, int type, const std::vector<int64_t>& dims,
                            const std::string& file, int64_t offset, int64_t length) {
    std::string text;
    for (int64_t dim : dims) text += number(1, dim);
    for (const auto& [key, value] : {std::pair<std::string, std::string>("location", file),
                                     {"offset", std::to_string(offset)},
                                     {"length", std::to_string(length)}}) {
      text += field(13, field(1, key) + field(2, value));
    }
    graph_ += field(5, text + number(2, type) + field(8, name) + number(14, 1));
  }
  void node(const std::string& op, const std::vector<std::string>& inputs, const std::vector<std::string>& outputs,
            const std::string& attributes = "", const std::string& domain = "") {
    std::string text;
    for (const auto& input : inputs) text += field(1, input);
    for (const auto& output : outputs) text += field(2, output);
    int number = ++nodes_[op];
    std::string name = op + "_node" + (number == 1 ? "" : std::to_string(number));
    graph_ += field(1, text + field(3, name) + field(4, op) + attributes + field(7, domain));
  }
  void metadata(const std::string& key, const std::string& value) {
    model_ += field(14, field(1, key) + field(2, value));
  }

  static std::string int_attribute(const std::string& name, int64_t value) {
    return field(5, field(1, name) + number(3, value) + number(20, 2));
  }
  static std::string float_attribute(const std::string& name, float value) {
    return field(5, field(1, name) + "\x15" + raw(&value, 4) + number(20, 1));
  }
  static std::string string_attribute(const std::string& name, const std::string& value) {
    return field(5, field(1, name) + field(4, value) + number(20, 3));
  }
  static std::string ints_attribute(const std::string& name, const std::vector<int64_t>& values) {
    std::string text = field(1, name);
    for (int64_t value : values) text += number(8, value);
    return field(5, text + number(20, 7));
  }
  static std::string floats_attribute(const std::string& name, const std::vector<float>& values) {
    std::string text = field(1, name);
    for (float value : values) text += "\x3d" + raw(&value, 4);
    return field(5, text + number(20, 6));
  }
  static std::string strings_attribute(const std::string& name, const std::vector<std::string>& values) {
    std::string text = field(1, name);
    for (const auto& value : values) text += field(9, value);
    return field(5, text + number(20, 8));
  }
  static std::string tensor_attribute(const std::string& name, const std::vector<float>& values) {
    std::string value = tensor("", 1, {static_cast<int64_t>(values.size())}, values.data(), values.size() * 4);
    return field(5, field(1, name) + field(5, value) + number(20, 4));
  }

  /** The graph of `body` as a subgraph. */
  static std::string graph_attribute(const std::string& name, const ModelWriter& body) {
    return field(5, field(1, name) + field(6, body.graph_ + field(2, name + " graph")) + number(20, 5));
  }

  std::string bytes() const {
    return number(1, 8) + field(2, "ortolan tests") + field(4, "tests.domain") + number(5, 7) + field(6, "model doc") +
           field(7, graph_ + field(2, "test graph") + field(10, "graph doc")) + opsets_ + model_;
  }

 private:
  static std::string varint(uint64_t value) {
    std::string text;
    for (; value >= 128; value >>= 7) text += static_cast<char>(value | 128);
    return text + static_cast<char>(value);
  }
  static std::string raw(const void* data, size_t bytes) { return {static_cast<const char*>(data), bytes}; }
  static std::string number(int id, int64_t value) {
    return varint(static_cast<uint64_t>(id) << 3) + varint(static_cast<uint64_t>(value));
  }
  static std::string field(int id, const std::string& content) {
    return varint(static_cast<uint64_t>(id) << 3 | 2) + varint(content.size()) + content;
  }
  static std::string tensor(const std::string& name, int type, const std::vector<int64_t>& dims, const void* data,
                            size_t bytes) {
    std::string text;
    for (int64_t dim : dims) text += number(1, dim);
    return text + number(2, type) + field(8, name) + field(9, raw(data, bytes));
  }
  static std::string value_info(const std::string& name, int type, const std::vector<std::string>& dims) {
    std::string shape;
    for (const auto& dim : dims) {
      bool is_number = !dim.empty() && std::isdigit(static_cast<unsigned char>(dim[0]));
      size_t colon = dim.find(':');
      std::string named = field(2, dim.substr(0, colon));
      if (colon != std::string::npos) named += field(3, dim.substr(colon + 1));
      shape += field(1, is_number ? number(1, std::stoll(dim)) : named);
    }
    return field(1, name) + field(2, field(1, number(1, type) + field(2, shape)));
  }

  std::string graph_, opsets_, model_;
  std::map<std::string, int> nodes_;  // how many of each operator
};

inline Env make_env(const char* id = "test") {
  Env env;
  EXPECT_OK(api().CreateEnv(ORT_LOGGING_LEVEL_WARNING, id, env.out()));
  return env;
}

/** A session; the status is checked by the caller where a failure is expected. */
inline Session make_session(OrtEnv* env, const std::string& bytes, OrtSessionOptions* options = nullptr) {
  Session session;
  EXPECT_OK(api().CreateSessionFromArray(env, bytes.data(), bytes.size(), options, session.out()));
  return session;
}

/** y = x + w for x [N, 2] with the overridable initializer w, and z = y * y. */
inline ModelWriter add_model() {
  ModelWriter model;
  const float w[] = {10, 20};
  model.input("x", 1, {"N:DATA_BATCH", "2"});
  model.input("w", 1, {"2"});
  model.initializer("w", 1, {2}, w, sizeof w);
  model.node("Add", {"x", "w"}, {"y"});
  model.node("Mul", {"y", "y"}, {"z"});
  model.output("y", 1, {"N", "2"});
  model.output("z", 1, {"N", "2"});
  model.metadata("author", "somebody");
  model.metadata("empty", "");
  return model;
}
