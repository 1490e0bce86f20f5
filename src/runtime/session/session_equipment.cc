// What a session runs with: threads, providers, memory, a profile.
#include "base/memory/memory_limit.h"
#include "base/threads/memory_nodes.h"
#include "runtime/execution/profiler.h"
#include "runtime/providers/devices.h"
#include "runtime/session/ep_context.h"
#include "runtime/session/session_builder.h"
#include "runtime/session/session_entries.h"
#include "tensor/arena.h"

namespace ortolan::runtime {
namespace {

constexpr int64_t kDefaultMaxTensorBytes = int64_t{16} << 30;

}  // namespace

void SessionBuilder::start_profiling() {
  for (const auto& provider : session_->providers_) {
    try {
      provider->start_profiling(*session_->profiler_);
    } catch (const Error& error) {
      session_->logger_.log(Severity::kWarning, "session_equipment.cc start_profiling", "the profile lacks events of ",
                            provider->type(), ": ", error.text());
    }
  }
}

void SessionBuilder::make_threads() {
  const SessionOptions& options = session_->options_;
  if (options.use_global_threads) {
    require(session_->environment_->intra_pool() != nullptr, ErrorCode::kFail,
            "the session is to use global thread pools, but the environment has none; create it with "
            "CreateEnvWithGlobalThreadPools");
    session_->intra_pool_ = session_->environment_->intra_pool();
    session_->inter_pool_ = session_->environment_->inter_pool();
    return;
  }
  const WorkCallbacks callbacks = session_->environment_->work_callbacks();
  ScopedWorkCallbacks of_pools(callbacks);
  ThreadPool::Options pool = options.thread_hooks;
  pool.threads = options.intra_op_threads;
  pool.affinity = options.config_or("session.intra_op_thread_affinities", "");
  pool.allow_spinning = is_on(options, "session.intra_op.allow_spinning", true);
  pool.spin_only_in_use = is_on(options, "session.force_spinning_stop", false);
  if (follows_nodes(options)) pool.nodes = base::memory_nodes();
  session_->intra_pool_ = std::make_shared<ThreadPool>(pool);
  if (options.mode != ExecutionMode::kParallel) return;
  pool.threads = options.inter_op_threads;
  pool.affinity.clear();
  pool.nodes.clear();
  pool.allow_spinning = is_on(options, "session.inter_op.allow_spinning", true);
  session_->inter_pool_ = std::make_shared<ThreadPool>(pool);
}

void SessionBuilder::make_providers() {
  SessionOptions& options = session_->options_;
  std::vector<ProviderRequest> requests = options.providers;
  if (requests.empty() && options.select_providers) requests = options.select_providers(options, *session_->model_);
  if (options.providers.empty() && !options.select_providers) requests = session_->environment_->providers();
  for (const ProviderRequest& request : requests) {
    if (request.factory != nullptr) add_provider(request);
  }
  session_->providers_.push_back(make_cpu_execution_provider());
  if (session_->providers_.size() > 1) {
    session_->devices_ = std::make_unique<SessionDevices>(session_->providers_);
  }
}

void SessionBuilder::add_provider(const ProviderRequest& request) {
  auto& providers = session_->providers_;
  auto same_type = [&](const auto& provider) { return provider->type() == request.factory->type(); };
  require(std::ranges::none_of(providers, same_type), ErrorCode::kInvalidArgument, "provider ", request.factory->type(),
          " is asked for twice; a session has one of each type");
  check_compatibility(*session_->model_, *request.factory, session_->options_, session_->logger_);
  try {
    set_options_of(request);
    providers.push_back(request.factory->make(session_->options_, session_->logger_));
    providers.back()->learn_model(*session_->model_);
  } catch (const Error& error) {
    if (request.required) throw error.within(join("execution provider ", request.factory->type()));
    session_->logger_.log(Severity::kWarning, "session_equipment.cc add_provider",
                          "the session goes on without provider ", request.factory->type(),
                          ", which cannot be made: ", error.text());
  }
}

/** Providers find their options among the session's entries. */
void SessionBuilder::set_options_of(const ProviderRequest& request) {
  for (const auto& [key, value] : request.options) {
    session_->options_.config.try_emplace(provider_entry(request.factory->type(), key), value);
  }
}

void SessionBuilder::make_allocator() {
  const SessionOptions& options = session_->options_;
  session_->max_tensor_bytes_ = number_or(options, "ortolan.max_tensor_bytes", kDefaultMaxTensorBytes);
  std::shared_ptr<Allocator> shared;
  if (is_on(options, "session.use_env_allocators", false)) {
    shared = session_->environment_->shared_allocator(Device{});
  }
  if (shared != nullptr) {
    session_->allocator_ = shared;
  } else {
    session_->allocator_ = options.cpu_arena ? std::make_shared<Arena>() : cpu_allocator();
  }
  bound_runs();
}

/** By the session's entry, or else by a share of the machine's memory; and by the limit of the allocator. */
void SessionBuilder::bound_runs() {
  const auto share = static_cast<int64_t>(std::min<size_t>(base::share_of_memory(), INT64_MAX));
  session_->max_run_bytes_ = static_cast<size_t>(number_or(session_->options_, "ortolan.max_run_bytes", share));
  session_->more_run_bytes_ = "raise the session entry 'ortolan.max_run_bytes'";
  const auto limit = static_cast<size_t>(session_->allocator_->stats().limit);
  if (limit == 0 || limit >= session_->max_run_bytes_) return;
  session_->max_run_bytes_ = limit;
  session_->more_run_bytes_ = "raise 'max_mem' of the environment's allocator";
}

}  // namespace ortolan::runtime
