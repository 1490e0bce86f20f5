// Models compiled for a GPU provider: what they hold runs as the source does, anywhere, without it; what is damaged,
// another provider's or out of place is refused with what to do.
#include <unistd.h>
#include <array>

#include <filesystem>
#include <fstream>
#include <functional>

#include "api/api_test_support.h"

namespace {

namespace fs = std::filesystem;
using Entries = std::map<std::string, std::string>;

constexpr int kFloat = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, kFloat16 = ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16;

/** y = relu(relu(x * w1) * w2) for x [N, 3], in two groups that are alike but for their weights: the node between runs
 *  on the CPU. */
std::string source_model() {
  ModelWriter model;
  const float w1[] = {1, -2, 3, 4, 5, -6, 7, 8, 9}, w2[] = {0.5f, 2, -1, 3, -0.25f, 1, 2, 2, -3};
  const bool keep[] = {true, true, true};
  model.input("x", kFloat, {"N", "3"});
  model.initializer("w1", kFloat, {3, 3}, w1, sizeof w1);
  model.initializer("w2", kFloat, {3, 3}, w2, sizeof w2);
  model.initializer("keep", ONNX_TENSOR_ELEMENT_DATA_TYPE_BOOL, {3}, keep, sizeof keep);
  model.node("MatMul", {"x", "w1"}, {"p"});
  model.node("Relu", {"p"}, {"q"});
  model.node("Compress", {"q", "keep"}, {"r"}, ModelWriter::int_attribute("axis", 1));
  model.node("MatMul", {"r", "w2"}, {"s"});
  model.node("Relu", {"s"}, {"y"});
  model.output("y", kFloat, {"N", "3"});
  return model.bytes();
}

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write(const fs::path& path, const std::string& content) { std::ofstream(path, std::ios::binary) << content; }

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  EXPECT_EQ(from.size(), to.size()) << "sizes are written before texts";
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

struct Plugin {
  const char* name;
  const char* path;
};

/** An environment in which the device is opened anew. */
class Device {
 public:
  explicit Device(const Plugin& plugin) {
    EXPECT_OK(api().RegisterExecutionProviderLibrary(env_, plugin.name, plugin.path));
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    EXPECT_OK(api().GetEpDevices(env_, &devices, &count));
    for (size_t i = 0; i < count && device_ == nullptr; i++) {
      if (std::strstr(api().EpDevice_EpName(devices[i]), plugin.name) != nullptr) device_ = devices[i];
    }
    EXPECT_NE(device_, nullptr) << "there is no device";
  }
  OrtEnv* env() { return env_; }
  const OrtEpDevice* device() const { return device_; }
  SessionOptions options(const Entries& entries = {}) {
    SessionOptions options;
    EXPECT_OK(api().CreateSessionOptions(options.out()));
    EXPECT_OK(api().SessionOptionsAppendExecutionProvider_V2(options, env_, &device_, 1, nullptr, nullptr, 0));
    for (const auto& [key, value] : entries) {
      EXPECT_OK(api().AddSessionConfigEntry(options, key.c_str(), value.c_str()));
    }
    return options;
  }
  OrtStatus* create(Session& session, const fs::path& model, const Entries& entries = {}) {
    return api().CreateSession(env_, model.c_str(), options(entries), session.out());
  }
  OrtStatus* create_from(Session& session, const std::string& bytes, const Entries& entries = {}) {
    return api().CreateSessionFromArray(env_, bytes.data(), bytes.size(), options(entries), session.out());
  }

 private:
  Env env_ = make_env("context");
  const OrtEpDevice* device_ = nullptr;
};

std::vector<float> run(OrtSession* session, int64_t rows) {
  std::vector<float> data;
  for (int64_t i = 0; i < rows * 3; i++) data.push_back(static_cast<float>(i % 7) - 3);
  Value x = floats(data, {rows, 3}), y;
  const char *in = "x", *out = "y";
  const OrtValue* inputs[] = {x};
  EXPECT_OK(api().Run(session, nullptr, &in, inputs, 1, &out, 1, y.out()));
  return content<float>(y);
}

class Context : public ::testing::TestWithParam<Plugin> {
 protected:
  Context() {
    fs::create_directories(folder_);
    write(folder_ / "m.onnx", source_model());
    Session session;
    EXPECT_OK(device().create(session, folder_ / "m.onnx"));
    for (int64_t rows : {1, 2, 5}) wanted_.push_back(run(session, rows));
  }
  ~Context() override { fs::remove_all(folder_); }

  Device& device() { return *device_; }
  /** Ends all that the process has of the device. */
  void restart() {
    device_.reset();
    device_ = std::make_unique<Device>(GetParam());
  }
  /** The compiled model, beside the source. */
  fs::path compiled(bool embedded, Entries entries = {}) {
    const fs::path model = folder_ / "m_ctx.onnx";
    entries["ep.context_enable"] = "1";
    entries["ep.context_embed_mode"] = embedded ? "1" : "0";
    Session session;
    EXPECT_OK(device().create(session, folder_ / "m.onnx", entries));
    expect_results(session);
    EXPECT_TRUE(fs::exists(model));
    return model;
  }
  /** Files of groups, beside the models. */
  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      if (entry.path().extension() == ".bin") found.push_back(entry.path());
    }
    return found;
  }
  void expect_results(OrtSession* session) {
    for (size_t i = 0; i < 3; i++) EXPECT_EQ(run(session, std::array{1, 2, 5}[i]), wanted_[i]);
  }
  void expect_loads(const fs::path& model, const Entries& entries = {}) {
    Session session;
    ASSERT_OK(device().create(session, model, entries));
    expect_results(session);
  }
  void expect_refused(const fs::path& model, OrtErrorCode code, const std::string& part) {
    Session session;
    EXPECT_REFUSED(device().create(session, model), code, part);
  }
  const std::string provider() { return api().EpDevice_EpName(device().device()); }

  const fs::path folder_ = fs::path(::testing::TempDir()) / ("gpu_context." + std::to_string(getpid()));
  std::unique_ptr<Device> device_ = std::make_unique<Device>(GetParam());
  std::vector<std::vector<float>> wanted_;  // of the source
};

TEST_P(Context, RunsAsTheSourceDoesWithoutIt) {
  for (bool embedded : {true, false}) {
    SCOPED_TRACE(embedded);
    fs::path model = compiled(embedded);
    EXPECT_EQ(files().size(), embedded ? 0u : 2u) << "a file a group, as their weights differ";
    EXPECT_EQ(content_of(model).find("MatMul") != std::string::npos, embedded) << "only groups know their nodes";
    fs::rename(folder_ / "m.onnx", folder_ / "away");
    restart();
    expect_loads(model, {{"session.disable_model_compile", "1"}});
    fs::rename(folder_ / "away", folder_ / "m.onnx");
    fs::remove(model);
  }
  Session session;
  EXPECT_REFUSED(device().create(session, folder_ / "m.onnx", {{"session.disable_model_compile", "1"}}),
                 ORT_MODEL_REQUIRES_COMPILATION, "compile the model beforehand");
}

TEST_P(Context, AFolderMayMove) {
  compiled(false);
  fs::create_directories(folder_ / "other");
  for (const fs::path& file : files()) fs::rename(file, folder_ / "other" / file.filename());
  fs::rename(folder_ / "m_ctx.onnx", folder_ / "other" / "renamed.onnx");
  restart();
  expect_loads(folder_ / "other" / "renamed.onnx");
  fs::current_path(folder_ / "other");
  expect_loads("renamed.onnx");
  fs::current_path("/");
}

TEST_P(Context, AModelInMemoryNeedsTheFolder) {
  std::string bytes = content_of(compiled(false));
  Session session;
  EXPECT_REFUSED(device().create_from(session, bytes), ORT_INVALID_GRAPH, "set the session entry ep.context_file_path");
  ASSERT_OK(device().create_from(session, bytes, {{"ep.context_file_path", (folder_ / "any.onnx").string()}}));
  expect_results(session);
  const OrtCompileApi& compile = *api().GetCompileApi();
  OrtModelCompilationOptions* compilation = nullptr;
  const std::string source = source_model();
  auto forget = [](void*, const void*, size_t) -> OrtStatus* { return nullptr; };
  ASSERT_OK(compile.CreateModelCompilationOptionsFromSessionOptions(device().env(), device().options(), &compilation));
  EXPECT_OK(compile.ModelCompilationOptions_SetInputModelFromBuffer(compilation, source.data(), source.size()));
  EXPECT_OK(compile.ModelCompilationOptions_SetOutputModelWriteFunc(compilation, forget, nullptr));
  EXPECT_REFUSED(compile.CompileModel(device().env(), compilation), ORT_INVALID_ARGUMENT,
                 "nothing says where the files of the compiled model go; set ep.context_file_path");
  compile.ReleaseModelCompilationOptions(compilation);
}

TEST_P(Context, TheCompileFunctionsWriteItToo) {
  const OrtCompileApi& compile = *api().GetCompileApi();
  for (bool embedded : {true, false}) {
    OrtModelCompilationOptions* compilation = nullptr;
    ASSERT_OK(
        compile.CreateModelCompilationOptionsFromSessionOptions(device().env(), device().options(), &compilation));
    EXPECT_OK(compile.ModelCompilationOptions_SetInputModelPath(compilation, (folder_ / "m.onnx").c_str()));
    EXPECT_OK(compile.ModelCompilationOptions_SetEpContextEmbedMode(compilation, embedded));
    EXPECT_OK(compile.ModelCompilationOptions_SetFlags(compilation, OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED));
    fs::path model = folder_ / (embedded ? "embedded.onnx" : "beside.onnx");
    EXPECT_OK(compile.ModelCompilationOptions_SetOutputModelPath(compilation, model.c_str()));
    EXPECT_OK(compile.CompileModel(device().env(), compilation));
    expect_loads(model);
    EXPECT_OK(compile.ModelCompilationOptions_SetInputModelPath(compilation, model.c_str()));
    EXPECT_OK(compile.ModelCompilationOptions_SetOutputModelPath(compilation, (folder_ / "again.onnx").c_str()));
    EXPECT_REFUSED(compile.CompileModel(device().env(), compilation), ORT_FAIL, "or the model is compiled already");
    compile.ReleaseModelCompilationOptions(compilation);
  }
}

TEST_P(Context, EntriesNameNodesAndFiles) {
  fs::path model = compiled(false, {{"ep.context_node_name_prefix", "mine_"},
                                    {"ep.context_model_external_initializers_file_name", "weights.data"}});
  const std::string bytes = content_of(model);
  EXPECT_NE(bytes.find("mine_" + provider()), std::string::npos);
  EXPECT_EQ(bytes.find("mine_mine_"), std::string::npos);
  EXPECT_EQ(fs::file_size(folder_ / "weights.data"), 3u) << "what the CPU's node reads";
  expect_loads(model);
}

TEST_P(Context, DamagedFilesAreRefused) {
  fs::path model = compiled(false);
  const fs::path file = files()[0];
  const std::string whole = content_of(file);
  for (size_t at : {size_t{0}, size_t{9}, size_t{25}, whole.size() / 2, whole.size() - 1}) {
    std::string changed = whole;
    changed[at] ^= 0x41;
    write(file, changed);
    expect_refused(model, ORT_INVALID_GRAPH, "compile the model again");
    write(file, whole.substr(0, at));
    expect_refused(model, ORT_INVALID_GRAPH,
                   "(EPContext): the compiled group is damaged: it has " + std::to_string(at));
  }
  write(file, content_of(files()[1]));
  Session session;
  EXPECT_OK(device().create(session, model)) << "a whole group in the place of one that is alike";
  fs::remove(file);
  expect_refused(model, ORT_NO_SUCHFILE, "it belongs to the compiled model");
  fs::create_directory(file);
  expect_refused(model, ORT_INVALID_GRAPH, "is not a regular file");
}

TEST_P(Context, DamagedModelsAreRefused) {
  const std::string whole = content_of(compiled(true));
  Session session;
  size_t at = whole.find("ortgroup");
  ASSERT_NE(at, std::string::npos);
  for (size_t offset : {0, 8, 30, 100, 300}) {
    std::string changed = whole;
    changed[at + offset] ^= 0x10;
    EXPECT_REFUSED(device().create_from(session, changed), ORT_INVALID_GRAPH, "compile the model again");
  }
}

TEST_P(Context, AnotherProvidersIsLeftToIt) {
  std::string bytes = content_of(compiled(true)), other = provider();
  other[0] = other[0] == 'X' ? 'Y' : 'X';
  size_t at = bytes.find("source");
  bytes.replace(bytes.find(provider(), at), other.size(), other);
  Session session;
  EXPECT_REFUSED(device().create_from(session, bytes), ORT_NOT_IMPLEMENTED, "'" + other + "' compiled; register");
}

TEST_P(Context, FilesElsewhereAreRefused) {
  fs::path model = compiled(false);
  const std::string bytes = content_of(model), name = files()[0].filename();
  std::string up = "../" + std::string(name.size() - 3, 'a'), root = "/" + std::string(name.size() - 1, 'a');
  for (const std::string& bad : {up, root}) {
    write(model, replaced(bytes, name, bad));
    Session session;
    EXPECT_REFUSED(device().create(session, model), ORT_INVALID_GRAPH, bad);
  }
  write(model, bytes);
  fs::path outside = folder_.string() + ".outside";
  fs::rename(folder_ / name, outside);
  fs::create_symlink(outside, folder_ / name);
  expect_refused(model, ORT_INVALID_GRAPH, "link");
  fs::remove(outside);
}

/** A model of one EPContext node that names the file; `inputs` times x of such a type. */
std::string context_model(const std::string& source, const std::string& file, int type, size_t inputs) {
  ModelWriter model;
  model.opset_import("com.microsoft", 1);
  model.input("x", type, {"N", "3"});
  model.node("EPContext", std::vector<std::string>(inputs, "x"), {"y"},
             ModelWriter::string_attribute("source", source) + ModelWriter::string_attribute("ep_cache_context", file) +
                 ModelWriter::int_attribute("embed_mode", 0),
             "com.microsoft");
  model.output("y", type, {"N", "3"});
  return model.bytes();
}

TEST_P(Context, ValuesHaveTheGroupsTypes) {
  compiled(false);
  const std::string file = files()[0].filename();
  fs::path model = folder_ / "by_hand.onnx";
  write(model, context_model(provider(), file, kFloat, 1));
  Session session;
  ASSERT_OK(device().create(session, model)) << "the names of values are the model's own";
  EXPECT_EQ(run(session, 2).size(), 6u);
  write(model, context_model(provider(), file, kFloat, 2));
  expect_refused(model, ORT_INVALID_GRAPH, "it has 2 inputs, the compiled group 1; compile the model again");
  write(model, context_model(provider(), file, kFloat16, 1));
  ASSERT_OK(device().create(session, model));
  std::vector<uint16_t> data(6);
  Value x = tensor_around(data, {2, 3}, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT16), y;
  const char *in = "x", *out = "y";
  const OrtValue* inputs[] = {x};
  EXPECT_REFUSED(api().Run(session, nullptr, &in, inputs, 1, &out, 1, y.out()), ORT_INVALID_GRAPH,
                 "input 0 is float16 where the compiled group has float; compile the model again");
}

TEST_P(Context, FormatsAreJudged) {
  const std::string bytes = content_of(compiled(true));
  char* info = nullptr;
  ASSERT_OK(api().GetCompatibilityInfoFromModelBytes(bytes.data(), bytes.size(), provider().c_str(),
                                                     default_allocator(), &info));
  const std::string format = take(info);
  EXPECT_EQ(format, "gpu group 1");
  const OrtEpDevice* device = this->device().device();
  auto judgement = OrtCompiledModelCompatibility_EP_NOT_APPLICABLE;
  EXPECT_OK(api().GetModelCompatibilityForEpDevices(&device, 1, format.c_str(), &judgement));
  EXPECT_EQ(judgement, OrtCompiledModelCompatibility_EP_SUPPORTED_OPTIMAL);
  EXPECT_OK(api().GetModelCompatibilityForEpDevices(&device, 1, "gpu group 7", &judgement));
  EXPECT_EQ(judgement, OrtCompiledModelCompatibility_EP_UNSUPPORTED);
  Session session;
  EXPECT_REFUSED(this->device().create_from(session, replaced(bytes, format, "gpu group 7")), ORT_FAIL,
                 "compile the source model anew");
}

std::string name_of(const ::testing::TestParamInfo<Plugin>& info) { return info.param.name; }

INSTANTIATE_TEST_SUITE_P(, Context,
                         ::testing::Values(Plugin{"TestDevice", TESTDEVICE_PLUGIN}, Plugin{"CUDA", CUDA_PLUGIN},
                                           Plugin{"OpenCL", OPENCL_PLUGIN}, Plugin{"Vulkan", VULKAN_PLUGIN}),
                         name_of);

}  // namespace
