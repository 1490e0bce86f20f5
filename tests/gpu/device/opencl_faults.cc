// The functions, which forward to those of the library.
#include "opencl_faults.h"

#include <dlfcn.h>

#include <cstring>
#include <stdexcept>
#include <string>

namespace {

struct Watched {
  const char* name;
  int calls = 0;
  cl_int code = CL_SUCCESS;
  int works = 0;
};

Watched watched[] = {{"clGetPlatformIDs"},  {"clCreateContext"},        {"clCreateBuffer"},
                     {"clCreateSubBuffer"}, {"clSetKernelArg"},         {"clBuildProgram"},
                     {"clFinish"},          {"clEnqueueNDRangeKernel"}, {"clEnqueueMarkerWithWaitList"},
                     {"clWaitForEvents"},   {"clEnqueueWriteBuffer"},   {"clReleaseMemObject"},
                     {"clEnqueueMapBuffer"}};
cl_uint lie_about = 0;
uint64_t lie = 0;

Watched& find(const char* name) {
  for (Watched& function : watched) {
    if (std::strcmp(function.name, name) == 0) return function;
  }
  throw std::logic_error(std::string(name) + " is not watched");
}

/** The code of a call that fails; CL_SUCCESS where it is to do its work. */
cl_int count(const char* name) {
  Watched& function = find(name);
  function.calls++;
  return function.code != CL_SUCCESS && function.works-- <= 0 ? function.code : CL_SUCCESS;
}

template <class Function>
Function* library(const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

template <class Function, class... Arguments>
cl_int forward(const char* name, Function* self, Arguments... arguments) {
  cl_int code = count(name);
  return code != CL_SUCCESS ? code : library(name, self)(arguments...);
}

/** For functions that give an object and tell the code through their last argument. */
template <class Function, class... Arguments>
auto forward_object(const char* name, Function* self, cl_int* code_out, Arguments... arguments)
    -> decltype(self(arguments..., code_out)) {
  cl_int code = count(name);
  if (code == CL_SUCCESS) return library(name, self)(arguments..., code_out);
  *code_out = code;
  return nullptr;
}

}  // namespace

extern "C" {

cl_int clGetPlatformIDs(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  return forward("clGetPlatformIDs", &clGetPlatformIDs, entries, platforms, count);
}
cl_int clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t bytes, void* value, size_t* bytes_out) {
  if (what != lie_about || value == nullptr) {
    return library("clGetDeviceInfo", &clGetDeviceInfo)(device, what, bytes, value, bytes_out);
  }
  std::memcpy(value, &lie, bytes < sizeof lie ? bytes : sizeof lie);
  return CL_SUCCESS;
}
cl_int clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what, size_t bytes,
                                void* value, size_t* bytes_out) {
  if (what != lie_about || value == nullptr) {
    return library("clGetKernelWorkGroupInfo", &clGetKernelWorkGroupInfo)(kernel, device, what, bytes, value,
                                                                          bytes_out);
  }
  std::memcpy(value, &lie, bytes < sizeof lie ? bytes : sizeof lie);
  return CL_SUCCESS;
}
cl_context clCreateContext(const cl_context_properties* properties, cl_uint count, const cl_device_id* devices,
                           void (*notify)(const char*, const void*, size_t, void*), void* data, cl_int* code) {
  return forward_object("clCreateContext", &clCreateContext, code, properties, count, devices, notify, data);
}
cl_mem clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void* data, cl_int* code) {
  return forward_object("clCreateBuffer", &clCreateBuffer, code, context, flags, bytes, data);
}
cl_mem clCreateSubBuffer(cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type type, const void* info,
                         cl_int* code) {
  return forward_object("clCreateSubBuffer", &clCreateSubBuffer, code, buffer, flags, type, info);
}
cl_int clReleaseMemObject(cl_mem memory) { return forward("clReleaseMemObject", &clReleaseMemObject, memory); }
cl_int clSetKernelArg(cl_kernel kernel, cl_uint index, size_t bytes, const void* value) {
  return forward("clSetKernelArg", &clSetKernelArg, kernel, index, bytes, value);
}
cl_int clBuildProgram(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                      void (*notify)(cl_program, void*), void* data) {
  return forward("clBuildProgram", &clBuildProgram, program, count, devices, options, notify, data);
}
/** Libraries that queue kernels find it too. */
__attribute__((visibility("default"))) cl_int clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel,
                                                                     cl_uint dimensions, const size_t* offset,
                                                                     const size_t* items, const size_t* group,
                                                                     cl_uint count, const cl_event* events,
                                                                     cl_event* event) {
  return forward("clEnqueueNDRangeKernel", &clEnqueueNDRangeKernel, queue, kernel, dimensions, offset, items, group,
                 count, events, event);
}
cl_int clEnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocks, size_t offset, size_t bytes,
                            const void* data, cl_uint count, const cl_event* events, cl_event* event) {
  return forward("clEnqueueWriteBuffer", &clEnqueueWriteBuffer, queue, buffer, blocks, offset, bytes, data, count,
                 events, event);
}
void* clEnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool wait, cl_map_flags flags, size_t offset,
                         size_t bytes, cl_uint events, const cl_event* event, cl_event* event_out, cl_int* code_out) {
  return forward_object("clEnqueueMapBuffer", &clEnqueueMapBuffer, code_out, queue, memory, wait, flags, offset, bytes,
                        events, event, event_out);
}
cl_int clEnqueueMarkerWithWaitList(cl_command_queue queue, cl_uint count, const cl_event* events, cl_event* event) {
  return forward("clEnqueueMarkerWithWaitList", &clEnqueueMarkerWithWaitList, queue, count, events, event);
}
cl_int clWaitForEvents(cl_uint count, const cl_event* events) {
  return forward("clWaitForEvents", &clWaitForEvents, count, events);
}
cl_int clFinish(cl_command_queue queue) { return forward("clFinish", &clFinish, queue); }

}  // extern "C"

namespace ortolan::gpu {

FailingCall::FailingCall(const char* function, cl_int code, int works) : function_(function) {
  find(function).code = code;
  find(function).works = works;
}
FailingCall::~FailingCall() { find(function_).code = CL_SUCCESS; }

DeviceLie::DeviceLie(cl_uint what, uint64_t value) {
  lie_about = what;
  lie = value;
}
DeviceLie::~DeviceLie() { lie_about = 0; }

int calls_of(const char* function) { return find(function).calls; }

}  // namespace ortolan::gpu
