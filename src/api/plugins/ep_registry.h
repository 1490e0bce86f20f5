// The plugin libraries of an environment: registered by name, with their devices, shared allocators and transfers.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "api/plugins/ep_library.h"
#include "runtime/environment.h"

namespace ortolan::api {

/** An allocator that the environment shares for one kind of memory of a device. */
struct SharedAllocator {
  const EpDevice* device;
  bool host_accessible;
  std::shared_ptr<tensor::Allocator> core;
  OrtAllocator* handle;
};

/** The process's copy of a memory info that a caller or a plugin gives: a provider's where a registered device has that
    object, or alone has an equal one. */
const tensor::MemoryInfo& place_of(const tensor::MemoryInfo& given);

/** What the environment holds of a registered library. Ended in order: transfers, allocators, the library. */
struct Registration {
  explicit Registration(std::shared_ptr<EpLibrary> from);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  std::shared_ptr<EpLibrary> library;
  std::vector<SharedAllocator> allocators;
  std::vector<std::unique_ptr<tensor::DataTransfer>> transfers;

 private:
  void share_memory();
};

/** Thread-safe. */
class EpRegistry final : public runtime::Environment::Plugins {
 public:
  static EpRegistry& of(runtime::Environment& environment);
  EpRegistry();

  void add(const std::string& name, const std::string& path, const base::Logger& logger);
  /** Throws kFail when there is none of that name. Users of the library keep it loaded. */
  void remove(const std::string& name);

  /** Of the built-in provider and of all libraries, in the order of registration; valid until the next change. */
  std::span<const EpDevice* const> devices() const;
  /** The same with the libraries kept loaded. */
  struct Snapshot {
    std::vector<std::shared_ptr<Registration>> registrations;
    std::vector<const EpDevice*> devices;
  };
  Snapshot snapshot() const;
  /** The device as one of the registry's; throws kInvalidArgument for what was unregistered or never was one. */
  const EpDevice& check(const OrtEpDevice* device, const char* name) const;
  /** Keeps the library of a registered device loaded; NULL for the CPU's. */
  std::shared_ptr<EpLibrary> library_of(const EpDevice& device) const;

  /** Borrowed; NULL when there is none. */
  OrtAllocator* shared_allocator(const tensor::MemoryInfo& memory) const;
  OrtAllocator* replace_shared_allocator(const EpDevice& device, bool host_accessible, const OrtMemoryInfo& memory,
                                         const OrtKeyValuePairs* options);
  void remove_shared_allocator(const EpDevice& device, bool host_accessible);

 private:
  void list_devices();
  Registration* registration_of(const EpDevice& device) const;

  struct Entry {
    std::string name;
    std::shared_ptr<Registration> registration;  // NULL while it is being loaded
  };
  EpDevice cpu_;
  mutable std::mutex mutex_;
  std::vector<Entry> entries_;
  std::vector<const EpDevice*> devices_;
};

}  // namespace ortolan::api
