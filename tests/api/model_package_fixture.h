// Model packages written for a test, and the functions of their table.
#pragma once

#include "compile_fixture.h"

inline const OrtModelPackageApi& package_api() { return *api().GetModelPackageApi(); }

/** A handle that a function of OrtModelPackageApi ends. */
template <class T, auto Release>
class PackageHandle {
 public:
  PackageHandle() = default;
  PackageHandle(const PackageHandle&) = delete;
  PackageHandle& operator=(const PackageHandle&) = delete;
  ~PackageHandle() { (package_api().*Release)(handle_); }
  operator T*() const { return handle_; }
  T** out() {
    (package_api().*Release)(handle_);
    handle_ = nullptr;
    return &handle_;
  }

 private:
  T* handle_ = nullptr;
};
using Package = PackageHandle<OrtModelPackageContext, &OrtModelPackageApi::ReleaseModelPackageContext>;
using PackageOptions = PackageHandle<OrtModelPackageOptions, &OrtModelPackageApi::ReleaseModelPackageOptions>;
using Component =
    PackageHandle<OrtModelPackageComponentContext, &OrtModelPackageApi::ReleaseModelPackageComponentContext>;

inline const std::string kAsset = "sha256:" + std::string(64, 'a');
inline const std::string kInfo = R"("executor_info": {"ort": {"model_file": "m.onnx"}})";
inline const std::string kCpuVariant = R"({"ep": "CPUExecutionProvider", )" + kInfo + "}";

/** Packages in folder p/ of the fixture's, whose variants are for its plugin's provider or the CPU. */
class ModelPackageTest : public ContextPluginTest {
 protected:
  void write(const std::string& name, const std::string& text) {
    std::string file = path("p/" + name);
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  static std::string manifest_of(const std::string& components, const std::string& more = "") {
    return R"({"schema_version": "1.0", "components": )" + components + more + "}";
  }
  /** The manifest of one component, main, with these variants. */
  static std::string variants(const std::string& members, const std::string& more = "") {
    return manifest_of(R"({"main": {"variants": {)" + members + "}}}", more);
  }
  static std::string cpu_with(const std::string& ort) {
    return variants(R"("cpu": {"ep": "CPUExecutionProvider", "executor_info": {"ort": )" + ort + "}}");
  }
  OrtStatus* open(const std::string& manifest, Package& package) {
    write("manifest.json", manifest);
    write("cpu/m.onnx", source_);
    return package_api().CreateModelPackageContext(path("p").c_str(), package.out());
  }
  OrtStatus* open(const std::string& manifest) {
    Package package;
    return open(manifest, package);
  }
  OrtStatus* select(const Package& package, const OrtSessionOptions* options, Component& component) {
    PackageOptions target;
    EXPECT_OK(package_api().CreateModelPackageOptionsFromSessionOptions(env_, options, target.out()));
    return package_api().SelectComponent(package, "main", target, component.out());
  }
  /** The name of the variant that is chosen. */
  std::string chosen(const std::string& manifest, const OrtSessionOptions* options) {
    Package package;
    Component component;
    const char* name = "none";
    EXPECT_OK(open(manifest, package));
    EXPECT_OK(select(package, options, component));
    EXPECT_OK(package_api().ModelPackageComponent_GetSelectedVariantName(component, &name));
    return name;
  }
  /** A session of what the manifest describes, on the CPU. */
  OrtStatus* run(const std::string& manifest, Session& session, const OrtSessionOptions* options = nullptr) {
    Package package;
    Component component;
    EXPECT_OK(open(manifest, package));
    EXPECT_OK(select(package, plain_, component));
    return package_api().CreateSession(env_, component, options, session.out());
  }
};
