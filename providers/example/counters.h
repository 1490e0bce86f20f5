// What tests want to know of a provider: which objects live, and what happened how often and in which order.
#pragma once

#include <atomic>
#include <cstdint>

namespace ortolan::example {

enum class Live {
  kFactory,
  kProvider,
  kAllocator,
  kDataTransfer,
  kStream,
  kNotification,
  kCompiledGroup,
  kState,
  kKernel,
  kProfiler,
  kDeviceBlock,
  kHostBlock,
  kKinds
};

enum class Event {
  kRunStart,
  kRunEnd,
  kCompute,
  kFlush,
  kStreamRunEnd,
  kActivate,
  kWaitOnDevice,
  kWaitOnHost,
  kToDevice,
  kToHost,
  kOnDevice,
  kPrePack,
  kInitializationEnd,
  kDynamicOption,
  kProfile,
  kHostTensor,  // a tensor for the device lay on the host
  kConstant,    // a block for a constant was given
  kKinds
};

/** One for the library, which is never unloaded. Its address is in the metadata of the devices under kCountersKey, as a
 *  decimal number. */
struct Counters {
  std::atomic<int64_t> live[static_cast<int>(Live::kKinds)];
  std::atomic<int64_t> times[static_cast<int>(Event::kKinds)];
  std::atomic<int64_t> last[static_cast<int>(Event::kKinds)];  // when it happened last, by `clock`
  std::atomic<int64_t> clock;
};
constexpr const char* kCountersKey = "example.counters";

Counters& counters();

inline void note(Event event) {
  Counters& all = counters();
  all.times[static_cast<int>(event)]++;
  all.last[static_cast<int>(event)] = ++all.clock;
}

/** A base of objects that are counted while they live. */
template <Live kKind>
class Counted {
 public:
  Counted() { counters().live[static_cast<int>(kKind)]++; }
  ~Counted() { counters().live[static_cast<int>(kKind)]--; }
  Counted(const Counted&) = delete;
  Counted& operator=(const Counted&) = delete;
};

}  // namespace ortolan::example
