// Streams: queues of the device as the runtime sees them, and notifications, by which others wait for them.
#pragma once

#include "counters.h"
#include "device.h"
#include "host.h"

namespace ortolan::example {

/** The native handle of a stream is its Queue. */
class Stream : public OrtSyncStreamImpl, private Counted<Live::kStream> {
 public:
  Stream(const Host& host, Device& device, const std::atomic<int>& gather);
  const Host& host() const { return host_; }
  Device& device() { return device_; }
  Queue& queue() { return queue_; }

 private:
  static void ORT_API_CALL release(OrtSyncStreamImpl* self) noexcept;
  static void* ORT_API_CALL get_handle(OrtSyncStreamImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL create_notification(OrtSyncStreamImpl* self, OrtSyncNotificationImpl** out) noexcept;
  static OrtStatus* ORT_API_CALL flush(OrtSyncStreamImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL on_session_run_end(OrtSyncStreamImpl* self) noexcept;

  const Host host_;
  Device& device_;
  Queue queue_;
};

class Notification : public OrtSyncNotificationImpl, private Counted<Live::kNotification> {
 public:
  explicit Notification(Stream& stream);

 private:
  static void ORT_API_CALL release(OrtSyncNotificationImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL activate(OrtSyncNotificationImpl* self) noexcept;
  static OrtStatus* ORT_API_CALL wait_on_device(OrtSyncNotificationImpl* self, OrtSyncStream* consumer) noexcept;
  static OrtStatus* ORT_API_CALL wait_on_host(OrtSyncNotificationImpl* self) noexcept;

  Stream& stream_;
  uint64_t mark_ = 0;  // the work of the stream up to here
};

}  // namespace ortolan::example
