// Queues as the runtime sees them, and notifications, by which others wait for them.
#pragma once

#include "gpu/epkit/device_context.h"

namespace ortolan::gpu::epkit {

/** The native handle of a stream is its RunQueue. */
class Stream : public OrtSyncStreamImpl {
 public:
  /** `theirs`: the driver's queue that it stands for; NULL: one of its own. */
  Stream(const Host& host, DeviceContext& context, ProfileRecords* records = nullptr, void* theirs = nullptr);
  const Host& host() const { return host_; }
  RunQueue& queue() { return queue_; }

 private:
  static void ORT_API_CALL release(OrtSyncStreamImpl* self) noexcept;
  static void* ORT_API_CALL get_handle(OrtSyncStreamImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL create_notification(OrtSyncStreamImpl* self, OrtSyncNotificationImpl** out) noexcept;
  static OrtStatus* ORT_API_CALL flush(OrtSyncStreamImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL on_session_run_end(OrtSyncStreamImpl* self) noexcept;

  const Host host_;
  RunQueue queue_;
};

class Notification : public OrtSyncNotificationImpl {
 public:
  explicit Notification(Stream& stream);

 private:
  static void ORT_API_CALL release(OrtSyncNotificationImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL activate(OrtSyncNotificationImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL wait_on_device(OrtSyncNotificationImpl* self, OrtSyncStream* consumer) noexcept;
  static OrtStatus* ORT_API_CALL wait_on_host(OrtSyncNotificationImpl* self) noexcept;

  const Host host_;
  DeviceContext& context_;
  Stream& stream_;
  std::shared_ptr<Mark> mark_;  // NULL before Activate
};

}  // namespace ortolan::gpu::epkit
