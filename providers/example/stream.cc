// Activate marks a place in a queue; waiting on the device puts a wait into another queue; waiting on the host blocks.
#include "stream.h"

namespace ortolan::example {

Stream::Stream(const Host& host, Device& device, const std::atomic<int>& gather)
    : OrtSyncStreamImpl{}, host_(host), device_(device), queue_(device, gather) {
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
  note(Event::kFlush);
  return guard(stream.host_, [&] { stream.queue_.run_until(stream.queue_.end()); });
}

OrtStatus* ORT_API_CALL Stream::on_session_run_end(OrtSyncStreamImpl*) noexcept {
  note(Event::kStreamRunEnd);
  return nullptr;
}

Notification::Notification(Stream& stream) : OrtSyncNotificationImpl{}, stream_(stream) {
  ort_version_supported = stream.host().level;
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
  note(Event::kActivate);
  return guard(notification.stream_.host(), [&] { notification.mark_ = notification.stream_.queue().end(); });
}

OrtStatus* ORT_API_CALL Notification::wait_on_device(OrtSyncNotificationImpl* self, OrtSyncStream* consumer) noexcept {
  auto& notification = *static_cast<Notification*>(self);
  const Host& host = notification.stream_.host();
  note(Event::kWaitOnDevice);
  return guard(host, [&] {
    Device& device = notification.stream_.device();
    Queue* producer = &notification.stream_.queue();
    Queue* waiting = consumer ? device.find_queue(host.api->SyncStream_GetHandle(consumer)) : nullptr;
    uint64_t mark = notification.mark_;
    if (!waiting) return producer->run_until(mark);  // the host, or a stream of another provider
    waiting->enqueue([&device, producer, mark] {
      if (device.find_queue(producer)) producer->run_until(mark);
    });
  });
}

OrtStatus* ORT_API_CALL Notification::wait_on_host(OrtSyncNotificationImpl* self) noexcept {
  auto& notification = *static_cast<Notification*>(self);
  note(Event::kWaitOnHost);
  return guard(notification.stream_.host(), [&] { notification.stream_.queue().run_until(notification.mark_); });
}

}  // namespace ortolan::example
