// ortolan devices: the providers that the library knows and the devices they offer on this machine.
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "common/devices.h"
#include "common/options.h"
#include "common/terminal.h"

namespace ortolan::tools {
namespace {

std::string pairs_text(const std::map<std::string, std::string>& pairs) {
  std::string text;
  for (const auto& [key, value] : pairs) text += (text.empty() ? "" : ", ") + key + "=" + value;
  return text;
}

/** A provider in a package of its own, and why it cannot be used; empty where it can. */
struct Packaged {
  const char* name;
  std::string missing;
};

/** Asks for each, which loads those that are there. Only our library knows them by these names. */
std::vector<Packaged> load_packaged(const Library& library) {
  std::vector<Packaged> packaged;
  if (library.symbol("OrtApiCoverage") == nullptr) return packaged;
  for (const char* name : {"OpenCL", "Vulkan", "CUDA"}) {
    packaged.push_back({name, ""});
    auto options = library.make(library->CreateSessionOptions, library->ReleaseSessionOptions);
    try {
      library.check(library->SessionOptionsAppendExecutionProvider(options.get(), name, nullptr, nullptr, 0));
    } catch (const StatusError& error) {
      packaged.back().missing = error.what();
    }
  }
  return packaged;
}

void print_text(const Library& library, const std::vector<std::string>& providers,
                const std::vector<Packaged>& packaged, const std::vector<Device>& devices) {
  std::printf("library %s: %s\n\n", library.version.c_str(), library.build.c_str());
  Table names({"provider"});
  for (const std::string& name : providers) names.add({name});
  std::printf("%s\n", names.text().c_str());
  for (const Packaged& provider : packaged) {
    if (!provider.missing.empty()) std::printf("%s\n\n", provider.missing.c_str());
  }
  Table table({">number", "provider", "kind", "vendor", ">vendor id", ">device id", "metadata"});
  for (size_t i = 0; i < devices.size(); ++i) {
    const Device& d = devices[i];
    table.add({std::to_string(i), d.provider, d.kind, d.vendor, std::to_string(d.vendor_id),
               std::to_string(d.device_id), pairs_text(d.metadata)});
  }
  std::fputs(table.empty() ? "no devices\n" : table.text().c_str(), stdout);
}

void print_json(const Library& library, const std::vector<std::string>& providers,
                const std::vector<Packaged>& packaged, const std::vector<Device>& devices) {
  nlohmann::ordered_json out = {{"version", library.version}, {"build", library.build}, {"providers", providers}};
  for (const Packaged& provider : packaged) {
    out["packaged"].push_back({{"provider", provider.name}, {"missing", provider.missing}});
  }
  out["devices"] = nlohmann::ordered_json::array();
  for (const Device& d : devices) {
    out["devices"].push_back({{"provider", d.provider},
                              {"provider_vendor", d.provider_vendor},
                              {"kind", d.kind},
                              {"vendor", d.vendor},
                              {"vendor_id", d.vendor_id},
                              {"device_id", d.device_id},
                              {"metadata", d.metadata},
                              {"options", d.options}});
  }
  std::printf("%s\n", out.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace).c_str());
}

}  // namespace

int devices_command(int argc, char** argv) {
  bool json = false;
  std::string library_path, plugins;
  std::vector<std::string> rest =
      parse(argc, argv,
            {"ortolan devices [OPTION...]",
             "Lists the execution providers that the library knows, what is missing of those in packages of their own, "
             "and the devices that all of them offer.",
             {{0, "plugins", "'NAME|PATH ...'", "register plugin libraries first", into(plugins)},
              {0, "json", nullptr, "print as JSON", turn(json)},
              {0, "library", "PATH", "ask this library instead of the linked one", into(library_path)}}});
  if (!rest.empty()) fail_usage("devices takes no arguments, but got '", rest[0], "'");
  Library library = choose_library(library_path);
  auto environment = create_environment(library);
  register_plugins(library, environment.get(), plugins);
  std::vector<std::string> providers = available_providers(library);
  std::vector<Packaged> packaged = load_packaged(library);
  std::vector<Device> devices;
  try {
    devices = list_devices(library, environment.get());
  } catch (const StatusError& error) {
    if (error.code() != ORT_NOT_IMPLEMENTED) throw;
  }
  json ? print_json(library, providers, packaged, devices) : print_text(library, providers, packaged, devices);
  return 0;
}

}  // namespace ortolan::tools
