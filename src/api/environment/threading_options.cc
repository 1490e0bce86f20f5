// How the environment's global thread pools are made.
#include "api/arguments.h"
#include "api/guard.h"
#include "runtime/environment.h"

namespace ortolan::api {

OrtStatus* ORT_API_CALL CreateThreadingOptions(OrtThreadingOptions** out) noexcept {
  return guard([&] { give(out, runtime::ThreadingOptions{}); });
}

void ORT_API_CALL ReleaseThreadingOptions(OrtThreadingOptions* options) noexcept { release(options); }

OrtStatus* ORT_API_CALL SetGlobalIntraOpNumThreads(OrtThreadingOptions* options, int threads) noexcept {
  return guard([&] { unwrap(options, "tp_options").intra.threads = std::max(threads, 0); });
}

OrtStatus* ORT_API_CALL SetGlobalInterOpNumThreads(OrtThreadingOptions* options, int threads) noexcept {
  return guard([&] { unwrap(options, "tp_options").inter.threads = std::max(threads, 0); });
}

OrtStatus* ORT_API_CALL SetGlobalSpinControl(OrtThreadingOptions* options, int allow_spinning) noexcept {
  return guard([&] {
    auto& core = unwrap(options, "tp_options");
    require(allow_spinning == 0 || allow_spinning == 1, ErrorCode::kInvalidArgument, "allow_spinning is ",
            allow_spinning, "; it must be 0 or 1");
    core.intra.allow_spinning = core.inter.allow_spinning = allow_spinning != 0;
  });
}

OrtStatus* ORT_API_CALL SetGlobalDenormalAsZero(OrtThreadingOptions* options) noexcept {
  return guard([&] { unwrap(options, "tp_options").denormals_are_zero = true; });
}

OrtStatus* ORT_API_CALL SetGlobalIntraOpThreadAffinity(OrtThreadingOptions* options,
                                                       const char* affinity_string) noexcept {
  return guard([&] {
    auto& core = unwrap(options, "tp_options");
    std::string affinity = text(affinity_string, "affinity_string");
    require(!affinity.empty(), ErrorCode::kInvalidArgument, "affinity_string is empty");
    base::parse_affinity(affinity);
    core.intra.affinity = std::move(affinity);
  });
}

OrtStatus* ORT_API_CALL SetGlobalCustomCreateThreadFn(OrtThreadingOptions* options,
                                                      OrtCustomCreateThreadFn create) noexcept {
  return guard([&] {
    auto& core = unwrap(options, "tp_options");
    core.intra.hooks.create = core.inter.hooks.create = wrap_function<decltype(base::ThreadHooks::create)>(create);
  });
}

OrtStatus* ORT_API_CALL SetGlobalCustomThreadCreationOptions(OrtThreadingOptions* options, void* creation) noexcept {
  return guard([&] {
    auto& core = unwrap(options, "tp_options");
    core.intra.hooks.options = core.inter.hooks.options = creation;
  });
}

OrtStatus* ORT_API_CALL SetGlobalCustomJoinThreadFn(OrtThreadingOptions* options, OrtCustomJoinThreadFn join) noexcept {
  return guard([&] {
    auto& core = unwrap(options, "tp_options");
    core.intra.hooks.join = core.inter.hooks.join = wrap_function<decltype(base::ThreadHooks::join)>(join);
  });
}

OrtStatus* ORT_API_CALL SetPerSessionThreadPoolCallbacks(OrtEnv* env,
                                                         const OrtThreadPoolCallbacksConfig* config) noexcept {
  return guard([&] {
    auto& environment = unwrap(env, "env");
    require_argument(config, "config");
    require(config->version >= 1 && config->version <= ORT_API_VERSION, ErrorCode::kInvalidArgument,
            "config->version is ", config->version, "; it must be ORT_API_VERSION, which here is ", ORT_API_VERSION);
    environment.set_work_callbacks(
        {config->on_enqueue, config->on_start_work, config->on_stop_work, config->on_abandon, config->user_context});
  });
}

}  // namespace ortolan::api
