// A plugin's queue of work on a device, and the slots on it.
#include "api/plugins/ep_stream.h"

#include "api/arguments.h"
#include "api/guard.h"
#include "api/plugins/ep_library.h"
#include "api/plugins/ep_members.h"
#include "runtime/session/session_options.h"

namespace ortolan::api {
namespace {

uint64_t next_number() {
  static std::atomic<uint64_t> last = 0;
  return ++last;
}

struct ReleaseNotification {
  void operator()(OrtSyncNotificationImpl* notification) const {
    if (notification->Release != nullptr) notification->Release(notification);
  }
};

}  // namespace

PluginStream::PluginStream(std::shared_ptr<EpLibrary> library, std::string provider, const MemoryInfo& memory,
                           OrtSyncStreamImpl& theirs)
    : library_(std::move(library)),
      provider_(std::move(provider)),
      memory_(memory),
      theirs_(theirs),
      number_(next_number()) {}

PluginStream::~PluginStream() {
  if (theirs_.Release != nullptr) theirs_.Release(&theirs_);
}

bool PluginStream::can_wait_here(const PluginStream& consumer) const {
  return consumer.library_ == library_ && consumer.provider_ == provider_ &&
         consumer.memory_.device.type == memory_.device.type;
}

void PluginStream::wait(Stream* consumer) {
  require_member(theirs_.CreateNotification, provider_, "OrtSyncStreamImpl::CreateNotification");
  OrtSyncNotificationImpl* made = nullptr;
  check_plugin(theirs_.CreateNotification(&theirs_, &made), provider_, "CreateNotification");
  std::unique_ptr<OrtSyncNotificationImpl, ReleaseNotification> notification(
      &require_made(made, provider_, "CreateNotification"));
  require_member(made->Activate, provider_, "OrtSyncNotificationImpl::Activate");
  check_plugin(made->Activate(made), provider_, "OrtSyncNotificationImpl::Activate");
  uint64_t id = sync_id_.fetch_add(1, std::memory_order_acq_rel) + 1;
  auto* other = dynamic_cast<PluginStream*>(consumer);
  if (other != nullptr && can_wait_here(*other)) {
    require_member(made->WaitOnDevice, provider_, "OrtSyncNotificationImpl::WaitOnDevice");
    check_plugin(made->WaitOnDevice(made, wrap<OrtSyncStream>(other)), provider_, "WaitOnDevice");
  } else {
    require_member(made->WaitOnHost, provider_, "OrtSyncNotificationImpl::WaitOnHost");
    check_plugin(made->WaitOnHost(made), provider_, "WaitOnHost");
  }
  if (other == nullptr) return;
  std::lock_guard lock(other->mutex_);
  other->waited_[number_] = id;
}

void PluginStream::end_run() {
  if (theirs_.OnSessionRunEnd != nullptr) {
    check_plugin(theirs_.OnSessionRunEnd(&theirs_), provider_, "OnSessionRunEnd");
  }
  if (theirs_.Flush != nullptr) check_plugin(theirs_.Flush(&theirs_), provider_, "Flush");
}

uint64_t PluginStream::last_wait_for(const PluginStream& producer) const {
  std::lock_guard lock(mutex_);
  auto found = waited_.find(producer.number_);
  return found == waited_.end() ? 0 : found->second;
}

OrtSyncStreamImpl& make_plugin_stream(OrtEpFactory& factory, const std::string& provider, const OrtMemoryDevice& device,
                                      const OrtKeyValuePairs* options) {
  auto create = member_if(factory, &OrtEpFactory::CreateSyncStreamForDevice, 23);
  require(create != nullptr, ErrorCode::kEpFail, "execution provider ", provider,
          " says that it works with streams, but has no CreateSyncStreamForDevice");
  OrtSyncStreamImpl* made = nullptr;
  check_plugin(create(&factory, &device, options, &made), provider, "OrtEpFactory::CreateSyncStreamForDevice");
  return require_made(made, provider, "OrtEpFactory::CreateSyncStreamForDevice");
}

OrtStatus* ORT_API_CALL CreateSyncStreamForEpDevice(const OrtEpDevice* ep_device,
                                                    const OrtKeyValuePairs* stream_options,
                                                    OrtSyncStream** stream) noexcept {
  return guard([&] {
    const EpDevice& device = unwrap(ep_device, "ep_device");
    require_argument(stream, "stream");
    const MemoryInfo* memory = unwrap_optional(device.memory);
    require(memory != nullptr && !memory->on_cpu() && device.library != nullptr, ErrorCode::kInvalidArgument,
            "the device of provider ", device.provider, " has no memory but the CPU's, so it has no streams");
    auto is_aware = member_if(*device.factory, &OrtEpFactory::IsStreamAware, 23);
    require(is_aware != nullptr && is_aware(device.factory), ErrorCode::kInvalidArgument, "execution provider ",
            device.provider, " does not work with streams");
    auto library = device.library->shared_from_this();
    OrtSyncStreamImpl& made = make_plugin_stream(*device.factory, device.provider,
                                                 *MemoryInfo_GetMemoryDevice(device.memory), stream_options);
    *stream = wrap<OrtSyncStream>(
        std::make_unique<PluginStream>(std::move(library), device.provider, interned(*memory, device.provider), made));
  });
}

const OrtSyncStreamImpl* ORT_API_CALL SyncStream_GetImpl(const OrtSyncStream* stream) noexcept {
  return stream == nullptr ? nullptr : &unwrap_optional(stream)->theirs();
}

uint64_t ORT_API_CALL SyncStream_GetSyncId(const OrtSyncStream* stream) noexcept {
  return stream == nullptr ? 0 : unwrap_optional(stream)->sync_id();
}

uint64_t ORT_API_CALL GetSyncIdForLastWaitOnSyncStream(const OrtSyncStream* producer,
                                                       const OrtSyncStream* consumer) noexcept {
  if (producer == nullptr || consumer == nullptr) return 0;
  return unwrap_optional(consumer)->last_wait_for(*unwrap_optional(producer));
}

void* ORT_API_CALL SyncStream_GetHandle(OrtSyncStream* stream) noexcept {
  return stream == nullptr ? nullptr : unwrap_optional(stream)->native_handle();
}

void ORT_API_CALL ReleaseSyncStream(OrtSyncStream* stream) noexcept { release(stream); }

void ORT_API_CALL RunOptionsSetSyncStream(OrtRunOptions* options, OrtSyncStream* stream) noexcept {
  if (options != nullptr) unwrap_optional(options)->stream = unwrap_optional(stream);
}

}  // namespace ortolan::api
