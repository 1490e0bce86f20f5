// Activate marks a place in a queue; waiting on the device puts a wait into another queue; waiting on the host blocks.
#include "gpu/epkit/stream.h"

namespace ortolan::gpu::epkit {

Stream::Stream(const Host& host, DeviceContext& context, ProfileRecords* records, void* theirs)
    : OrtSyncStreamImpl{}, host_(host), queue_(context, records, theirs) {
  ort_version_supported = host.level;
  Release = release;
  GetHandle = get_handle;
  CreateNotification = create_notification;
  Flush = flush;
  OnSessionRunEnd = on_session_run_end;
}

void ORT_API_CALL Stream::release(OrtSyncStreamImpl* self) noexcept { delete static_cast<Stream*>(self); }

void* ORT_API_CALL Stream::get_handle(OrtSyncStreamImpl* self) noexcept { return &static_cast<Stream*>(self)->queue_; }

OrtStatus* ORT_API_CALL Stream::create_notification(OrtSyncStreamImpl* self, OrtSyncNotificationImpl** out) noexcept {
  auto& stream = *static_cast<Stream*>(self);
  return guard(stream.host_, [&] { *out = new Notification(stream); });
}

OrtStatus* ORT_API_CALL Stream::flush(OrtSyncStreamImpl* self) noexcept {
  auto& stream = *static_cast<Stream*>(self);
  return guard(stream.host_, [&] { stream.queue_.flush(); });
}

// A caller may change its inputs and read its outputs when a run has returned.
OrtStatus* ORT_API_CALL Stream::on_session_run_end(OrtSyncStreamImpl* self) noexcept {
  auto& stream = *static_cast<Stream*>(self);
  return guard(stream.host_, [&] { stream.queue_.finish(); });
}

Notification::Notification(Stream& stream)
    : OrtSyncNotificationImpl{}, host_(stream.host()), context_(stream.queue().context()), stream_(stream) {
  ort_version_supported = host_.level;
  Release = release;
  Activate = activate;
  WaitOnDevice = wait_on_device;
  WaitOnHost = wait_on_host;
}

void ORT_API_CALL Notification::release(OrtSyncNotificationImpl* self) noexcept {
  delete static_cast<Notification*>(self);
}

OrtStatus* ORT_API_CALL Notification::activate(OrtSyncNotificationImpl* self) noexcept {
  auto& notification = *static_cast<Notification*>(self);
  return guard(notification.host_, [&] {
    notification.mark_ = notification.stream_.queue().mark();
    notification.stream_.queue().flush();
  });
}

OrtStatus* ORT_API_CALL Notification::wait_on_device(OrtSyncNotificationImpl* self, OrtSyncStream* consumer) noexcept {
  auto& notification = *static_cast<Notification*>(self);
  return guard(notification.host_, [&] {
    if (notification.mark_ == nullptr) return;
    void* handle = consumer == nullptr ? nullptr : notification.host_.api->SyncStream_GetHandle(consumer);
    RunQueue* waiting = notification.context_.find_queue(handle);
    if (waiting != nullptr) {
      waiting->busy().wait_for(*notification.mark_);
    } else {
      notification.mark_->wait();  // the host, or a stream of another provider
    }
  });
}

OrtStatus* ORT_API_CALL Notification::wait_on_host(OrtSyncNotificationImpl* self) noexcept {
  auto& notification = *static_cast<Notification*>(self);
  return guard(notification.host_, [&] {
    if (notification.mark_ != nullptr) notification.mark_->wait();
  });
}

}  // namespace ortolan::gpu::epkit
