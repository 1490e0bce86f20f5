// Sessions and compilations of a small model, alone and with a plugin that keeps what it compiles in EPContext nodes.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "api_test_support.h"

inline const OrtCompileApi& compile_api() { return *api().GetCompileApi(); }

/** OrtModelCompilationOptions, ended at the end of the scope. */
class Compilation {
 public:
  Compilation(const OrtEnv* env, const OrtSessionOptions* options) {
    EXPECT_OK(compile_api().CreateModelCompilationOptionsFromSessionOptions(env, options, &handle_));
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;
  ~Compilation() { compile_api().ReleaseModelCompilationOptions(handle_); }
  operator OrtModelCompilationOptions*() const { return handle_; }

 private:
  OrtModelCompilationOptions* handle_ = nullptr;
};

/** o = (x + w) * (x + w) - b for x [N, 2]. */
inline std::string source_model() {
  ModelWriter model;
  const float w[] = {2, 3}, b[] = {4, 5};
  model.input("x", 1, {"N", "2"});
  model.initializer("w", 1, {2}, w, sizeof w);
  model.initializer("b", 1, {2}, b, sizeof b);
  model.node("Add", {"x", "w"}, {"y"});
  model.node("Mul", {"y", "y"}, {"z"});
  model.node("Sub", {"z", "b"}, {"o"});
  model.output("o", 1, {"N", "2"});
  model.metadata("author", "somebody");
  return model.bytes();
}

class CompileTest : public ::testing::Test {
 protected:
  CompileTest() {
    char pattern[] = "/tmp/compile_test.XXXXXX";
    folder_ = mkdtemp(pattern);
    std::ofstream(path("m.onnx"), std::ios::binary) << source_;
    EXPECT_OK(api().CreateSessionOptions(plain_.out()));
  }
  ~CompileTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  void set_source(OrtModelCompilationOptions* options) {
    ASSERT_OK(compile_api().ModelCompilationOptions_SetInputModelFromBuffer(options, source_.data(), source_.size()));
  }
  void expect_results(OrtSession* session) {
    std::vector<float> data = {-1, 0, 1, 2};
    const float w[] = {2, 3}, b[] = {4, 5};
    Value x = floats(data, {2, 2});
    const char *in = "x", *out = "o";
    const OrtValue* inputs[] = {x};
    OrtValue* output = nullptr;
    ASSERT_OK(api().Run(session, nullptr, &in, inputs, 1, &out, 1, &output));
    Value result(output);
    for (size_t i = 0; i < 4; ++i) {
      double sum = data[i] + w[i % 2];
      EXPECT_FLOAT_EQ(content<float>(result)[i], static_cast<float>(sum * sum - b[i % 2]));
    }
  }
  void expect_results(const std::string& bytes, OrtSessionOptions* options) {
    Session session;
    ASSERT_OK(api().CreateSessionFromArray(env_, bytes.data(), bytes.size(), options, session.out()));
    expect_results(session);
  }
  /** The compiled model by a write function. */
  std::string compiled(OrtModelCompilationOptions* options) {
    std::string bytes;
    EXPECT_OK(compile_api().ModelCompilationOptions_SetOutputModelWriteFunc(options, append, &bytes));
    EXPECT_OK(compile_api().CompileModel(env_, options));
    return bytes;
  }
  static OrtStatus* append(void* state, const void* buffer, size_t bytes) {
    static_cast<std::string*>(state)->append(static_cast<const char*>(buffer), bytes);
    return nullptr;
  }

  Env env_ = make_env();
  std::string source_ = source_model();
  std::string folder_;
  SessionOptions plain_;
};

class ContextPluginTest : public CompileTest {
 protected:
  ContextPluginTest() {
    EXPECT_OK(api().RegisterExecutionProviderLibrary(env_, "context", CONTEXT_PLUGIN));
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    EXPECT_OK(api().GetEpDevices(env_, &devices, &count));
    for (size_t i = 0; i < count; ++i) {
      bool ours = std::string(api().EpDevice_EpName(devices[i])) == kProvider;
      (ours ? device_ : cpu_) = devices[i];
    }
    options_ = make_options();
  }
  ~ContextPluginTest() override {
    options_ = {};
    EXPECT_OK(api().UnregisterExecutionProviderLibrary(env_, "context"));
  }

  SessionOptions make_options(const std::string& info = "") {
    SessionOptions options;
    EXPECT_OK(api().CreateSessionOptions(options.out()));
    EXPECT_OK(api().SessionOptionsAppendExecutionProvider_V2(options, env_, &device_, 1, nullptr, nullptr, 0));
    if (!info.empty()) {
      EXPECT_OK(api().AddSessionConfigEntry(options, "test.compatibility_info", info.c_str()));
    }
    return options;
  }
  std::string compiled_with(const std::string& info) {
    SessionOptions options = make_options(info);
    Compilation compilation(env_, options);
    set_source(compilation);
    EXPECT_OK(compile_api().ModelCompilationOptions_SetEpContextEmbedMode(compilation, true));
    return compiled(compilation);
  }
  OrtStatus* load(const std::string& bytes, OrtSessionOptions* options) {
    Session session;
    return api().CreateSessionFromArray(env_, bytes.data(), bytes.size(), options, session.out());
  }

  static constexpr const char* kProvider = "ContextExecutionProvider";
  const OrtEpDevice* device_ = nullptr;
  const OrtEpDevice* cpu_ = nullptr;
  SessionOptions options_;
};
