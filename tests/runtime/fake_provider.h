// A provider for tests: memory that the CPU cannot touch, queues that put work off, nodes claimed as a test says.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "runtime/providers/execution_provider.h"
#include "runtime/providers/provider_factory.h"

namespace ortolan::runtime {

/** Device memory whose addresses lie in a range without access rights; the bytes are kept elsewhere. */
class OpaqueMemory final : public Allocator {
 public:
  /** Memory of provider `owner`; nobody's by default. */
  explicit OpaqueMemory(int32_t device, const std::string& owner = "", int allocator_type = 0);
  ~OpaqueMemory() override;
  void* allocate(size_t bytes) override;
  void free(void* block) noexcept override;
  const MemoryInfo& info() const override { return info_; }
  /** The bytes behind an address in a block; they live as long as the pointer. */
  std::shared_ptr<std::byte> bytes(const void* address) const;
  bool holds(const void* address) const;
  size_t blocks() const;
  size_t allocations() const { return allocations_; }

 private:
  const MemoryInfo& info_;
  std::byte* range_;
  size_t next_ = 0;
  std::atomic<size_t> allocations_ = 0;
  mutable std::mutex mutex_;
  std::map<const std::byte*, std::shared_ptr<std::byte[]>> blocks_;
};

/** Runs what was put in when somebody waits for it. One thread at a time may use it (checked). */
class LateStream final : public Stream {
 public:
  /** `host_waits` counts how often the host has waited. */
  LateStream(const MemoryInfo& memory, std::atomic<int>& host_waits) : memory_(memory), host_waits_(host_waits) {}
  const MemoryInfo& memory() const override { return memory_; }
  void wait(Stream* consumer) override;
  void end_run() override { drain(); }
  void put(std::function<void()> work);

 private:
  void drain();
  const MemoryInfo& memory_;
  std::atomic<int>& host_waits_;
  std::deque<std::function<void()>> work_;
  std::thread::id user_;
};

/** What a fake provider does; shared by all that one factory makes. */
struct FakeSettings {
  std::string type = "FakeExecutionProvider";
  int32_t device = 0;
  bool compile = false;
  bool streams = false;
  bool slow = false;  // kernels take long enough for other threads to wake up
  size_t least_island = 1;
  bool drop_constants = false;
  /** The group of a node, -1 to leave it. Without compile every node is a group of its own. */
  std::function<int(const Node&)> group_of = [](const Node&) { return 0; };
  std::shared_ptr<OpaqueMemory> memory;     // made by the factory where NULL
  std::shared_ptr<OpaqueMemory> constants;  // for constants alone; NULL: they are with the rest
  std::optional<uint64_t> free_bytes;
  std::shared_ptr<OpaqueMemory> peer;  // of another device that it copies from and to directly
  std::string fails_at;  // "make", "get_capability", "compile", "nothing compiled", "run start", "run end"
  mutable std::atomic<int> runs_started = 0, runs_ended = 0;
  std::atomic<int> host_waits = 0;  // for its queues
};

/** Takes Add, Mul, Tanh and Identity of floats. */
std::shared_ptr<const ProviderFactory> fake_factory(std::shared_ptr<FakeSettings> settings);

}  // namespace ortolan::runtime
