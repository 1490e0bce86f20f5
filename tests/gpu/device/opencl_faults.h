// Functions of OpenCL that stand before the library's: they count, fail and lie where a test asks for it.
#pragma once

#include <CL/cl.h>

#include <cstdint>

namespace ortolan::gpu {

/** While it lives, the function gives the code instead of doing its work, after it has worked `works` times. */
class FailingCall {
 public:
  FailingCall(const char* function, cl_int code, int works = 0);
  ~FailingCall();
  FailingCall(const FailingCall&) = delete;
  FailingCall& operator=(const FailingCall&) = delete;

 private:
  const char* function_;
};

/** While it lives, every device says this number of itself, or of each kernel on it. */
class DeviceLie {
 public:
  DeviceLie(cl_uint what, uint64_t value);
  ~DeviceLie();
  DeviceLie(const DeviceLie&) = delete;
  DeviceLie& operator=(const DeviceLie&) = delete;
};

/** How often the function was called until now. */
int calls_of(const char* function);

}  // namespace ortolan::gpu
