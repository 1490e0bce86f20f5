// Kernels and weights, each once.
#include "gpu/core/engine.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace ortolan::gpu {
namespace {

std::string key_of(const KernelSpec& spec) {
  std::string key(spec.name);
  for (const KernelConstant& constant : spec.constants) {
    key += ' ';
    key += constant.name;
    key += '=' + std::to_string(constant.value);
  }
  return key;
}

std::string key_of(std::span<const std::byte> bytes, const std::string& layout) {
  XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return std::to_string(hash.high64) + ' ' + std::to_string(hash.low64) + ' ' + std::to_string(bytes.size()) + ' ' +
         layout;
}

}  // namespace

std::shared_ptr<const Kernel> KernelCache::get(const KernelSpec& spec) {
  std::lock_guard lock(mutex_);
  std::string key = key_of(spec);
  auto& kernel = kernels_[key];
  if (kernel != nullptr) return kernel;
  std::string stored_as = device_.identity(spec.name) + '\n' + key;
  kernel = device_.load(spec, store_.read(stored_as));
  if (kernel->was_compiled()) compiled_.emplace_back(std::move(stored_as), kernel);
  return kernel;
}

KernelCache::~KernelCache() {
  ends_ = true;
  if (storing_.joinable()) storing_.join();
}

void KernelCache::store_compiled() {
  while (store_one()) {
  }
}

bool KernelCache::store_one() {
  std::pair<std::string, std::shared_ptr<const Kernel>> next;
  {
    std::lock_guard lock(mutex_);
    if (compiled_.empty() || ends_) return false;
    next = std::move(compiled_.back());
    compiled_.pop_back();
    compiled_before_ = compiled_.size();
  }
  store_.write(next.first, next.second->binary());
  return true;
}

void KernelCache::after_run() {
  std::lock_guard lock(mutex_);
  bool settled = !compiled_.empty() && compiled_.size() == compiled_before_;
  compiled_before_ = compiled_.size();
  if (!settled || is_storing_.exchange(true)) return;
  if (storing_.joinable()) storing_.join();  // it has ended
  storing_ = std::thread([this] {
    try {
      store_compiled();
    } catch (const std::exception&) {  // a kernel that cannot be kept is compiled again
    }
    is_storing_ = false;
  });
}

std::shared_ptr<Buffer> WeightCache::get(std::span<const std::byte> bytes) {
  return get(key_of(bytes, ""), bytes.size(),
             [&](Queue& queue, const BufferRange& to) { queue.write(to, bytes.data()); });
}

std::shared_ptr<Buffer> WeightCache::get(std::span<const std::byte> bytes, const Packing& packing) {
  return get(key_of(bytes, packing.layout), packing.bytes, [&](Queue& queue, const BufferRange& to) {
    queue.make(to, [&](std::span<std::byte> memory) { packing.pack(bytes, memory); });
  });
}

std::shared_ptr<Buffer> WeightCache::get(const std::string& key, size_t size,
                                         const std::function<void(Queue& queue, const BufferRange& to)>& make) {
  std::lock_guard lock(mutex_);
  std::erase_if(buffers_, [](const auto& entry) { return entry.second.expired(); });
  if (auto found = buffers_.find(key); found != buffers_.end()) {
    if (auto buffer = found->second.lock()) return buffer;
  }
  std::shared_ptr<Buffer> buffer = device_.allocate(std::max<size_t>(size, 4));
  if (size > 0) {
    std::unique_ptr<Queue> queue = device_.create_queue();
    make(*queue, {buffer.get(), 0, size});
    queue->finish();
  }
  buffers_[key] = buffer;
  return buffer;
}

ProductLibrary* Engine::product_library() const {
  if (products_ == Products::kOwn) return nullptr;
  if (products_ == Products::kAuto && device_.traits().kind != DeviceClass::kGpu) return nullptr;
  return device_.product_library();
}

}  // namespace ortolan::gpu
