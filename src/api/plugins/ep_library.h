// A plugin library: the shared object, its factories and the devices that they can use.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/plugins/ep_devices.h"
#include "base/log.h"
#include "onnxruntime_ep_c_api.h"
#include "ortolan_ep.h"
#include "tensor/allocator.h"
#include "tensor/device.h"

namespace ortolan::api {

/** Owned by whatever was made from it: sessions, allocators, streams, and the environment while it is registered. The
    last owner releases the factories and closes the library. */
class EpLibrary : public std::enable_shared_from_this<EpLibrary> {
 public:
  /** Opens the library and asks for its factories and devices. A path that is not absolute is looked for beside this
      library first. Throws with the path in the text. */
  static std::shared_ptr<EpLibrary> load(const std::string& registration_name, const std::string& path,
                                         const base::Logger& logger);
  /** Where a library is looked for: a path that is not absolute beside this library and in the folder of provider
      libraries, under the name that this library was opened by and under its own. */
  static std::vector<std::string> candidates(const std::string& path);
  EpLibrary(const EpLibrary&) = delete;
  EpLibrary& operator=(const EpLibrary&) = delete;
  ~EpLibrary();

  std::span<const std::unique_ptr<EpDevice>> devices() const { return devices_; }
  std::span<OrtEpFactory* const> factories() const { return factories_; }

  /** The factory's allocator for memory of its device; NULL when it needs none. */
  std::shared_ptr<tensor::Allocator> make_allocator(OrtEpFactory& factory, const OrtMemoryInfo& memory,
                                                    const OrtKeyValuePairs* options);
  /** What copies between the factory's devices and the CPU; NULL when it has none. */
  std::unique_ptr<tensor::DataTransfer> make_data_transfer(OrtEpFactory& factory);
  /** The function that says why its providers leave nodes; NULL where the library has none. */
  GetEpRefusalReasonFn refusal_reason() const { return refusal_reason_; }
  /** The name that a factory gives itself. */
  static std::string name_of(const OrtEpFactory& factory);

 private:
  EpLibrary(std::string path, const base::Logger& logger) : path_(std::move(path)), logger_(logger) {}
  void open();
  void* symbol(const char* name) const;
  void make_factories(const std::string& registration_name);
  void find_devices(OrtEpFactory& factory);
  void adopt(std::unique_ptr<EpDevice> device, OrtEpFactory& factory);

  std::string path_;
  base::Logger logger_;  // of the factories
  void* handle_ = nullptr;
  ReleaseEpApiFactoryFn release_factory_ = nullptr;
  GetEpRefusalReasonFn refusal_reason_ = nullptr;
  std::vector<OrtEpFactory*> factories_;
  std::vector<std::unique_ptr<EpDevice>> devices_;
};

}  // namespace ortolan::api
