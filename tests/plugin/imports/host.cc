// imports_host LIBRARY PLUGIN PROVIDER: memory from elsewhere as a provider's inputs and outputs, without copies. The
// exit code is the number of checks that failed, or 77 where there is no memory to import.
#include <fcntl.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "conformance_host/runtime.h"
#include "imports/exporter.h"

namespace ortolan::plugin_test {
namespace {

constexpr size_t kBytes = 4096, kBase = 256, kInput = 512, kOutput = 2048;  // of the memory and places in it

struct Imports {
  const Runtime& runtime;
  const std::string provider;
  const OrtInteropApi& interop;
  const OrtEpDevice* device() const { return runtime.device(provider); }
};

Handle<OrtExternalResourceImporter> importer_of(const Imports& imports) {
  OrtExternalResourceImporter* made = nullptr;
  imports.runtime.ok(imports.interop.CreateExternalResourceImporterForDevice(imports.device(), &made));
  expect(made != nullptr, "the device imports nothing");
  return {made, imports.interop.ReleaseExternalResourceImporter};
}

OrtExternalMemoryDescriptor described(int file, size_t bytes = kBytes, size_t offset = kBase) {
  return {ORT_API_VERSION, ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD,
          reinterpret_cast<void*>(static_cast<intptr_t>(file)), bytes, offset};
}

/** Its descriptor is closed as soon as it is imported. */
Handle<OrtExternalMemoryHandle> import(const Imports& imports, OrtExternalResourceImporter* importer,
                                       const SharedMemory& memory) {
  int file = memory.descriptor();
  OrtExternalMemoryDescriptor whole = described(file);
  OrtExternalMemoryHandle* made = nullptr;
  OrtStatus* status = imports.interop.ImportMemory(importer, &whole, &made);
  close(file);
  imports.runtime.ok(status);
  return {made, imports.interop.ReleaseExternalMemoryHandle};
}

OrtStatus* try_tensor(const Imports& imports, OrtExternalResourceImporter* importer,
                      const OrtExternalMemoryHandle* memory, const Dims& dims, size_t offset, OrtValue** out) {
  OrtExternalTensorDescriptor tensor{ORT_API_VERSION, ONNX_TENSOR_ELEMENT_DATA_TYPE_FLOAT, dims.data(), dims.size(),
                                     offset};
  return imports.interop.CreateTensorFromMemory(importer, memory, &tensor, out);
}

Handle<OrtValue> tensor(const Imports& imports, OrtExternalResourceImporter* importer,
                        const OrtExternalMemoryHandle* memory, const Dims& dims, size_t offset) {
  OrtValue* made = nullptr;
  imports.runtime.ok(try_tensor(imports, importer, memory, dims, offset, &made));
  return {made, imports.runtime.api->ReleaseValue};
}

void put(SharedMemory& memory, size_t place, const Array& array) {
  std::memcpy(memory.bytes().data() + place, array.values.data(), array.values.size() * sizeof(float));
}

Array get(SharedMemory& memory, size_t place, const Dims& dims) {
  Array array = ramp(dims);
  std::memcpy(array.values.data(), memory.bytes().data() + place, array.values.size() * sizeof(float));
  return array;
}

/** z = x * x + x on the provider. */
Handle<OrtSession> session_of(const Imports& imports) {
  GraphText graph;
  graph.input("x", {4, 5}).output("z", {4, 5}).node("Mul", {"x", "x"}, {"y"}).node("Add", {"y", "x"}, {"z"});
  Handle<OrtSessionOptions> options = imports.runtime.options_with(imports.provider);
  return imports.runtime.session(graph, options.get());
}

void check_kinds(Suite& suite, const Imports& imports) {
  const Runtime& runtime = imports.runtime;
  suite.check("imports: what there is to import", 24, [&] {
    Handle<OrtExternalResourceImporter> importer = importer_of(imports);
    bool can = false;
    runtime.ok(
        imports.interop.CanImportMemory(importer.get(), ORT_EXTERNAL_MEMORY_HANDLE_TYPE_VK_MEMORY_OPAQUE_FD, &can));
    expect(can, "no file descriptors");
    runtime.ok(imports.interop.CanImportMemory(importer.get(), ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_HEAP, &can));
    expect(!can, "memory of Windows");
  });
}

void check_runs(Suite& suite, const Imports& imports) {
  const Runtime& runtime = imports.runtime;
  suite.check("imports: runs see what is written between them", 24, [&] {
    Handle<OrtExternalResourceImporter> importer = importer_of(imports);
    auto memory = make_shared_memory(imports.provider, kBytes);
    Handle<OrtExternalMemoryHandle> imported = import(imports, importer.get(), *memory);
    Handle<OrtValue> x = tensor(imports, importer.get(), imported.get(), {4, 5}, kInput - kBase);
    Handle<OrtValue> z = tensor(imports, importer.get(), imported.get(), {4, 5}, kOutput - kBase);
    Handle<OrtSession> session = session_of(imports);
    for (float offset : {1.0f, -3.0f, 0.25f}) {
      Array values = ramp({4, 5}, offset);
      put(*memory, kInput, values);
      std::vector<OrtValue*> results = {z.get()};
      runtime.ok(runtime.try_run(session.get(), {{"x", x.get()}}, {"z"}, results));
      expect_near(get(*memory, kOutput, {4, 5}), add(multiply(values, values), values), "z");
      expect_near(get(*memory, kInput, {4, 5}), values, "x");
    }
  });
  suite.check("imports: tensors are copied like others", 24, [&] {
    Handle<OrtExternalResourceImporter> importer = importer_of(imports);
    auto memory = make_shared_memory(imports.provider, kBytes);
    Handle<OrtExternalMemoryHandle> imported = import(imports, importer.get(), *memory);
    Handle<OrtValue> x = tensor(imports, importer.get(), imported.get(), {3}, 0), host = runtime.value(ramp({3}, 7));
    const OrtValue* from = host.get();
    OrtValue* to = x.get();
    runtime.ok(runtime.api->CopyTensors(runtime.env, &from, &to, nullptr, 1));
    expect_near(get(*memory, kBase, {3}), ramp({3}, 7), "what the exporter sees");
    put(*memory, kBase, ramp({3}, -1));
    from = x.get();
    to = host.get();
    runtime.ok(runtime.api->CopyTensors(runtime.env, &from, &to, nullptr, 1));
    expect_near(runtime.array(host.get()), ramp({3}, -1), "what comes back");
  });
}

size_t open_descriptors() {
  std::filesystem::directory_iterator first("/proc/self/fd");
  return static_cast<size_t>(std::distance(first, std::filesystem::directory_iterator()));
}

/** Waits for the thread that keeps compiled kernels: it opens files of its own for a moment. */
void expect_descriptors(size_t before) {
  for (int looks = 0; looks < 1000 && open_descriptors() > before; ++looks) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  expect(open_descriptors() <= before,
         "there were " + std::to_string(before) + " descriptors, now there are " + std::to_string(open_descriptors()));
}

void check_lifetimes(Suite& suite, const Imports& imports) {
  suite.check("imports: memory outlives its importer", 24, [&] {
    auto memory = make_shared_memory(imports.provider, kBytes);
    Handle<OrtExternalResourceImporter> importer = importer_of(imports);
    Handle<OrtExternalMemoryHandle> imported = import(imports, importer.get(), *memory);
    Handle<OrtValue> x = tensor(imports, importer.get(), imported.get(), {4, 5}, kInput - kBase);
    importer.reset();
    put(*memory, kInput, ramp({4, 5}));
    Handle<OrtSession> session = session_of(imports);
    std::vector<OrtValue*> results;
    imports.runtime.ok(imports.runtime.try_run(session.get(), {{"x", x.get()}}, {"z"}, results));
    Handle<OrtValue> z(results[0], imports.runtime.api->ReleaseValue);
    expect_near(imports.runtime.array(z.get()), add(multiply(ramp({4, 5}), ramp({4, 5})), ramp({4, 5})), "z");
  });
  suite.check("imports: nothing stays open", 24, [&] {
    auto memory = make_shared_memory(imports.provider, kBytes);
    const size_t before = open_descriptors();
    for (int i = 0; i < 50; ++i) {
      Handle<OrtExternalResourceImporter> importer = importer_of(imports);
      Handle<OrtExternalMemoryHandle> imported = import(imports, importer.get(), *memory);
      Handle<OrtValue> x = tensor(imports, importer.get(), imported.get(), {4, 5}, 0);
    }
    expect_descriptors(before);
  });
}

void check_errors(Suite& suite, const Imports& imports) {
  const Runtime& runtime = imports.runtime;
  suite.check("imports: a descriptor of nothing", 24, [&] {
    Handle<OrtExternalResourceImporter> importer = importer_of(imports);
    OrtExternalMemoryHandle* made = nullptr;
    for (int file : {-1, 987654}) {
      OrtExternalMemoryDescriptor nothing = described(file);
      runtime.fails(imports.interop.ImportMemory(importer.get(), &nothing, &made), std::to_string(file));
    }
    expect(made == nullptr, "there is a handle");
  });
  suite.check("imports: a kind of handle that is not taken", 24, [&] {
    Handle<OrtExternalResourceImporter> importer = importer_of(imports);
    OrtExternalMemoryDescriptor other = described(0);
    other.handle_type = ORT_EXTERNAL_MEMORY_HANDLE_TYPE_D3D12_RESOURCE;
    OrtExternalMemoryHandle* made = nullptr;
    runtime.fails(imports.interop.ImportMemory(importer.get(), &other, &made), "file descriptors only");
  });
  suite.check("imports: tensors that do not fit", 24, [&] {
    Handle<OrtExternalResourceImporter> importer = importer_of(imports);
    auto memory = make_shared_memory(imports.provider, kBytes);
    Handle<OrtExternalMemoryHandle> imported = import(imports, importer.get(), *memory);
    OrtValue* made = nullptr;
    auto refuse = [&](const Dims& dims, size_t offset, const char* words) {
      runtime.fails(try_tensor(imports, importer.get(), imported.get(), dims, offset, &made), words);
    };
    refuse({961}, 0, "does not fit");
    refuse({1}, kBytes - kBase, "does not fit");
    refuse({1}, SIZE_MAX, "does not fit");
    refuse({int64_t{1} << 62, 4}, 0, "does not fit");
    refuse({1}, 2, "multiples of");
    refuse({-1}, 0, "negative");
    expect(made == nullptr, "there is a tensor");
  });
}

constexpr OrtExternalSemaphoreType kTimeline = ORT_EXTERNAL_SEMAPHORE_VK_TIMELINE_SEMAPHORE_OPAQUE_FD;

OrtStatus* try_semaphore(const Imports& imports, OrtExternalResourceImporter* importer, OrtExternalSemaphoreType type,
                         int file, OrtExternalSemaphoreHandle** out) {
  OrtExternalSemaphoreDescriptor described{ORT_API_VERSION, type, reinterpret_cast<void*>(static_cast<intptr_t>(file))};
  return imports.interop.ImportSemaphore(importer, &described, out);
}

bool imports_semaphores(const Imports& imports, OrtExternalResourceImporter* importer) {
  bool can = false;
  imports.runtime.ok(imports.interop.CanImportSemaphore(importer, ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE, &can));
  expect(!can, "semaphores of Windows");
  imports.runtime.ok(imports.interop.CanImportSemaphore(importer, kTimeline, &can));
  return can;
}

/** A semaphore of memory, whose first bytes are its number. */
void check_semaphore(const Imports& imports, OrtExternalResourceImporter* importer, SharedMemory& memory) {
  const Runtime& runtime = imports.runtime;
  const int file = memory.descriptor();
  OrtExternalSemaphoreHandle* made = nullptr;
  OrtStatus* status = try_semaphore(imports, importer, kTimeline, file, &made);
  close(file);
  runtime.ok(status);
  Handle<OrtExternalSemaphoreHandle> semaphore(made, imports.interop.ReleaseExternalSemaphoreHandle);
  OrtSyncStream* started = nullptr;
  runtime.ok(runtime.api->CreateSyncStreamForEpDevice(imports.device(), nullptr, &started));
  Handle<OrtSyncStream> stream(started, runtime.api->ReleaseSyncStream);
  volatile auto* number = reinterpret_cast<uint64_t*>(memory.bytes().data());
  *number = 3;
  runtime.ok(imports.interop.WaitSemaphore(importer, semaphore.get(), stream.get(), 3));
  runtime.ok(imports.interop.SignalSemaphore(importer, semaphore.get(), stream.get(), 4));
  stream.reset();  // its end waits for its work
  expect_equal(static_cast<size_t>(*number), size_t{4}, "the number");
}

void check_semaphores(Suite& suite, const Imports& imports) {
  const Runtime& runtime = imports.runtime;
  suite.check("imports: streams wait for semaphores and raise them", 24, [&] {
    Handle<OrtExternalResourceImporter> importer = importer_of(imports);
    if (!imports_semaphores(imports, importer.get())) return;
    auto memory = make_shared_memory(imports.provider, kBytes);
    check_semaphore(imports, importer.get(), *memory);
  });
  suite.check("imports: semaphores that are not taken", 24, [&] {
    Handle<OrtExternalResourceImporter> importer = importer_of(imports);
    OrtExternalSemaphoreHandle* made = nullptr;
    runtime.fails(try_semaphore(imports, importer.get(), ORT_EXTERNAL_SEMAPHORE_D3D12_FENCE, 0, &made),
                  "file descriptors only");
    runtime.fails(try_semaphore(imports, importer.get(), kTimeline, 987654, &made), "987654");
    expect(made == nullptr, "there is a semaphore");
  });
}

int run(char** argv) {
  Runtime runtime = open_runtime(argv[1], 30);
  runtime.ok(runtime.api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "imports", &runtime.env));
  runtime.ok(runtime.api->RegisterExecutionProviderLibrary(runtime.env, "imports", argv[2]));
  if (make_shared_memory(argv[3], kBytes) == nullptr) return 77;
  const Imports imports{runtime, argv[3], *runtime.api->GetInteropApi()};
  Suite suite(30);
  check_kinds(suite, imports);
  check_runs(suite, imports);
  check_lifetimes(suite, imports);
  check_errors(suite, imports);
  check_semaphores(suite, imports);
  runtime.ok(runtime.api->UnregisterExecutionProviderLibrary(runtime.env, "imports"));
  runtime.api->ReleaseEnv(runtime.env);
  return suite.summary();
}

}  // namespace
}  // namespace ortolan::plugin_test

int main(int argc, char** argv) {
  return ortolan::plugin_test::run_checks(argc, argv, "imports_host LIBRARY PLUGIN PROVIDER",
                                          ortolan::plugin_test::run);
}
