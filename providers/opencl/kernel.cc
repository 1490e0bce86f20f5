// Makes programs from texts and binaries.
#include "opencl/kernel.h"

#include <algorithm>

#include "gpu/device/checks.h"
#include "gpu/kernels/kernel_texts.h"

namespace ortolan::gpu::opencl {
namespace {

std::string options_of(const std::vector<DeclaredConstant>& constants, int vector_width) {
  std::string options = "-cl-std=CL1.2 -DK_VW=" + std::to_string(vector_width);
  for (const auto& each : constants) options += " -D" + std::string(each.name) + "=" + std::to_string(each.value);
  return options;
}

/** What the compiler said last. */
std::string build_log(cl_program program, cl_device_id device) {
  constexpr size_t kMostBytes = size_t{1} << 20, kShownBytes = 2000;
  size_t bytes = 0;
  clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &bytes);
  std::string log(std::min(bytes, kMostBytes), '\0');
  if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, log.size(), log.data(), nullptr) != CL_SUCCESS)
    return "";
  log.resize(std::min(log.find('\0'), log.size()));
  return log.size() <= kShownBytes ? log : "..." + log.substr(log.size() - kShownBytes);
}

bool is_built(cl_program program, cl_device_id device, const std::string& options) {
  return clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr) == CL_SUCCESS;
}

/** NULL where the driver does not take it. */
ProgramHandle program_of_binary(Context& context, std::span<const std::byte> binary) {
  cl_device_id device = context.device();
  size_t bytes = binary.size();
  auto* data = reinterpret_cast<const unsigned char*>(binary.data());
  cl_int taken = CL_SUCCESS, code = CL_SUCCESS;
  ProgramHandle program(clCreateProgramWithBinary(context.get(), 1, &device, &bytes, &data, &taken, &code));
  return code == CL_SUCCESS && taken == CL_SUCCESS ? std::move(program) : ProgramHandle();
}

}  // namespace

OpenClKernel::OpenClKernel(std::shared_ptr<Context> context, const KernelSpec& spec, std::span<const std::byte> binary)
    : context_(std::move(context)), name_(spec.name) {
  std::vector<DeclaredConstant> constants = constants_of("opencl", spec);
  group_size_ = {static_cast<size_t>(constants[0].value), static_cast<size_t>(constants[1].value), 1};
  std::string options = options_of(constants, context_->traits().vector_width);
  if (!binary.empty()) load(binary, options);
  if (program_.get() == nullptr) compile(options);
  KernelHandle kernel = create();
  arguments_ = count_arguments(kernel.get());
  check_group(kernel.get());
}

void OpenClKernel::load(std::span<const std::byte> binary, const std::string& options) {
  ProgramHandle program = program_of_binary(*context_, binary);
  if (program.get() == nullptr || !is_built(program.get(), context_->device(), options)) return;
  cl_int code = CL_SUCCESS;
  KernelHandle kernel(clCreateKernel(program.get(), name_.c_str(), &code));
  if (code == CL_SUCCESS) program_ = std::move(program);
}

void OpenClKernel::compile(const std::string& options) {
  const std::string line = "#line 1 \"" + name_ + ".k\"\n";
  const char* parts[] = {kOpenClDialect, line.c_str(), find_kernel_text(name_)};
  auto asked = [&] { return "kernel " + name_ + " with the options " + options; };
  cl_int code = CL_SUCCESS;
  program_ = ProgramHandle(clCreateProgramWithSource(context_->get(), 3, parts, nullptr, &code));
  context_->check(code, "clCreateProgramWithSource", asked);
  cl_device_id device = context_->device();
  code = clBuildProgram(program_.get(), 1, &device, options.c_str(), nullptr, nullptr);
  context_->check(code, "clBuildProgram",
                  [&] { return asked() + ", whose compiler ends with:\n" + build_log(program_.get(), device) + "\n"; });
  was_compiled_ = true;
}

KernelHandle OpenClKernel::create() const {
  cl_int code = CL_SUCCESS;
  KernelHandle kernel(clCreateKernel(program_.get(), name_.c_str(), &code));
  context_->check(code, "clCreateKernel", [&] { return "kernel " + name_; });
  return kernel;
}

cl_uint OpenClKernel::count_arguments(cl_kernel kernel) const {
  cl_uint count = 0;
  cl_int code = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof count, &count, nullptr);
  context_->check(code, "clGetKernelInfo", [&] { return "the arguments of kernel " + name_; });
  return count;
}

void OpenClKernel::check_group(cl_kernel kernel) const {
  size_t items = group_size_[0] * group_size_[1], most = 0;
  clGetKernelWorkGroupInfo(kernel, context_->device(), CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
  const size_t devices = context_->traits().max_group_items;
  most = most == 0 ? devices : std::min(most, devices);
  if (items > most) {
    throw Error(ErrorKind::kCompile, "opencl: kernel " + name_ + " is to have groups of " + std::to_string(items) +
                                         " items, device '" + context_->traits().name + "' takes " +
                                         std::to_string(most) + " of it; choose a smaller WGX or WGY");
  }
}

std::vector<std::byte> OpenClKernel::binary() const {
  auto quiet = context_->quiet();
  size_t bytes = 0;
  if (clGetProgramInfo(program_.get(), CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, nullptr) != CL_SUCCESS) return {};
  std::vector<std::byte> binary(bytes);
  std::byte* data = binary.data();
  if (bytes == 0 || clGetProgramInfo(program_.get(), CL_PROGRAM_BINARIES, sizeof data, &data, nullptr) != CL_SUCCESS) {
    return {};
  }
  return binary;
}

}  // namespace ortolan::gpu::opencl
