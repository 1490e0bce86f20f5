// Opens NVRTC and compiles with it.
#include "cuda/compiler.h"

#include <algorithm>
#include <memory>

#include "cuda/library.h"
#include "cuda/ready.h"
#include "gpu/device/error.h"

namespace ortolan::gpu::cuda {
namespace {

constexpr const char* kFiles[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so"};
[[noreturn]] void fail(const std::string& what) { throw Error(ErrorKind::kNoDevice, "cuda: " + what); }

}  // namespace

const char* const kInstallCompiler =
    "install NVIDIA's run-time compiler, the package libnvrtc12 (Debian and Ubuntu, non-free) or cuda-nvrtc (NVIDIA's "
    "repository), or name its library in ORTOLAN_LIBNVRTC (PyPI's nvidia-cuda-nvrtc has it)";

/** A program, with the calls on it that fail only where memory does. */
class Compiler::Program {
 public:
  Program(const Functions& functions, const std::string& file, const std::string& text) : functions_(functions) {
    check(functions.nvrtcCreateProgram(&program_, text.c_str(), file.c_str(), 0, nullptr, nullptr),
          "nvrtcCreateProgram");
  }
  ~Program() { functions_.nvrtcDestroyProgram(&program_); }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  nvrtcResult compile(const std::vector<std::string>& options) {
    std::vector<const char*> list;
    for (const std::string& option : options) list.push_back(option.c_str());
    return functions_.nvrtcCompileProgram(program_, static_cast<int>(list.size()), list.data());
  }
  std::string log() const {
    constexpr size_t kShownBytes = 2000;
    std::vector<std::byte> bytes = get(functions_.nvrtcGetProgramLogSize, functions_.nvrtcGetProgramLog, "a log");
    return std::string(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kShownBytes));
  }
  std::vector<std::byte> image(bool is_machine_code) const {
    return is_machine_code ? get(functions_.nvrtcGetCUBINSize, functions_.nvrtcGetCUBIN, "nvrtcGetCUBIN")
                           : get(functions_.nvrtcGetPTXSize, functions_.nvrtcGetPTX, "nvrtcGetPTX");
  }

 private:
  void check(nvrtcResult code, const char* function) const {
    if (code == 0) return;
    throw Error(ErrorKind::kInternal,
                std::string("cuda: ") + function + " says " + functions_.nvrtcGetErrorString(code));
  }
  std::vector<std::byte> get(nvrtcResult (*size)(nvrtcProgram, size_t*), nvrtcResult (*get)(nvrtcProgram, char*),
                             const char* function) const {
    size_t bytes = 0;
    check(size(program_, &bytes), function);
    std::vector<std::byte> result(bytes);
    check(get(program_, reinterpret_cast<char*>(result.data())), function);
    return result;
  }

  const Functions& functions_;
  nvrtcProgram program_ = nullptr;
};

const char* Compiler::find_functions(void* library, Functions& f) {
  const Symbol symbols[] = {
      symbol("nvrtcVersion", f.nvrtcVersion),
      symbol("nvrtcGetErrorString", f.nvrtcGetErrorString),
      symbol("nvrtcGetNumSupportedArchs", f.nvrtcGetNumSupportedArchs),
      symbol("nvrtcGetSupportedArchs", f.nvrtcGetSupportedArchs),
      symbol("nvrtcCreateProgram", f.nvrtcCreateProgram),
      symbol("nvrtcDestroyProgram", f.nvrtcDestroyProgram),
      symbol("nvrtcCompileProgram", f.nvrtcCompileProgram),
      symbol("nvrtcGetPTXSize", f.nvrtcGetPTXSize),
      symbol("nvrtcGetPTX", f.nvrtcGetPTX),
      symbol("nvrtcGetCUBINSize", f.nvrtcGetCUBINSize),
      symbol("nvrtcGetCUBIN", f.nvrtcGetCUBIN),
      symbol("nvrtcGetProgramLogSize", f.nvrtcGetProgramLogSize),
      symbol("nvrtcGetProgramLog", f.nvrtcGetProgramLog),
  };
  return find_symbols(library, symbols);
}

Compiler::Compiler() {
  void* library = nullptr;
  const std::string file = open_library(library, "ORTOLAN_LIBNVRTC", kFiles);
  if (file.empty()) fail(std::string("NVRTC is missing, which compiles kernels (libnvrtc.so.12); ") + kInstallCompiler);
  if (const char* missing = find_functions(library, functions_)) {
    fail(file + " has no function " + missing + ": it is older than CUDA 11.2; " + kInstallCompiler);
  }
  int major = 0, minor = 0, count = 0;
  functions_.nvrtcVersion(&major, &minor);
  name_ = "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
  functions_.nvrtcGetNumSupportedArchs(&count);
  capabilities_.resize(static_cast<size_t>(std::max(count, 0)));
  functions_.nvrtcGetSupportedArchs(capabilities_.data());
  std::sort(capabilities_.begin(), capabilities_.end());
  if (capabilities_.empty()) fail(name_ + " of " + file + " knows no GPU; " + kInstallCompiler);
}

const Compiler* Compiler::find() {
  static const std::unique_ptr<const Compiler> one = [] {
    try {
      return std::make_unique<const Compiler>();
    } catch (const Error&) {
      if (ready_texts().empty()) throw;
      return std::unique_ptr<const Compiler>();
    }
  }();
  return one.get();
}

std::string Compiler::target(int capability) const {
  auto above = std::upper_bound(capabilities_.begin(), capabilities_.end(), capability);
  if (above == capabilities_.begin()) {
    fail("a GPU of compute capability " + std::to_string(capability / 10) + "." + std::to_string(capability % 10) +
         " is older than those that " + name_ + " compiles for; an older NVRTC does, such as that of CUDA 11");
  }
  const int known = *(above - 1);
  return (known == capability ? "sm_" : "compute_") + std::to_string(known);
}

std::vector<std::byte> Compiler::compile(const std::string& file, const std::string& text, const std::string& target,
                                         const std::vector<std::string>& options) const {
  std::vector<std::string> all = {"-arch=" + target, "-std=c++17"};
  all.insert(all.end(), options.begin(), options.end());
  Program program(functions_, file, text);
  nvrtcResult code = program.compile(all);
  if (code == 0) return program.image(target.starts_with("sm_"));
  std::string words;
  for (const std::string& option : all) words += " " + option;
  throw Error(ErrorKind::kCompile, "cuda: nvrtcCompileProgram says " +
                                       std::string(functions_.nvrtcGetErrorString(code)) + ", asked for " + file +
                                       " with the options" + words + ", of which " + name_ + " says:\n" +
                                       program.log() + "\n; a newer NVRTC may help");
}

}  // namespace ortolan::gpu::cuda
