// A plugin's queue of work on a device: what stands behind OrtSyncStream.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "onnxruntime_ep_c_api.h"
#include "tensor/device.h"

namespace ortolan::api {

class EpLibrary;

/** Waiting makes a notification in the plugin, which the consumer waits for: on its device where it belongs to the same
    library and the same kind of device, on the host otherwise. */
class PluginStream final : public tensor::Stream {
 public:
  /** Takes `theirs` over. `memory` must live as long as the process. */
  PluginStream(std::shared_ptr<EpLibrary> library, std::string provider, const tensor::MemoryInfo& memory,
               OrtSyncStreamImpl& theirs);
  ~PluginStream() override;

  const tensor::MemoryInfo& memory() const override { return memory_; }
  void wait(tensor::Stream* consumer) override;
  void end_run() override;

  OrtSyncStreamImpl& theirs() const { return theirs_; }
  void* native_handle() const { return theirs_.GetHandle == nullptr ? nullptr : theirs_.GetHandle(&theirs_); }
  /** Grows with each point of the stream that another may wait for. */
  uint64_t sync_id() const { return sync_id_.load(std::memory_order_acquire); }
  /** The sync id of `producer` that this stream waited for last; 0 for none. */
  uint64_t last_wait_for(const PluginStream& producer) const;

 private:
  bool can_wait_here(const PluginStream& consumer) const;

  std::shared_ptr<EpLibrary> library_;
  std::string provider_;
  const tensor::MemoryInfo& memory_;
  OrtSyncStreamImpl& theirs_;
  uint64_t number_;  // no other stream of the process has it
  std::atomic<uint64_t> sync_id_ = 0;
  mutable std::mutex mutex_;
  std::unordered_map<uint64_t, uint64_t> waited_;  // by number of the producer: its sync id
};

/** A new stream of the factory on that device; throws where it has none to give. */
OrtSyncStreamImpl& make_plugin_stream(OrtEpFactory& factory, const std::string& provider, const OrtMemoryDevice& device,
                                      const OrtKeyValuePairs* options);

}  // namespace ortolan::api
