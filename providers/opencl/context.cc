// Opens devices, and remembers that one is lost.
#include "opencl/context.h"

namespace ortolan::gpu::opencl {
namespace {

ContextHandle open(const FoundDevice& found) {
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM,
                                              reinterpret_cast<cl_context_properties>(found.platform), 0};
  cl_int code = CL_SUCCESS;
  ContextHandle context(clCreateContext(properties, 1, &found.device, nullptr, nullptr, &code));
  check(code, "clCreateContext", [&] { return "a context on device '" + found.traits.name + "'"; });
  return context;
}

}  // namespace

Context::Context(const FoundDevice& found) : traits_(found.traits), device_(found.device), context_(open(found)) {}

void Context::fail(cl_int code, ErrorKind kind, const char* function, const std::string& asked) {
  if (kind == ErrorKind::kDeviceLost) lost_ = true;
  throw error_of(code, kind, function, asked + " on device '" + traits_.name + "'");
}

void Context::add(cl_command_queue queue) {
  std::lock_guard lock(mutex_);
  queues_.insert(queue);
}

void Context::remove(cl_command_queue queue) {
  std::lock_guard lock(mutex_);
  queues_.erase(queue);
}

std::unique_lock<std::shared_mutex> Context::quiet() {
  std::unique_lock quiet(quiet_);
  std::lock_guard lock(mutex_);
  for (cl_command_queue queue : queues_) clFinish(queue);  // who waits for the work learns of its failure
  return quiet;
}

void Context::fail_as_lost() const {
  throw Error(ErrorKind::kDeviceLost,
              "opencl: device '" + traits_.name +
                  "' was lost in an earlier call; make the sessions on it anew, or choose another");
}

}  // namespace ortolan::gpu::opencl
