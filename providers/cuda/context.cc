// Opens devices, and remembers that one is lost.
#include "cuda/context.h"

namespace ortolan::gpu::cuda {

Context::Context(const FoundDevice& found)
    : driver_(cuda::driver()), traits_(found.traits), device_(found.device), capability_(found.capability) {
  cuda::check(driver_, driver_.cuDevicePrimaryCtxRetain(&context_, device_), "cuDevicePrimaryCtxRetain",
              [&] { return "the context of device '" + traits_.name + "'"; });
}

Context::~Context() { driver_.cuDevicePrimaryCtxRelease(device_); }

Context::Entered::Entered(const Context& context) : context_(context) {
  context_.driver_.cuCtxPushCurrent(context_.context_);
}

Context::Entered::~Entered() {
  CUcontext left = nullptr;
  context_.driver_.cuCtxPopCurrent(&left);
}

void Context::fail(CUresult code, const char* function, const std::string& asked) {
  if (kind_of(code) == ErrorKind::kDeviceLost) lost_ = true;
  throw error_of(driver_, code, function, asked + " on device '" + traits_.name + "'");
}

void Context::fail_as_lost() const {
  throw Error(ErrorKind::kDeviceLost,
              "cuda: device '" + traits_.name +
                  "' was lost in an earlier call; start the process anew, or choose another device");
}

void Context::add(CUstream stream) {
  std::lock_guard lock(mutex_);
  streams_.insert(stream);
}

void Context::remove(CUstream stream) {
  std::lock_guard lock(mutex_);
  streams_.erase(streams_.find(stream));
}

void Context::finish_all() {
  std::lock_guard lock(mutex_);
  for (CUstream stream : streams_) driver_.cuStreamSynchronize(stream);
}

}  // namespace ortolan::gpu::cuda
