// The stand-in of NVIDIA's driver: its devices, memory, streams. Work waits in its stream until somebody waits for it,
// so that a result that is read too early is wrong every time.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "cuda/api.h"

namespace ortolan::gpu::cuda {

/** What a record of an event stands for; waits keep it when the event is recorded again or ends. */
struct Moment {
  bool done = false;
  CUstream stream = nullptr;
  int64_t time = 0;  // nanoseconds, of its end
};

struct Work {
  std::function<CUresult()> run;
  std::shared_ptr<Moment> reaches, waits_for;
};

struct CUctx_st {
  int device;
};
using Works = std::vector<std::function<CUresult()>>;
struct CUstream_st {
  std::shared_ptr<Works> captured;  // where what is queued goes, while a graph is made of it
  std::deque<Work> work;
  uint64_t queued = 0;
};
struct CUevent_st {
  bool timed;
  std::shared_ptr<Moment> moment;
};

/** A block of device memory: addresses that nobody can use, and the memory that kernels get. */
struct DeviceBlock {
  size_t bytes;
  int device;
  std::shared_ptr<std::byte[]> memory;
};

struct Watched {
  int calls = 0;
  CUresult code = kSuccess;
  int works = 0;
};

class DriverState {
 public:
  static DriverState& get();

  std::recursive_mutex mutex;
  bool started = false;
  CUresult sticky = kSuccess;
  std::string last_error;
  const int devices;
  const size_t memory_bytes;
  std::vector<CUctx_st> contexts;
  std::map<std::string, Watched> watched;
  std::map<int, int> lies;
  std::map<CUdeviceptr, DeviceBlock> blocks;
  size_t bytes_in_use = 0;
  std::set<CUstream> streams;

  DriverState();
  /** Of computing, of all devices: major * 10 + minor. May change. */
  static int capability();
  CUdeviceptr allocate(int device, size_t bytes);
  /** Gives memory an address of the device. */
  CUdeviceptr place(int device, size_t bytes, std::shared_ptr<std::byte[]> memory);
  /** The block that an address is in, or at whose end; blocks.end() where there is none. */
  std::map<CUdeviceptr, DeviceBlock>::iterator find(CUdeviceptr address);
  /** NULL where the bytes are not in one block. */
  std::byte* memory(CUdeviceptr address, size_t bytes);
  void add(CUstream stream, Work work);
  /** Does what is queued in a stream. Gives the sticky error. */
  CUresult finish(CUstream stream);
  CUresult reach(Moment& moment);

 private:
  void step(CUstream stream);
};

}  // namespace ortolan::gpu::cuda
