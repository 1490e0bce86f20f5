// The process's list of memory infos, so that tensors can point at one that never dies, and whose memory each
// describes.
#include <algorithm>
#include <deque>
#include <mutex>

#include "tensor/device.h"

namespace ortolan::tensor {
namespace {

class KnownMemories {
 public:
  static KnownMemories& instance() {
    static auto* const all = new KnownMemories;
    return *all;
  }

  /** An entry itself, or the equal one of that owner. */
  const MemoryInfo& find_or_add(const MemoryInfo& info, const std::string& owner) {
    std::lock_guard lock(mutex_);
    const Entry* equal = nullptr;
    for (const Entry& entry : entries_) {
      if (&entry.info == &info && owner.empty()) return info;
      if (equal == nullptr && entry.info == info && entry.owner == owner) equal = &entry;
    }
    return equal != nullptr ? equal->info : entries_.emplace_back(Entry{info, owner}).info;
  }
  /** Empty for what is no entry. Entries stay as they are, so the reference is good without the lock. */
  const std::string& owner_of(const MemoryInfo& info) {
    static const auto* const kNobody = new std::string;
    std::lock_guard lock(mutex_);
    auto found = std::ranges::find_if(entries_, [&](const Entry& entry) { return &entry.info == &info; });
    return found == entries_.end() ? *kNobody : found->owner;
  }

 private:
  struct Entry {
    MemoryInfo info;
    std::string owner;
  };
  std::mutex mutex_;
  std::deque<Entry> entries_;
};

}  // namespace

const MemoryInfo& interned(const MemoryInfo& info) { return KnownMemories::instance().find_or_add(info, {}); }

const MemoryInfo& interned(const MemoryInfo& info, const std::string& owner) {
  return KnownMemories::instance().find_or_add(info, owner);
}

bool same_device(const MemoryInfo& a, const MemoryInfo& b) {
  if (&a == &b) return true;
  if (!(a.device == b.device)) return false;
  const std::string& owner = KnownMemories::instance().owner_of(a);
  const std::string& other = KnownMemories::instance().owner_of(b);
  return owner.empty() || other.empty() || owner == other;
}

}  // namespace ortolan::tensor
