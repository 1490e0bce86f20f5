// A library that stands in for NVRTC: what it makes of a text names the kernel and its constants, for the stand-in
// driver.
#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <string>
#include <vector>

#include "cuda/api.h"

namespace ortolan::gpu::cuda {

struct nvrtcProgram_st {
  std::string text, image, log;
};

namespace {

constexpr nvrtcResult kErrorCompilation = 6;

std::vector<int> capabilities() {
  const char* listed = std::getenv("ORTOLAN_STANDIN_ARCHS");
  std::istringstream text(listed == nullptr ? "90,50,52,60,61,70,75,80,86,89" : listed);
  std::vector<int> all;
  for (std::string one; std::getline(text, one, ',');) all.push_back(std::atoi(one.c_str()));
  return all;
}

/** The kernel that the text defines. */
std::string kernel_of(const std::string& text) {
  size_t head = text.find("\nK_KERNEL(");
  return head == std::string::npos ? "" : text.substr(head + 10, text.find(')', head) - head - 10);
}

/** Has the real compiler, where there is one, compile the same. */
class RealCompiler {
 public:
  RealCompiler() {
    if (const char* file = std::getenv("ORTOLAN_REAL_NVRTC")) library_ = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  }
  nvrtcResult compile(nvrtcProgram_st& program, int count, const char* const* options) const {
    if (library_ == nullptr) return 0;
    void* real = nullptr;
    call("nvrtcCreateProgram", &real, program.text.c_str(), "kernel.k", 0, nullptr, nullptr);
    nvrtcResult code = call("nvrtcCompileProgram", real, count, options);
    size_t bytes = 0;
    call("nvrtcGetProgramLogSize", real, &bytes);
    program.log.resize(bytes);
    call("nvrtcGetProgramLog", real, program.log.data());
    program.log.resize(std::strlen(program.log.c_str()));
    call("nvrtcDestroyProgram", &real);
    return code;
  }

 private:
  template <class... Arguments>
  nvrtcResult call(const char* name, Arguments... arguments) const {
    return reinterpret_cast<nvrtcResult (*)(Arguments...)>(dlsym(library_, name))(arguments...);
  }
  void* library_ = nullptr;
};

/** Reads the options; false where the log says what is wrong. */
bool make_image(nvrtcProgram_st& program, int count, const char* const* options) {
  std::string target, constants;
  for (int i = 0; i < count; i++) {
    std::string option = options[i];
    if (option.starts_with("-arch=")) target = option.substr(6);
    if (option.starts_with("-D")) constants += option.substr(2) + "\n";
    if (option.starts_with("-DWGX=-")) program.log = "error: the size of a group is negative: " + option;
  }
  program.image = "stand-in of NVRTC for " + target + " " + kernel_of(program.text) + "\n" + constants;
  return program.log.empty();
}

}  // namespace

extern "C" {

nvrtcResult nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 4;
  return 0;
}
const char* nvrtcGetErrorString(nvrtcResult code) {
  return code == 0 ? "NVRTC_SUCCESS" : code == kErrorCompilation ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}
nvrtcResult nvrtcGetNumSupportedArchs(int* count) {
  *count = static_cast<int>(capabilities().size());
  return 0;
}
nvrtcResult nvrtcGetSupportedArchs(int* archs) {
  std::vector<int> all = capabilities();
  std::copy(all.begin(), all.end(), archs);
  return 0;
}
nvrtcResult nvrtcCreateProgram(nvrtcProgram* program, const char* text, const char*, int, const char* const*,
                               const char* const*) {
  *program = new nvrtcProgram_st{text, "", ""};
  return 0;
}
nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  delete *program;
  *program = nullptr;
  return 0;
}
nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int count, const char* const* options) {
  static const RealCompiler real;
  if (!make_image(*program, count, options)) return kErrorCompilation;
  return real.compile(*program, count, options);
}
nvrtcResult nvrtcGetPTXSize(nvrtcProgram program, size_t* bytes) {
  *bytes = program->image.size() + 1;
  return 0;
}
nvrtcResult nvrtcGetPTX(nvrtcProgram program, char* ptx) {
  std::memcpy(ptx, program->image.c_str(), program->image.size() + 1);
  return 0;
}
nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* bytes) { return nvrtcGetPTXSize(program, bytes); }
nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* cubin) { return nvrtcGetPTX(program, cubin); }
nvrtcResult nvrtcGetProgramLogSize(nvrtcProgram program, size_t* bytes) {
  *bytes = program->log.size() + 1;
  return 0;
}
nvrtcResult nvrtcGetProgramLog(nvrtcProgram program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return 0;
}

}  // extern "C"

}  // namespace ortolan::gpu::cuda
