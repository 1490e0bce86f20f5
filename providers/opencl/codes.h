// What OpenCL's error codes are called and mean.
#pragma once

#include <CL/cl.h>

#include <string>

#include "gpu/device/error.h"

namespace ortolan::gpu::opencl {

/** As CL/cl.h calls it, with its number. */
std::string code_name(cl_int code);

ErrorKind kind_of(cl_int code);

/** The error of a call: `asked` says what it was to do, with its values. */
Error error_of(cl_int code, ErrorKind kind, const char* function, const std::string& asked);

/** Throws where the code is not CL_SUCCESS. `asked` is called for the words of error_of. */
void check(cl_int code, const char* function, auto&& asked) {
  if (code != CL_SUCCESS) throw error_of(code, kind_of(code), function, asked());
}

}  // namespace ortolan::gpu::opencl
