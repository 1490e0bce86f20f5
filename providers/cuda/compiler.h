// NVIDIA's run-time compiler NVRTC, which makes kernels of CUDA C++.
#pragma once

#include <string>
#include <vector>

#include "cuda/api.h"

namespace ortolan::gpu::cuda {

/** How to get one: the end of a sentence. */
extern const char* const kInstallCompiler;

/** Thread-safe. */
class Compiler {
 public:
  /** Opens the machine's. ORTOLAN_LIBNVRTC names another file. Throws kNoDevice, with what to install, where there is
   * none or it is too old. */
  Compiler();
  /** That which the first call finds, for the whole process; NULL where there is none and kernels are ready-made
   * (ready.h). Throws as above where they are not. */
  static const Compiler* find();

  /** With its version. */
  const std::string& name() const { return name_; }
  /** What it compiles for a GPU of compute capability `capability` (major * 10 + minor): machine code, sm_XX, where it
   * knows the GPU; else PTX, compute_XX, which the driver translates. */
  std::string target(int capability) const;
  /** Machine code or PTX with its end mark, by the target. Throws kCompile with the compiler's words. */
  std::vector<std::byte> compile(const std::string& file, const std::string& text, const std::string& target,
                                 const std::vector<std::string>& options) const;

 private:
  struct Functions {
    nvrtcResult (*nvrtcVersion)(int* major, int* minor);
    const char* (*nvrtcGetErrorString)(nvrtcResult code);
    nvrtcResult (*nvrtcGetNumSupportedArchs)(int* count);
    nvrtcResult (*nvrtcGetSupportedArchs)(int* capabilities);
    nvrtcResult (*nvrtcCreateProgram)(nvrtcProgram* program, const char* text, const char* name, int headers,
                                      const char* const* contents, const char* const* names);
    nvrtcResult (*nvrtcDestroyProgram)(nvrtcProgram* program);
    nvrtcResult (*nvrtcCompileProgram)(nvrtcProgram program, int count, const char* const* options);
    nvrtcResult (*nvrtcGetPTXSize)(nvrtcProgram program, size_t* bytes);
    nvrtcResult (*nvrtcGetPTX)(nvrtcProgram program, char* ptx);
    nvrtcResult (*nvrtcGetCUBINSize)(nvrtcProgram program, size_t* bytes);
    nvrtcResult (*nvrtcGetCUBIN)(nvrtcProgram program, char* cubin);
    nvrtcResult (*nvrtcGetProgramLogSize)(nvrtcProgram program, size_t* bytes);
    nvrtcResult (*nvrtcGetProgramLog)(nvrtcProgram program, char* log);
  };
  class Program;
  static const char* find_functions(void* library, Functions& functions);

  Functions functions_;
  std::string name_;
  std::vector<int> capabilities_;  // that it knows, ascending
};

}  // namespace ortolan::gpu::cuda
