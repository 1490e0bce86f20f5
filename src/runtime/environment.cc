// The environment: global thread pools and shared allocators.
#include "runtime/environment.h"

#include <algorithm>

namespace ortolan::runtime {

void Environment::set_severity(Severity least) { logger_.set_least(least); }

void Environment::create_global_pools(const ThreadingOptions& options) {
  intra_pool_ = std::make_shared<ThreadPool>(options.intra);
  inter_pool_ = std::make_shared<ThreadPool>(options.inter);
  denormals_are_zero_ = options.denormals_are_zero;
}

void Environment::register_allocator(std::shared_ptr<Allocator> allocator) {
  std::lock_guard lock(mutex_);
  for (const auto& known : allocators_) {
    require(!(known->info() == allocator->info()), ErrorCode::kInvalidArgument, "an allocator for memory '",
            allocator->info().name, "' on device ", allocator->info().device.id,
            " is registered already; unregister it first");
  }
  allocators_.push_back(std::move(allocator));
}

bool Environment::unregister_allocator(const MemoryInfo& memory) {
  std::lock_guard lock(mutex_);
  return std::erase_if(allocators_, [&](const auto& known) { return known->info() == memory; }) != 0;
}

std::shared_ptr<Allocator> Environment::shared_allocator(const Device& device) const {
  std::lock_guard lock(mutex_);
  auto found = std::find_if(allocators_.begin(), allocators_.end(),
                            [&](const auto& known) { return known->info().device == device; });
  return found == allocators_.end() ? nullptr : *found;
}

void Environment::set_config(KeyValues config) {
  std::lock_guard lock(mutex_);
  config_ = std::move(config);
}

KeyValues Environment::config() const {
  std::lock_guard lock(mutex_);
  return config_;
}

void Environment::add_provider(ProviderRequest request) {
  std::lock_guard lock(mutex_);
  auto same = [&](const ProviderRequest& known) { return known.name == request.name; };
  require(std::none_of(providers_.begin(), providers_.end(), same), ErrorCode::kInvalidArgument, "provider ",
          request.name, " is one of the environment's already");
  providers_.push_back(std::move(request));
}

void Environment::clear_providers() {
  std::lock_guard lock(mutex_);
  providers_.clear();
}

std::vector<ProviderRequest> Environment::providers() const {
  std::lock_guard lock(mutex_);
  return providers_;
}

Environment::Plugins& Environment::plugins(FunctionRef<std::unique_ptr<Plugins>()> make) {
  std::lock_guard lock(mutex_);
  if (plugins_ == nullptr) plugins_ = make();
  return *plugins_;
}

void Environment::set_work_callbacks(const WorkCallbacks& callbacks) {
  std::lock_guard lock(mutex_);
  work_callbacks_ = callbacks;
}

WorkCallbacks Environment::work_callbacks() const {
  std::lock_guard lock(mutex_);
  return work_callbacks_;
}

}  // namespace ortolan::runtime
