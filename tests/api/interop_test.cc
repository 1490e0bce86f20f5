// Sharing memory and semaphores with graphics libraries, with a plugin that imports files in memory.
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

#include <utility>

#include "api_test_support.h"

namespace {

/** o = (x + w) * (x + w) - b for x [2, 2], w 2 and 3, b 4 and 5. */
std::string model_bytes() {
  ModelWriter model;
  const float w[] = {2, 3}, b[] = {4, 5};
  model.input("x", 1, {"2", "2"});
  model.initializer("w", 1, {2}, w, sizeof w);
  model.initializer("b", 1, {2}, b, sizeof b);
  model.node("Add", {"x", "w"}, {"y"});
  model.node("Mul", {"y", "y"}, {"z"});
  model.node("Sub", {"z", "b"}, {"o"});
  model.output("o", 1, {"2", "2"});
  return model.bytes();
}

class InteropTest : public ::testing::Test {
 protected:
  InteropTest() {
    EXPECT_OK(api().RegisterExecutionProviderLibrary(env_, "context", CONTEXT_PLUGIN));
    const OrtEpDevice* const* devices = nullptr;
    size_t count = 0;
    EXPECT_OK(api().GetEpDevices(env_, &devices, &count));
    for (size_t i = 0; i < count; ++i) {
      bool theirs = std::string(api().EpDevice_EpName(devices[i])) == "ContextExecutionProvider";
      (theirs ? device_ : cpu_) = devices[i];
    }
  }
  ~InteropTest() override { EXPECT_OK(api().UnregisterExecutionProviderLibrary(env_, "context")); }

  Env env_ = make_env();
  const OrtEpDevice *device_ = nullptr, *cpu_ = nullptr;
};

/** A file in memory, by its descriptor. */
class MemoryFile {
 public:
  explicit MemoryFile(size_t bytes) : file_(memfd_create("imported", MFD_CLOEXEC)) {
    EXPECT_EQ(ftruncate(file_, static_cast<off_t>(bytes)), 0);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { close(file_); }
  void* handle() const { return reinterpret_cast<void*>(static_cast<intptr_t>(file_)); }
  template <class T>
  void write(const std::vector<T>& values) {
    ASSERT_EQ(pwrite(file_, values.data(), values.size() * sizeof(T), 0), ssize_t(values.size() * sizeof(T)));
  }
  template <class T>
  std::vector<T> read(size_t count, size_t offset = 0) const {
    std::vector<T> values(count);
    EXPECT_EQ(pread(file_, values.data(), count * sizeof(T), static_cast<off_t>(offset)), ssize_t(count * sizeof(T)));
    return values;
  }

 private:
  const int file_;
};

OrtExternalMemoryDescriptor described(const MemoryFile& file, size_t bytes, size_t offset) {
  return {ORT_API_VERSION, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD, file.handle(), bytes, offset};
}

/** An importer, and the count of what its library has imported. */
class ImportTest : public InteropTest {
 protected:
  void SetUp() override {
    ASSERT_OK(interop_.CreateExternalResourceImporterForDevice(device_, &importer_));
    ASSERT_NE(importer_, nullptr);
    void* library = dlopen(CONTEXT_PLUGIN, RTLD_NOW | RTLD_NOLOAD);
    objects_ = reinterpret_cast<int (*)()>(dlsym(library, "importer_objects"));
    dlclose(library);
  }
  void TearDown() override {
    EXPECT_EQ(objects_(), importer_ != nullptr);
    interop_.ReleaseExternalResourceImporter(importer_);
  }
  Value tensor(const OrtExternalMemoryHandle* memory, std::vector<int64_t> shape, size_t offset) {
    OrtExternalTensorDescriptor tensor{ORT_API_VERSION, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, shape.data(), shape.size(),
                                       offset};
    Value value;
    EXPECT_OK(interop_.CreateTensorFromMemory(importer_, memory, &tensor, value.out()));
    return value;
  }

  const OrtInteropApi& interop_ = *api().GetInteropApi();
  OrtExternalResourceImporter* importer_ = nullptr;
  int (*objects_)() = nullptr;
};

TEST_F(ImportTest, ASessionReadsAndWritesImportedMemory) {
  bool can = false;
  EXPECT_OK(interop_.CanImportMemory(importer_, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD, &can));
  EXPECT_TRUE(can);
  EXPECT_OK(interop_.CanImportMemory(importer_, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP, &can));
  EXPECT_FALSE(can);
  MemoryFile file(48);
  file.write<float>({9, 9, -1, 0, 1, 2, 9, 9, 9, 9, 9, 9});
  OrtExternalMemoryDescriptor whole = described(file, 48, 4);
  OrtExternalMemoryHandle* memory = nullptr;
  ASSERT_OK(interop_.ImportMemory(importer_, &whole, &memory));
  {
    Value x = tensor(memory, {2, 2}, 4), o = tensor(memory, {2, 2}, 28);
    const std::string model = model_bytes();
    Session session;
    ASSERT_OK(api().CreateSessionFromArray(env_, model.data(), model.size(), nullptr, session.out()));
    const char *in = "x", *out = "o";
    const OrtValue* inputs[] = {x};
    OrtValue* outputs[] = {o};
    ASSERT_OK(api().Run(session, nullptr, &in, inputs, 1, &out, 1, outputs));
  }
  EXPECT_EQ(file.read<float>(6, 24), (std::vector<float>{9, 9, -3, 4, 5, 20}));
  interop_.ReleaseExternalMemoryHandle(memory);
}

TEST_F(ImportTest, TensorsOfImportedMemoryAreDescribed) {
  MemoryFile file(16);
  OrtExternalMemoryDescriptor whole = described(file, 16, 0);
  OrtExternalMemoryHandle *memory = nullptr, *other = nullptr;
  ASSERT_OK(interop_.ImportMemory(importer_, &whole, &memory));
  const int64_t negative[] = {2, -2};
  OrtExternalTensorDescriptor tensor{ORT_API_VERSION, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, nullptr, 2, 0};
  Value value;
  EXPECT_REFUSED(interop_.CreateTensorFromMemory(importer_, memory, &tensor, value.out()), ORT_INVALID_ARGUMENT,
                 "shape");
  tensor.shape = negative;
  EXPECT_REFUSED(interop_.CreateTensorFromMemory(importer_, memory, &tensor, value.out()), ORT_INVALID_ARGUMENT, "-2");
  whole.native_handle = reinterpret_cast<void*>(intptr_t{-1});
  EXPECT_REFUSED(interop_.ImportMemory(importer_, &whole, &other), ORT_EP_FAIL, "that of no file");
  EXPECT_EQ(other, nullptr);
  interop_.ReleaseExternalMemoryHandle(memory);
}

TEST_F(ImportTest, Semaphores) {
  bool can = true;
  EXPECT_OK(interop_.CanImportSemaphore(importer_, ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE, &can));
  EXPECT_FALSE(can);
  MemoryFile file(8);
  file.write<uint64_t>({5});
  OrtExternalSemaphoreDescriptor fence{ORT_API_VERSION, ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD,
                                       file.handle()};
  OrtExternalSemaphoreHandle* semaphore = nullptr;
  ASSERT_OK(interop_.ImportSemaphore(importer_, &fence, &semaphore));
  EXPECT_REFUSED(interop_.WaitSemaphore(importer_, semaphore, nullptr, 4), ORT_INVALID_ARGUMENT, "'stream'");
  auto* stream = reinterpret_cast<OrtSyncStream*>(&file);  // which the plugin does not look at
  EXPECT_OK(interop_.SignalSemaphore(importer_, semaphore, stream, 9));
  EXPECT_EQ(file.read<uint64_t>(1), std::vector<uint64_t>{9});
  EXPECT_OK(interop_.WaitSemaphore(importer_, semaphore, stream, 9));
  EXPECT_REFUSED(interop_.WaitSemaphore(importer_, semaphore, stream, 10), ORT_EP_FAIL, "has not reached its value");
  interop_.ReleaseExternalSemaphoreHandle(semaphore);
}

TEST_F(ImportTest, HandlesOutliveTheirImporterAndDescriptors) {
  OrtExternalMemoryHandle* memory = nullptr;
  Value value;
  {
    MemoryFile file(16);
    file.write<float>({1, 2, 3, 4});
    OrtExternalMemoryDescriptor whole = described(file, 16, 0);
    ASSERT_OK(interop_.ImportMemory(importer_, &whole, &memory));
    value = tensor(memory, {4}, 0);
  }
  interop_.ReleaseExternalResourceImporter(std::exchange(importer_, nullptr));
  EXPECT_EQ(content<float>(value), (std::vector<float>{1, 2, 3, 4}));
  interop_.ReleaseExternalMemoryHandle(memory);
}

TEST_F(ImportTest, AnImporterWithoutFunctionsCanImportNothing) {
  setenv("ORTOLAN_BARE_IMPORTER", "1", 1);
  OrtExternalResourceImporter* bare = nullptr;
  ASSERT_OK(interop_.CreateExternalResourceImporterForDevice(device_, &bare));
  unsetenv("ORTOLAN_BARE_IMPORTER");
  bool can = true;
  EXPECT_OK(interop_.CanImportMemory(bare, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD, &can));
  EXPECT_FALSE(can);
  can = true;
  EXPECT_OK(interop_.CanImportSemaphore(bare, ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD, &can));
  EXPECT_FALSE(can);
  MemoryFile file(16);
  OrtExternalMemoryDescriptor whole = described(file, 16, 0);
  OrtExternalMemoryHandle* memory = nullptr;
  EXPECT_REFUSED(interop_.ImportMemory(bare, &whole, &memory), ORT_NOT_IMPLEMENTED, "has no function ImportMemory");
  interop_.ReleaseExternalResourceImporter(bare);
}

TEST_F(InteropTest, Arguments) {
  const OrtInteropApi& interop = *api().GetInteropApi();
  auto* importer = reinterpret_cast<OrtExternalResourceImporter*>(this);
  EXPECT_OK(interop.CreateExternalResourceImporterForDevice(cpu_, &importer));
  EXPECT_EQ(importer, nullptr);
  EXPECT_REFUSED(interop.CreateExternalResourceImporterForDevice(nullptr, &importer), ORT_INVALID_ARGUMENT,
                 "'ep_device'");
  bool can = false;
  EXPECT_REFUSED(interop.CanImportMemory(nullptr, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP, &can),
                 ORT_INVALID_ARGUMENT, "'importer'");
  interop.ReleaseExternalMemoryHandle(nullptr);
  interop.ReleaseExternalSemaphoreHandle(nullptr);
  interop.ReleaseExternalResourceImporter(nullptr);
  OrtGraphicsInteropConfig config{ORT_API_VERSION, ORT_GRAPHICS_API_VULKAN, nullptr, nullptr};
  EXPECT_OK(interop.InitGraphicsInteropForEpDevice(device_, &config));
  EXPECT_OK(interop.DeinitGraphicsInteropForEpDevice(device_));
  EXPECT_REFUSED(interop.InitGraphicsInteropForEpDevice(cpu_, &config), ORT_NOT_IMPLEMENTED, "CPUExecutionProvider");
  EXPECT_REFUSED(interop.DeinitGraphicsInteropForEpDevice(cpu_), ORT_NOT_IMPLEMENTED, "CPUExecutionProvider");
  config.graphics_api = ORT_GRAPHICS_API_D3D12;
  EXPECT_REFUSED(interop.InitGraphicsInteropForEpDevice(device_, &config), ORT_EP_FAIL, "only Vulkan is known");
  EXPECT_REFUSED(interop.InitGraphicsInteropForEpDevice(device_, nullptr), ORT_INVALID_ARGUMENT, "'config'");
}

}  // namespace
