// Model packages: what they hold, which variant fits, the sessions of it, and packages that are wrong.
#include "model_package_fixture.h"

namespace {

namespace fs = std::filesystem;

TEST_F(ModelPackageTest, TellsComponentsAndVariantsInOrder) {
  Package package;
  ASSERT_OK(open(manifest_of(R"({"z": {"variants": {"cpu": )" + kCpuVariant +
                             R"(, "any": {"variant_directory": "cpu"}}}, "a": {"variants": {}}})"),
                 package));
  int64_t schema = 0;
  size_t count = 0;
  const char* const* names = nullptr;
  EXPECT_OK(package_api().ModelPackage_GetSchemaVersion(package, &schema));
  EXPECT_EQ(schema, 1);
  EXPECT_OK(package_api().ModelPackage_GetComponentCount(package, &count));
  EXPECT_EQ(count, 2u);
  EXPECT_OK(package_api().ModelPackage_GetComponentNames(package, &names, &count));
  ASSERT_EQ(count, 2u);
  EXPECT_STREQ(names[0], "z");
  EXPECT_STREQ(names[1], "a");
  EXPECT_OK(package_api().ModelPackage_GetVariantCount(package, "a", &count));
  EXPECT_EQ(count, 0u);
  EXPECT_OK(package_api().ModelPackage_GetVariantNames(package, "z", &names, &count));
  ASSERT_EQ(count, 2u);
  EXPECT_STREQ(names[0], "cpu");
  EXPECT_STREQ(names[1], "any");
  const char* ep = nullptr;
  EXPECT_OK(package_api().ModelPackage_GetVariantEpName(package, "z", "cpu", &ep));
  EXPECT_STREQ(ep, "CPUExecutionProvider");
  EXPECT_OK(package_api().ModelPackage_GetVariantEpName(package, "z", "any", &ep));
  EXPECT_EQ(ep, nullptr);
  EXPECT_REFUSED(package_api().ModelPackage_GetVariantEpName(package, "z", "gpu", &ep), ORT_INVALID_ARGUMENT,
                 "has no variant 'gpu'");
  EXPECT_REFUSED(package_api().ModelPackage_GetVariantCount(package, "none", &count), ORT_INVALID_ARGUMENT,
                 "has no component 'none'");
}

TEST_F(ModelPackageTest, RunsTheModelOfItsVariant) {
  Session session;
  ASSERT_OK(run(variants(R"("cpu": )" + kCpuVariant), session));
  expect_results(session);
  ASSERT_OK(run(variants(R"("cpu": )" + kCpuVariant), session, plain_));
  expect_results(session);

  fs::copy(ORTOLAN_SOURCE_DIR "/tests/models/digits.onnx", path("p/cpu/digits.onnx"));
  ASSERT_OK(run(cpu_with(R"({"model_file": "digits.onnx"})"), session));
  std::vector<float> picture(64, 0.5f), sum(1, 0);
  Value image = floats(picture, {1, 1, 8, 8});
  const OrtValue* inputs[] = {image};
  const char* in = "image";
  char* out = nullptr;
  ASSERT_OK(api().SessionGetOutputName(session, 0, default_allocator(), &out));
  const std::string name = take(out);
  const char* wanted = name.c_str();
  Value scores;
  ASSERT_OK(api().Run(session, nullptr, &in, inputs, 1, &wanted, 1, scores.out()));
  for (float score : content<float>(scores)) sum[0] += score;
  EXPECT_NEAR(sum[0], 1, 1e-5);
}

TEST_F(ModelPackageTest, ObjectsMayEndInAnyOrder) {
  Session session;
  Component component;
  {
    Package package;
    ASSERT_OK(open(variants(R"("cpu": )" + kCpuVariant), package));
    ASSERT_OK(select(package, plain_, component));
  }
  const char* folder = nullptr;
  EXPECT_OK(package_api().ModelPackageComponent_GetSelectedVariantFolderPath(component, &folder));
  EXPECT_EQ(folder, fs::canonical(path("p/cpu")).native());
  ASSERT_OK(package_api().CreateSession(env_, component, nullptr, session.out()));
  expect_results(session);
}

TEST_F(ModelPackageTest, ComponentsMayBeFilesOrFolders) {
  const std::string body = R"({"component_name": "x", "variants": {"cpu": )" + kCpuVariant + "}}";
  write("part/component.json", body);
  write("part/other.json", body);
  write("part/cpu/m.onnx", source_);
  for (const char* place : {"part", "part/", "./part", "part/component.json", "part/other.json"}) {
    Session session;
    ASSERT_OK(run(manifest_of(R"({"main": ")" + std::string(place) + "\"}"), session)) << place;
    expect_results(session);
  }
}

TEST_F(ModelPackageTest, ExecutorInfoMayBeAFile) {
  write("cpu/info.json", R"({"model_file": "./m.onnx", "for_others": 1})");
  Session session;
  ASSERT_OK(run(variants(R"("cpu": {"ep": "CPUExecutionProvider",
                             "executor_info": {"ort": "info.json", "else": {}}})"),
                session));
  expect_results(session);
}

TEST_F(ModelPackageTest, TheProviderChoosesTheVariant) {
  auto for_context = [](const std::string& name, const std::string& more) {
    return ", \"" + name + R"(": {"ep": "ContextExecutionProvider", "variant_directory": "cpu", )" + more + kInfo + "}";
  };
  auto judged = [&](const std::string& info) { return "\"compatibility_string\": \"" + info + "\", "; };
  const std::string cpu = R"("cpu": )" + kCpuVariant;
  EXPECT_EQ(chosen(variants(cpu + for_context("a", "")), plain_), "cpu");
  EXPECT_EQ(chosen(variants(cpu + for_context("a", "") + for_context("b", "")), options_), "a");
  EXPECT_EQ(chosen(variants(cpu + for_context("a", judged("unknown")) + for_context("b", judged("old")) +
                            for_context("c", judged("optimal")) + for_context("d", judged("optimal"))),
                   options_),
            "c");
  EXPECT_EQ(chosen(variants(cpu + for_context("a", judged("too old")) + for_context("b", "")), options_), "b");
  EXPECT_EQ(chosen(variants(cpu + for_context("a", R"("device": "npu", )") + for_context("b", R"("device": "CPU", )")),
                   options_),
            "b");
  Package package;
  Component component;
  ASSERT_OK(open(variants(cpu), package));
  EXPECT_REFUSED(select(package, options_, component), ORT_FAIL, "no variant that fits provider ContextExecution");
  ASSERT_OK(open(variants(R"("any": {"variant_directory": "cpu"})"), package));
  EXPECT_REFUSED(select(package, plain_, component), ORT_FAIL, "no variant that fits provider CPUExecution");
}

TEST_F(ModelPackageTest, TheSessionUsesTheProviderOfItsVariant) {
  Package package;
  Component component;
  Session session;
  ASSERT_OK(open(variants(R"("cpu": {"ep": "ContextExecutionProvider", )" + kInfo + "}"), package));
  ASSERT_OK(select(package, options_, component));
  write("cpu/m.onnx", compiled_with(""));  // only that provider can run it
  ASSERT_OK(package_api().CreateSession(env_, component, nullptr, session.out()));
  expect_results(session);
  EXPECT_REFUSED(package_api().CreateSession(env_, component, plain_, session.out()), ORT_NOT_IMPLEMENTED,
                 "compiled; register that provider");
}

TEST_F(ModelPackageTest, SessionOptionsOfTheVariantHoldWhereTheCallerHasNone) {
  const std::string wrong = R"({"model_file": "m.onnx", "session_options": {"session.execution_mode": "wild"}})";
  Session session;
  EXPECT_REFUSED(run(cpu_with(wrong), session), ORT_INVALID_ARGUMENT, "must be sequential or parallel");
  EXPECT_REFUSED(run(cpu_with(R"({"model_file": "m.onnx", "provider_options": {"a": "b"}})"), session),
                 ORT_NOT_IMPLEMENTED, "CPUExecutionProvider takes none");
  ASSERT_OK(run(cpu_with(wrong), session, plain_));
  expect_results(session);
}

TEST_F(ModelPackageTest, SharedAssetsAreFoundByName) {
  write("shared_assets/sha256-" + std::string(64, 'a') + "/w/m.onnx", source_);
  Session session;
  ASSERT_OK(run(cpu_with("{\"model_file\": \"" + kAsset + "/w/m.onnx\"}"), session));
  expect_results(session);
  write("own/m.onnx", source_);
  ASSERT_OK(
      run(variants("\"cpu\": {\"ep\": \"CPUExecutionProvider\", \"executor_info\": {\"ort\": {\"model_file\": \"" +
                       kAsset + "/m.onnx\"}}}",
                   ", \"shared_assets\": {\"" + kAsset + "\": \"own\"}"),
          session));
  expect_results(session);
}

TEST_F(ModelPackageTest, ResolvesPaths) {
  write("shared_assets/sha256-" + std::string(64, 'a') + "/w/x", "");
  Package package;
  ASSERT_OK(open(variants(R"("cpu": )" + kCpuVariant), package));
  const std::string root = fs::canonical(path("p")).native();
  auto resolved = [&](const char* base, const std::string& input, int must_exist = 0) {
    const char* found = "";
    EXPECT_OK(package_api().ModelPackage_ResolveStringRef(package, base, input.c_str(), must_exist, &found)) << input;
    return std::string(found);
  };
  auto refused_for = [&](const char* base, const std::string& input, const std::string& words) {
    const char* found = "";
    return refused(package_api().ModelPackage_ResolveStringRef(package, base, input.c_str(), 1, &found), ORT_FAIL,
                   words);
  };
  EXPECT_EQ(resolved(nullptr, "cpu/./m.onnx", 1), root + "/cpu/m.onnx");
  EXPECT_EQ(resolved("", "none"), root + "/none");
  EXPECT_EQ(resolved((root + "/cpu").c_str(), ".", 1), root + "/cpu");
  EXPECT_EQ(resolved(nullptr, kAsset + "/w/x", 1), root + "/shared_assets/sha256-" + std::string(64, 'a') + "/w/x");
  EXPECT_EQ(resolved(nullptr, "sha256:aa"), root + "/sha256:aa");
  EXPECT_TRUE(refused_for(nullptr, "none", "where nothing is"));
  EXPECT_TRUE(refused_for(nullptr, "", "a path is empty"));
  EXPECT_TRUE(refused_for(nullptr, "cpu/../cpu", "has '..'"));
  EXPECT_TRUE(refused_for(nullptr, "/tmp", "is absolute"));
  EXPECT_TRUE(refused_for("/tmp", "x", "outside"));
  EXPECT_TRUE(refused_for(nullptr, kAsset + "/../x", "has '..'"));
  EXPECT_TRUE(refused_for(nullptr, "sha256:" + std::string(64, 'b'), "is not in the package"));
}

TEST_F(ModelPackageTest, OnlyInstalledPackagesReachOutside) {
  write("../outside/m.onnx", source_);
  const std::string outside =
      R"("cpu": {"ep": "CPUExecutionProvider", "variant_directory": "../outside", )" + kInfo + "}";
  EXPECT_REFUSED(open(variants(outside)), ORT_FAIL, "variant 'cpu': path '../outside' has '..'");
  Session session;
  ASSERT_OK(run(variants(outside, R"(, "layout": "installed")"), session));
  expect_results(session);

  fs::create_directory_symlink(path("outside"), path("p/link"));
  fs::create_symlink(path("nowhere"), path("p/cpu/dangling.onnx"));
  const std::string linked = R"("cpu": {"ep": "CPUExecutionProvider", "variant_directory": "link", )" + kInfo + "}";
  EXPECT_REFUSED(open(variants(linked)), ORT_FAIL, "path 'link' leads to");
  ASSERT_OK(run(variants(linked, R"(, "layout": "installed")"), session));
  EXPECT_REFUSED(open(cpu_with(R"({"model_file": "dangling.onnx"})")), ORT_FAIL, "through a link that leads nowhere");
  fs::create_symlink("ring", path("p/ring"));
  EXPECT_REFUSED(open(manifest_of(R"({"main": "ring"})")), ORT_FAIL, "Too many levels of symbolic links");
}

TEST_F(ModelPackageTest, WrongPackagesSayWhereAndWhat) {
  write("part/component.json", R"("part")");
  write("bad/component.json", "{");
  write("empty/x", "");
  write("cpu/bad.json", "[1,\n 2,,]");
  const std::string cpu = R"("cpu": )" + kCpuVariant, deep(100000, '[');
  const std::pair<std::string, const char*> cases[] = {
      {"", "manifest.json': not JSON at line 1"},
      {"[]", "must be a JSON object"},
      {variants(cpu) + "x", "not JSON at line 1"},
      {"{\"additional_metadata\": " + deep, "nest deeper than 200"},
      {R"({"components": {}})", "'schema_version' is missing"},
      {R"({"schema_version": "2.0", "components": {}})", "reads version 1"},
      {R"({"schema_version": "1.x", "components": {}})", "must be a string of two numbers"},
      {R"({"schema_version": 1.5, "components": {}})", "must be a string of two numbers"},
      {R"({"schema_version": "1.0"})", "'components' is missing"},
      {manifest_of("[]"), "'components' must be an object"},
      {variants(cpu, R"(, "producer": "x")"), "member 'producer' is not known"},
      {variants(cpu, R"(, "description": 3)"), "'description' must be a string"},
      {variants(cpu, R"(, "layout": "loose")"), "'layout' is 'loose'"},
      {variants(cpu, R"(, "shared_assets": {"x": "y"})"), "'x' is no name of a shared asset"},
      {variants(cpu, ", \"shared_assets\": {\"" + kAsset + "\": \"../x\"}"), "path '../x' has '..'"},
      {variants(cpu + ", " + cpu), "has the name 'cpu' twice"},
      {manifest_of(R"({"main": 3})"), "component 'main': it must be an object, or the path of one"},
      {manifest_of(R"({"main": "none"})"), "component 'main': path 'none' leads to"},
      {manifest_of(R"({"main": "empty"})"), "'component.json' leads to"},
      {manifest_of(R"({"main": "part"})"), "must be a JSON object"},
      {manifest_of(R"({"main": "bad"})"), "bad/component.json': not JSON at line 1"},
      {manifest_of(R"({"main": "manifest.json"})"), "member 'schema_version' is not known"},
      {manifest_of(R"({"main": {}})"), "'variants' is missing"},
      {variants(R"("cpu": [])"), "variant 'cpu': it must be a JSON object"},
      {variants(R"("cpu": {"ep": 3})"), "'ep' must be a string"},
      {variants(R"("cpu": {"ep": "a\u0000b"})"), "'ep' holds the character 0"},
      {variants(R"("cpu": {"eps": "x"})"), "member 'eps' is not known"},
      {variants(R"("cpu": {"variant_directory": "none"})"), "path 'none' leads to"},
      {variants(R"("cpu": {"variant_directory": "cpu/m.onnx"})"), "is no folder"},
      {variants(R"("../x": {})"), "variant '../x': path '../x' has '..'"},
      {variants(R"("cpu": {"executor_info": {"other": 3}})"), "executor_info 'other': it must be an object"},
      {variants(R"("cpu": {"executor_info": {"other": "bad.json"}})"), "bad.json': not JSON at line 2, column 4"},
      {cpu_with(R"({"model_file": "../m.onnx"})"), "model_file: path '../m.onnx' has '..'"},
      {cpu_with(R"({"model_file": ["m.onnx"]})"), "model_file: 'path' must be a string"},
      {cpu_with(R"({"session_options": {"a": 1}})"), "session_options 'a': 'value' must be a string"},
      {cpu_with(R"({"session_options": {"session.enable_profiling": "x"}})"), "may not set 'session.enable_profiling'"},
      {cpu_with(R"({"session_options": {"ep.context_file_path": "/tmp/x"}})"), "path '/tmp/x' is absolute"},
      {cpu_with(R"({"provider_options": []})"), "'provider_options' must be an object"},
  };
  for (const auto& [manifest, words] : cases) {
    EXPECT_REFUSED(open(manifest), ORT_FAIL, words) << manifest.substr(0, 200);
  }
}

TEST_F(ModelPackageTest, WhatIsNoPackageIsRefused) {
  Package package;
  auto opened = [&](const std::string& place) {
    return package_api().CreateModelPackageContext(place.c_str(), package.out());
  };
  EXPECT_REFUSED(opened(path("nowhere")), ORT_FAIL, "is no folder");
  EXPECT_REFUSED(opened(path("m.onnx")), ORT_FAIL, "is no folder");
  EXPECT_REFUSED(opened(folder_), ORT_FAIL, "manifest.json'");
  Session session;
  EXPECT_REFUSED(run(cpu_with("{}"), session), ORT_FAIL, "names no model");
  EXPECT_EQ(session, nullptr);
  EXPECT_REFUSED(run(cpu_with(R"({"model_file": "none.onnx"})"), session), ORT_NO_SUCHFILE, "none.onnx");
}

TEST_F(ModelPackageTest, NullArgumentsAreNamed) {
  Package package;
  ASSERT_OK(open(variants(R"("cpu": )" + kCpuVariant), package));
  PackageOptions target;
  Component component;
  const char* text = nullptr;
  size_t count = 0;
  const OrtModelPackageApi& p = package_api();
  EXPECT_REFUSED(p.CreateModelPackageOptionsFromSessionOptions(env_, nullptr, target.out()), ORT_INVALID_ARGUMENT,
                 "'session_options'");
  EXPECT_REFUSED(p.CreateModelPackageOptionsFromSessionOptions(nullptr, plain_, target.out()), ORT_INVALID_ARGUMENT,
                 "env");
  EXPECT_REFUSED(p.CreateModelPackageContext(nullptr, package.out()), ORT_INVALID_ARGUMENT, "'package_root'");
  EXPECT_REFUSED(p.CreateModelPackageContext(path("p").c_str(), nullptr), ORT_INVALID_ARGUMENT, "'out'");
  ASSERT_OK(p.CreateModelPackageContext(path("p").c_str(), package.out()));
  EXPECT_REFUSED(p.ModelPackage_GetComponentNames(package, nullptr, &count), ORT_INVALID_ARGUMENT, "'out_names'");
  EXPECT_REFUSED(p.ModelPackage_ResolveStringRef(package, nullptr, nullptr, 0, &text), ORT_INVALID_ARGUMENT, "'input'");
  EXPECT_REFUSED(p.SelectComponent(package, "main", nullptr, component.out()), ORT_INVALID_ARGUMENT, "'options'");
  ASSERT_OK(p.CreateModelPackageOptionsFromSessionOptions(env_, plain_, target.out()));
  EXPECT_REFUSED(p.SelectComponent(package, nullptr, target, component.out()), ORT_INVALID_ARGUMENT,
                 "'component_name'");
  ASSERT_OK(p.SelectComponent(package, "main", target, component.out()));
  Session session;
  EXPECT_REFUSED(p.CreateSession(nullptr, component, nullptr, session.out()), ORT_INVALID_ARGUMENT, "env");
  EXPECT_REFUSED(p.CreateSession(env_, nullptr, nullptr, session.out()), ORT_INVALID_ARGUMENT, "'context'");
  EXPECT_REFUSED(p.CreateSession(env_, component, nullptr, nullptr), ORT_INVALID_ARGUMENT, "'session'");
}

/** Counts, and gives the plugin's data under the name of its file. */
OrtStatus* give_data(void* state, const char* name, OrtAllocator* allocator, void** buffer, size_t* size) {
  auto& data = *static_cast<std::map<std::string, std::string>*>(state);
  auto found = data.find(name);
  if (found == data.end()) return api().CreateStatus(ORT_NOT_FOUND, "the program has no such data");
  *buffer = allocator->Alloc(allocator, found->second.size());
  std::memcpy(*buffer, found->second.data(), found->second.size());
  *size = found->second.size();
  return nullptr;
}

TEST_F(ModelPackageTest, AFunctionGivesDataOfCompiledNodes) {
  Compilation to_file(env_, options_);
  EXPECT_OK(compile_api().ModelCompilationOptions_SetInputModelPath(to_file, path("m.onnx").c_str()));
  EXPECT_OK(compile_api().ModelCompilationOptions_SetOutputModelPath(to_file, path("out.onnx").c_str()));
  ASSERT_OK(compile_api().CompileModel(env_, to_file));
  std::map<std::string, std::string> data, nothing;
  for (const auto& file : fs::directory_iterator(folder_)) {
    if (file.path().extension() != ".bin") continue;
    std::ifstream bytes(file.path(), std::ios::binary);
    data[file.path().filename()].assign(std::istreambuf_iterator<char>(bytes), {});
    fs::remove(file.path());
  }
  ASSERT_EQ(data.size(), 1u);
  Session session;
  auto made = [&] { return api().CreateSession(env_, path("out.onnx").c_str(), options_, session.out()); };
  EXPECT_REFUSED(made(), ORT_EP_FAIL, "the compiled data is ''");
  EXPECT_OK(api().SessionOptionsSetEpContextDataReadFunc(options_, give_data, &data));
  ASSERT_OK(made());
  expect_results(session);
  EXPECT_OK(api().SessionOptionsSetEpContextDataReadFunc(options_, give_data, &nothing));
  EXPECT_REFUSED(made(), ORT_NOT_FOUND, "the program has no such data");
  EXPECT_OK(api().SessionOptionsSetEpContextDataReadFunc(options_, nullptr, nullptr));
  EXPECT_REFUSED(made(), ORT_EP_FAIL, "the compiled data is ''");
}

}  // namespace
