// OpenCL's objects with an owner.
#pragma once

#include <CL/cl.h>

#include <utility>

namespace ortolan::gpu::opencl {

/** Owns one reference to an object of OpenCL. */
template <class Object, auto kRelease>
class Handle {
 public:
  Handle() = default;
  explicit Handle(Object object) : object_(object) {}
  Handle(Handle&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Handle() {
    if (object_ != nullptr) kRelease(object_);
  }
  Object get() const { return object_; }

 private:
  Object object_ = nullptr;
};

using ContextHandle = Handle<cl_context, clReleaseContext>;
using QueueHandle = Handle<cl_command_queue, clReleaseCommandQueue>;
using MemoryHandle = Handle<cl_mem, clReleaseMemObject>;
using ProgramHandle = Handle<cl_program, clReleaseProgram>;
using KernelHandle = Handle<cl_kernel, clReleaseKernel>;
using EventHandle = Handle<cl_event, clReleaseEvent>;

}  // namespace ortolan::gpu::opencl
