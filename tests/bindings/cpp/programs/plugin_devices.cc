// A provider from a plugin library: registered, its devices chosen, and asked which nodes it runs.
#include <onnxruntime_cxx_api.h>

#include <iostream>
#include <string>
#include <unordered_map>
#include <vector>

static void print(const Ort::ConstEpDevice& ep_device) {
  const Ort::ConstHardwareDevice device = ep_device.Device();
  std::cout << ep_device.EpName() << " by " << ep_device.EpVendor() << " on " << device.Vendor() << " device "
            << device.Type() << " " << std::hex << device.VendorId() << ":" << device.DeviceId() << std::dec << "\n";
  for (const auto& [key, value] : ep_device.EpMetadata().GetKeyValuePairs()) {
    std::cout << "  " << key << " = " << value << "\n";
  }
  for (const auto& [key, value] : device.Metadata().GetKeyValuePairs())
    std::cout << "  " << key << ": " << value << "\n";
}

static int count_nodes(Ort::Env& env, const char* model, const std::string& provider,
                       const std::vector<Ort::ConstEpDevice>& devices, bool by_pairs) {
  Ort::SessionOptions session_options;
  session_options.AddConfigEntry("session.record_ep_graph_assignment_info", "1");
  if (by_pairs) {
    session_options.AppendExecutionProvider_V2(env, devices, Ort::KeyValuePairs{});
  } else {
    session_options.AppendExecutionProvider_V2(env, devices, std::unordered_map<std::string, std::string>{});
  }
  Ort::Session session(env, model, session_options);
  int nodes = 0;
  for (const Ort::ConstEpAssignedSubgraph& part : session.GetEpGraphAssignmentInfo()) {
    for (const Ort::ConstEpAssignedNode& node : part.GetNodes()) {
      std::cout << part.GetEpName() << " runs " << node.GetName() << " (" << node.GetDomain() << ":"
                << node.GetOperatorType() << ")\n";
      nodes += part.GetEpName() == provider;
    }
  }
  float a[] = {1, 2}, b[] = {10, 20};
  const int64_t two = 2;
  const auto memory = Ort::MemoryInfo::CreateCpu(OrtDeviceAllocator, OrtMemTypeDefault);
  const char *inputs[] = {"a", "b"}, *outputs[] = {"scaled"};
  std::vector<Ort::Value> values;
  values.push_back(Ort::Value::CreateTensor<float>(memory, a, 2, &two, 1));
  values.push_back(Ort::Value::CreateTensor<float>(memory, b, 2, &two, 1));
  const auto results = session.Run(Ort::RunOptions{}, inputs, values.data(), 2, outputs, 1);
  const float* scaled = results[0].GetTensorData<float>();
  return scaled[0] == 22 && scaled[1] == 44 ? nodes : -1;
}

int main(int argc, char* argv[]) {
  if (argc != 3) return 2;
  Ort::Env env(ORT_LOGGING_LEVEL_WARNING, "devices");
  env.RegisterExecutionProviderLibrary("example", argv[1]);
  std::unordered_map<std::string, std::vector<Ort::ConstEpDevice>> ep_device_map;
  for (const auto& device : env.GetEpDevices()) {
    print(device);
    ep_device_map[device.EpName()].push_back(device);
  }
  bool right = ep_device_map.count("CPUExecutionProvider") == 1;
  for (const auto& [name, devices] : ep_device_map) {
    if (name.find("Example") != 0) continue;
    const int nodes = count_nodes(env, argv[2], name, devices, name.find("Kernel") != std::string::npos);
    std::cout << name << ": " << nodes << " nodes" << std::endl;
    right = right && nodes == 2;
  }
  right = right && ep_device_map.count("ExampleCompileExecutionProvider") == 1;
  env.UnregisterExecutionProviderLibrary("example");
  return right ? 0 : 1;
}
