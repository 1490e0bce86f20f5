// Copies between devices outside of sessions.
#include "api/arguments.h"
#include "api/environment/environments.h"
#include "api/guard.h"
#include "api/plugins/ep_registry.h"
#include "api/plugins/ep_stream.h"
#include "tensor/value.h"

namespace ortolan::api {
namespace {

/** The transfer of the environment's libraries between these memories; NULL when none has one. */
const DataTransfer* find_transfer(const EpRegistry::Snapshot& snapshot, const MemoryInfo& from, const MemoryInfo& to) {
  for (const auto& registration : snapshot.registrations) {
    for (const auto& transfer : registration->transfers) {
      if (transfer->can_copy(from, to)) return transfer.get();
    }
  }
  return nullptr;
}

void copy(const EpRegistry::Snapshot& snapshot, const Tensor& from, Tensor& to, PluginStream* stream) {
  if (from.memory().on_cpu() && to.memory().on_cpu()) return copy_elements(from, to);
  require(from.type() == to.type() && from.element_count() == to.element_count(), ErrorCode::kInvalidArgument,
          "cannot copy ", name_of(from.type()), from.shape(), " to ", name_of(to.type()), to.shape());
  if (from.element_count() == 0) return;
  if (const DataTransfer* direct = find_transfer(snapshot, from.memory(), to.memory())) {
    return direct->copy(from, to, stream);
  }
  require(!from.memory().on_cpu() && !to.memory().on_cpu(), ErrorCode::kNotImplemented,
          "no registered provider copies between memory '", from.memory().name, "' and '", to.memory().name, "'");
  Tensor between(from.type(), from.shape());
  copy(snapshot, from, between, nullptr);
  copy(snapshot, between, to, nullptr);
}

}  // namespace

OrtStatus* ORT_API_CALL CopyTensors(const OrtEnv* env, const OrtValue* const* src_tensors, OrtValue* const* dst_tensors,
                                    OrtSyncStream* stream, size_t num_tensors) noexcept {
  return guard([&] {
    auto environment = environment_of(env);
    auto sources = array(src_tensors, num_tensors, "src_tensors");
    auto targets = array(dst_tensors, num_tensors, "dst_tensors");
    auto snapshot = EpRegistry::of(*environment).snapshot();
    for (size_t i = 0; i < num_tensors; ++i) {
      copy(snapshot, unwrap(sources[i], "src_tensors[i]").tensor(), unwrap(targets[i], "dst_tensors[i]").tensor(),
           unwrap_optional(stream));
    }
  });
}

}  // namespace ortolan::api
