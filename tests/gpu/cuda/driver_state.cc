// Memory and streams of the stand-in driver.
#include "driver_state.h"

#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

namespace ortolan::gpu::cuda {
namespace {

constexpr size_t kAddresses = size_t{1} << 40;
constexpr size_t kAlignment = 512;
constexpr unsigned kNothingWritten = 0x7fc0dead;  // a NaN

size_t number_in(const char* variable, size_t fallback) {
  const char* text = std::getenv(variable);
  return text == nullptr ? fallback : std::strtoull(text, nullptr, 10);
}

/** A range of addresses that no access survives. */
CUdeviceptr first_address() {
  void* range = mmap(nullptr, kAddresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return reinterpret_cast<CUdeviceptr>(range) + kAlignment;
}

std::shared_ptr<std::byte[]> fresh_memory(size_t bytes) {
  std::shared_ptr<std::byte[]> memory(new std::byte[bytes]);
  for (size_t i = 0; i + sizeof kNothingWritten <= bytes; i += sizeof kNothingWritten) {
    std::memcpy(memory.get() + i, &kNothingWritten, sizeof kNothingWritten);
  }
  return memory;
}

}  // namespace

DriverState& DriverState::get() {
  static auto* one = new DriverState;
  return *one;
}

DriverState::DriverState()
    : devices(static_cast<int>(number_in("ORTOLAN_STANDIN_DEVICES", 1))),
      memory_bytes(number_in("ORTOLAN_STANDIN_MEMORY", size_t{4} << 30)) {
  for (int i = 0; i < devices; i++) contexts.push_back({i});
}

int DriverState::capability() { return static_cast<int>(number_in("ORTOLAN_STANDIN_CAPABILITY", 70)); }

CUdeviceptr DriverState::allocate(int device, size_t bytes) { return place(device, bytes, fresh_memory(bytes)); }

CUdeviceptr DriverState::place(int device, size_t bytes, std::shared_ptr<std::byte[]> memory) {
  static const CUdeviceptr first = first_address();
  CUdeviceptr address = first;
  for (const auto& [start, block] : blocks) {  // the first gap
    if (start - address >= bytes + kAlignment) break;
    address = (start + block.bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  }
  blocks.emplace(address, DeviceBlock{bytes, device, std::move(memory)});
  bytes_in_use += bytes;
  return address;
}

std::map<CUdeviceptr, DeviceBlock>::iterator DriverState::find(CUdeviceptr address) {
  auto block = blocks.upper_bound(address);
  if (block == blocks.begin()) return blocks.end();
  --block;
  return address - block->first <= block->second.bytes ? block : blocks.end();
}

std::byte* DriverState::memory(CUdeviceptr address, size_t bytes) {
  auto block = find(address);
  if (block == blocks.end() || bytes > block->second.bytes - (address - block->first)) return nullptr;
  return block->second.memory.get() + (address - block->first);
}

void DriverState::add(CUstream stream, Work work) {
  if (work.reaches != nullptr) work.reaches->stream = stream;
  stream->work.push_back(std::move(work));
  stream->queued++;
}

CUresult DriverState::finish(CUstream stream) {
  while (!stream->work.empty() && sticky == kSuccess) step(stream);
  return sticky;
}

CUresult DriverState::reach(Moment& moment) {
  while (!moment.done && sticky == kSuccess && !moment.stream->work.empty()) step(moment.stream);
  return sticky;
}

void DriverState::step(CUstream stream) {
  Work work = std::move(stream->work.front());
  stream->work.pop_front();
  if (work.waits_for != nullptr) reach(*work.waits_for);
  if (work.run != nullptr && sticky == kSuccess) sticky = work.run();
  if (work.reaches == nullptr) return;
  work.reaches->done = true;
  work.reaches->time = std::chrono::steady_clock::now().time_since_epoch().count();
}

}  // namespace ortolan::gpu::cuda
