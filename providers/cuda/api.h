// What we use of NVIDIA's driver interface and of its compiler NVRTC, by their own names. Written down here so that the
// build needs nothing of NVIDIA's. Functions that exist in several forms are the form that Driver loads.
#pragma once

#include <cstddef>

namespace ortolan::gpu::cuda {

using CUresult = int;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st*;
using CUmodule = struct CUmod_st*;
using CUfunction = struct CUfunc_st*;
using CUstream = struct CUstream_st*;
using CUevent = struct CUevent_st*;
using CUgraph = struct CUgraph_st*;
using CUgraphNode = struct CUgraphNode_st*;
using CUgraphExec = struct CUgraphExec_st*;
using CUexternalMemory = struct CUextMemory_st*;
using CUexternalSemaphore = struct CUextSemaphore_st*;

constexpr CUresult kSuccess = 0;
constexpr CUresult kOutOfMemory = 2;
constexpr CUresult kDeinitialized = 4;
constexpr CUresult kDeviceUnavailable = 46;
constexpr CUresult kNoDevice = 100;
constexpr CUresult kEccUncorrectable = 214;
constexpr CUresult kUnsupportedPtx = 222;
constexpr CUresult kIllegalAddress = 700;
constexpr CUresult kLaunchTimeout = 702;
constexpr CUresult kContextIsDestroyed = 709;
constexpr CUresult kAssert = 710;
constexpr CUresult kHardwareStackError = 714;
constexpr CUresult kLaunchFailed = 719;
constexpr CUresult kUnknown = 999;

enum CUdevice_attribute : int {
  kMaxThreadsPerBlock = 1,
  kMaxSharedMemoryPerBlock = 8,
  kMultiprocessorCount = 16,
  kComputeMode = 20,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
};
constexpr int kComputeModeProhibited = 2;

enum CUpointer_attribute : int { kPointerMemoryType = 2, kPointerDeviceOrdinal = 9 };
constexpr unsigned kMemoryTypeDevice = 2;

constexpr int kFunctionMaxThreadsPerBlock = 0;
constexpr unsigned kStreamNonBlocking = 1;
constexpr int kCaptureRelaxed = 2;
constexpr unsigned kEventDefault = 0, kEventDisableTiming = 2;

/** CUDA_KERNEL_NODE_PARAMS_v1. */
struct KernelNodeParams {
  CUfunction func;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z;
  unsigned shared_bytes;
  void** params;
  void** extra;
};

constexpr int kHandleOfDescriptor = 1, kTimelineOfDescriptor = 9;

/** What stands for an object of another API. */
union ExternalHandle {
  int descriptor;
  void* others[2];
};
/** CUDA_EXTERNAL_MEMORY_HANDLE_DESC. */
struct ExternalMemoryDescription {
  int type;
  ExternalHandle handle;
  unsigned long long bytes;
  unsigned flags;
  unsigned reserved[16];
};
/** CUDA_EXTERNAL_MEMORY_BUFFER_DESC. */
struct ExternalBufferDescription {
  unsigned long long offset, bytes;
  unsigned flags;
  unsigned reserved[16];
};
/** CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC. */
struct ExternalSemaphoreDescription {
  int type;
  ExternalHandle handle;
  unsigned flags;
  unsigned reserved[16];
};
/** CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS. */
struct ExternalSemaphoreWait {
  unsigned long long value, nv_sci, key;
  unsigned timeout;
  unsigned more[11];
  unsigned flags;
  unsigned reserved[16];
};
/** CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS. */
struct ExternalSemaphoreSignal {
  unsigned long long value, nv_sci, key;
  unsigned more[12];
  unsigned flags;
  unsigned reserved[16];
};

using nvrtcResult = int;
using nvrtcProgram = struct nvrtcProgram_st*;

}  // namespace ortolan::gpu::cuda
