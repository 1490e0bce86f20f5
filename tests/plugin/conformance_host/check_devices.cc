// What a registered plugin shows of its devices.
#include <cstring>

#include "runtime.h"

namespace ortolan::plugin_test {
namespace {

std::string text(const char* value) { return value ? value : "(null)"; }

void check_pairs(Suite& suite, Runtime& runtime) {
  auto metadata = [&](const char* key) {
    return text(runtime.api->GetKeyValue(runtime.api->EpDevice_EpMetadata(runtime.device(kCompileProvider)), key));
  };
  suite.check("devices: metadata has the library's path", 22,
              [&] { expect_equal(metadata("library_path"), runtime.plugin, "library_path"); });
  suite.check("devices: metadata has the provider's version", 23,
              [&] { expect_equal(metadata("version"), "1.0.0", "version"); });
  suite.check("devices: metadata keeps what the plugin gave", 22,
              [&] { expect(metadata(example::kCountersKey) != "(null)", "the plugin's own entry is missing"); });
  suite.check("devices: an unknown key gives NULL", 22,
              [&] { expect_equal(metadata("no such key"), "(null)", "the value"); });
  suite.check("devices: options show their defaults", 22, [&] {
    const OrtKeyValuePairs* pairs = runtime.api->EpDevice_EpOptions(runtime.device(kKernelProvider));
    const char *const *keys = nullptr, *const *values = nullptr;
    size_t count = 0;
    runtime.api->GetKeyValuePairs(pairs, &keys, &values, &count);
    expect_equal(count, size_t{5}, "options");
    expect_equal(text(runtime.api->GetKeyValue(pairs, "min_group_size")), "1", "min_group_size");
    expect_equal(text(runtime.api->GetKeyValue(pairs, "prepack")), "1", "prepack");
  });
}

void check_hardware(Suite& suite, Runtime& runtime) {
  const OrtApi& api = *runtime.api;
  auto hardware = [&](const char* provider) { return api.EpDevice_Device(runtime.device(provider)); };
  suite.check("devices: a provider without own hardware is on the CPU", 22, [&] {
    OrtHardwareDeviceType wanted = runtime.level < 24 ? OrtHardwareDeviceType_CPU : OrtHardwareDeviceType_GPU;
    expect_equal(int{api.HardwareDevice_Type(hardware(kCompileProvider))}, int{wanted}, "type");
  });
  suite.check("devices: a virtual device keeps vendor and number", 24, [&] {
    expect_equal(api.HardwareDevice_VendorId(hardware(kCompileProvider)), 0x4F52u, "vendor id");
    expect_equal(text(api.HardwareDevice_Vendor(hardware(kCompileProvider))), "Ortolan", "vendor");
    expect_equal(api.HardwareDevice_DeviceId(hardware(kCompileProvider)), 0u, "device id");
    expect_equal(api.HardwareDevice_DeviceId(hardware(kKernelProvider)), 1u, "device id");
  });
  suite.check("devices: a virtual device keeps its metadata", 24, [&] {
    const OrtKeyValuePairs* pairs = api.HardwareDevice_Metadata(hardware(kKernelProvider));
    expect_equal(text(api.GetKeyValue(pairs, "Description")), "a simulated device", "Description");
  });
  suite.check("devices: the CPU is hardware of its own kind", 22, [&] {
    const OrtHardwareDevice* cpu = hardware("CPUExecutionProvider");
    expect_equal(int{api.HardwareDevice_Type(cpu)}, int{OrtHardwareDeviceType_CPU}, "type");
    expect(!text(api.HardwareDevice_Vendor(cpu)).empty(), "the CPU has no vendor");
    expect(api.HardwareDevice_Metadata(cpu) != nullptr, "the CPU has no metadata");
  });
  suite.check("devices: the machine's hardware can be listed", 24, [&] {
    size_t count = 0;
    runtime.ok(api.GetNumHardwareDevices(runtime.env, &count));
    expect(count > 0, "there is no hardware");
    std::vector<const OrtHardwareDevice*> all(count);
    runtime.ok(api.GetHardwareDevices(runtime.env, all.data(), count));
    int processors = 0;
    for (const OrtHardwareDevice* one : all) processors += api.HardwareDevice_Type(one) == OrtHardwareDeviceType_CPU;
    expect_equal(processors, 1, "CPUs");
  });
  suite.check("devices: a provider says why it cannot use hardware", 24, [&] {
    OrtDeviceEpIncompatibilityDetails* details = nullptr;
    runtime.ok(api.GetHardwareDeviceEpIncompatibilityDetails(runtime.env, kCompileProvider,
                                                             hardware("CPUExecutionProvider"), &details));
    Handle<OrtDeviceEpIncompatibilityDetails> owner(details, api.ReleaseDeviceEpIncompatibilityDetails);
    uint32_t reasons = 0;
    int32_t code = 0;
    const char* notes = nullptr;
    runtime.ok(api.DeviceEpIncompatibilityDetails_GetReasonsBitmask(details, &reasons));
    runtime.ok(api.DeviceEpIncompatibilityDetails_GetErrorCode(details, &code));
    runtime.ok(api.DeviceEpIncompatibilityDetails_GetNotes(details, &notes));
    expect_equal(reasons, uint32_t{OrtDeviceEpIncompatibility_DEVICE_INCOMPATIBLE}, "reasons");
    expect_equal(code, 1, "code");
    expect(text(notes).find("simulated") != std::string::npos, "notes are '" + text(notes) + "'");
  });
  suite.check("devices: a provider accepts its own hardware", 24, [&] {
    OrtDeviceEpIncompatibilityDetails* details = nullptr;
    runtime.ok(api.GetHardwareDeviceEpIncompatibilityDetails(runtime.env, kCompileProvider, hardware(kCompileProvider),
                                                             &details));
    Handle<OrtDeviceEpIncompatibilityDetails> owner(details, api.ReleaseDeviceEpIncompatibilityDetails);
    uint32_t reasons = 1;
    runtime.ok(api.DeviceEpIncompatibilityDetails_GetReasonsBitmask(details, &reasons));
    expect_equal(reasons, 0u, "reasons");
  });
}

void check_memory_infos(Suite& suite, Runtime& runtime) {
  const OrtApi& api = *runtime.api;
  for (OrtDeviceMemoryType kind : {OrtDeviceMemoryType_DEFAULT, OrtDeviceMemoryType_HOST_ACCESSIBLE}) {
    bool host = kind == OrtDeviceMemoryType_HOST_ACCESSIBLE;
    suite.check(host ? "devices: memory on the host" : "devices: memory on the device", 23, [&] {
      const OrtMemoryInfo* info = api.EpDevice_MemoryInfo(runtime.device(kCompileProvider), kind);
      expect(info != nullptr, "the device has no such memory");
      const char* name = nullptr;
      int id = -1;
      runtime.ok(api.MemoryInfoGetName(info, &name));
      runtime.ok(api.MemoryInfoGetId(info, &id));
      expect_equal(text(name), host ? "ExampleCompileHost" : "ExampleCompile", "name");
      expect_equal(id, 0, "id");
      expect_equal(api.MemoryInfoGetVendorId(info), 0x4F52u, "vendor id");
      expect_equal(int{api.MemoryInfoGetDeviceMemType(info)}, int{kind}, "kind");
    });
  }
}

}  // namespace

void check_devices(Suite& suite, Runtime& runtime) {
  suite.check("devices: names and vendors", 22, [&] {
    for (const char* provider : {kCompileProvider, kKernelProvider}) {
      expect_equal(text(runtime.api->EpDevice_EpVendor(runtime.device(provider))), "Ortolan", "vendor");
    }
  });
  suite.check("devices: the list is stable", 22, [&] { expect(runtime.devices() == runtime.devices(), "it changes"); });
  check_pairs(suite, runtime);
  check_hardware(suite, runtime);
  check_memory_infos(suite, runtime);
}

}  // namespace ortolan::plugin_test
