// The stand-in driver's memory, streams and events. Device memory is at addresses that the host cannot use, fresh
// memory holds NaN, a block ends when it is freed, whatever is queued.
#include <algorithm>
#include <cstring>

#include "driver_calls.h"

namespace ortolan::gpu::cuda {

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return call_in_context("cuMemAlloc", [&](DriverState& state) {
    if (bytes == 0) return kInvalidValue;
    if (bytes > state.memory_bytes - state.bytes_in_use) return kOutOfMemory;
    *address = state.allocate(entered().back()->device, bytes);
    return kSuccess;
  });
}
CUresult cuMemFree_v2(CUdeviceptr address) {
  return call_in_context("cuMemFree", [&](DriverState& state) {
    auto block = state.blocks.find(address);
    if (block == state.blocks.end()) return kInvalidValue;
    state.bytes_in_use -= block->second.bytes;
    state.blocks.erase(block);
    return kSuccess;
  });
}
CUresult cuPointerGetAttribute(void* value, int attribute, CUdeviceptr address) {
  return call("cuPointerGetAttribute", [&](DriverState& state) {
    auto block = state.find(address);
    if (block == state.blocks.end() || address == block->first + block->second.bytes) return kInvalidValue;
    int number = attribute == kPointerMemoryType      ? static_cast<int>(kMemoryTypeDevice)
                 : attribute == kPointerDeviceOrdinal ? block->second.device
                                                      : 0;
    std::memcpy(value, &number, sizeof number);
    return kSuccess;
  });
}
// As the real driver does with memory that it does not know, the bytes are taken at once.
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return call_in_context("cuMemcpyHtoDAsync", [&](DriverState& state) {
    if (state.memory(to, bytes) == nullptr) return kInvalidValue;
    const auto* first = static_cast<const std::byte*>(from);
    return enqueue(state, stream, [&state, to, taken = std::vector<std::byte>(first, first + bytes)] {
      std::byte* target = state.memory(to, taken.size());
      if (target == nullptr) return kIllegalAddress;
      std::copy(taken.begin(), taken.end(), target);
      return kSuccess;
    });
  });
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return call_in_context("cuMemcpyDtoHAsync", [&](DriverState& state) {
    if (state.memory(from, bytes) == nullptr) return kInvalidValue;
    return enqueue(state, stream, [&state, to, from, bytes] {
      const std::byte* source = state.memory(from, bytes);
      if (source == nullptr) return kIllegalAddress;
      std::memcpy(to, source, bytes);
      return kSuccess;
    });
  });
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return call_in_context("cuMemcpyDtoDAsync", [&](DriverState& state) {
    if (state.memory(from, bytes) == nullptr || state.memory(to, bytes) == nullptr) return kInvalidValue;
    return enqueue(state, stream, [&state, to, from, bytes] {
      const std::byte* source = state.memory(from, bytes);
      std::byte* target = state.memory(to, bytes);
      if (source == nullptr || target == nullptr) return kIllegalAddress;
      std::memcpy(target, source, bytes);
      return kSuccess;
    });
  });
}

CUresult cuStreamCreate(CUstream* stream, unsigned) {
  return call_in_context("cuStreamCreate", [&](DriverState& state) {
    *stream = *state.streams.insert(new CUstream_st).first;
    return kSuccess;
  });
}
CUresult cuStreamDestroy_v2(CUstream stream) {
  return call("cuStreamDestroy", [&](DriverState& state) {
    state.finish(stream);
    for (Work& work : stream->work) {
      if (work.reaches != nullptr) work.reaches->done = true;
    }
    state.streams.erase(stream);
    delete stream;
    return kSuccess;
  });
}
CUresult cuStreamSynchronize(CUstream stream) {
  return call_in_context("cuStreamSynchronize", [&](DriverState& state) { return state.finish(stream); });
}
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned) {
  return call_in_context("cuStreamWaitEvent", [&](DriverState& state) {
    if (event->moment != nullptr && !event->moment->done) state.add(stream, {nullptr, nullptr, event->moment});
    return kSuccess;
  });
}
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return call_in_context("cuEventCreate", [&](DriverState&) {
    *event = new CUevent_st{(flags & kEventDisableTiming) == 0, nullptr};
    return kSuccess;
  });
}
CUresult cuEventDestroy_v2(CUevent event) {
  return call("cuEventDestroy", [&](DriverState&) { return delete event, kSuccess; });
}
CUresult cuEventRecord(CUevent event, CUstream stream) {
  return call_in_context("cuEventRecord", [&](DriverState& state) {
    event->moment = std::make_shared<Moment>();
    state.add(stream, {nullptr, event->moment, nullptr});
    return kSuccess;
  });
}
CUresult cuEventSynchronize(CUevent event) {
  return call_in_context("cuEventSynchronize", [&](DriverState& state) {
    return event->moment == nullptr ? kSuccess : state.reach(*event->moment);
  });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent begin, CUevent end) {
  constexpr CUresult kNotReady = 600;
  return call_in_context("cuEventElapsedTime", [&](DriverState&) {
    if (!begin->timed || !end->timed || begin->moment == nullptr || end->moment == nullptr) return kInvalidValue;
    if (!begin->moment->done || !end->moment->done) return kNotReady;
    *milliseconds = static_cast<float>(static_cast<double>(end->moment->time - begin->moment->time) / 1e6);
    return kSuccess;
  });
}

}  // extern "C"

}  // namespace ortolan::gpu::cuda
