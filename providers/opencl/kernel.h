// Kernels compiled from their texts, or loaded from what was compiled before.
#pragma once

#include <array>

#include "opencl/context.h"

namespace ortolan::gpu::opencl {

class OpenClKernel : public Kernel {
 public:
  /** Throws kCompile with the compiler's words or where the device has no such large groups, kInternal where there is
   * no such kernel or constant. */
  OpenClKernel(std::shared_ptr<Context> context, const KernelSpec& spec, std::span<const std::byte> binary);

  std::vector<std::byte> binary() const override;
  bool was_compiled() const override { return was_compiled_; }

  const std::string& name() const { return name_; }
  /** Of a group, by axis. */
  const std::array<size_t, 3>& group_size() const { return group_size_; }
  /** Buffers and the parameter block. */
  cl_uint arguments() const { return arguments_; }
  /** Another instance with arguments of its own. */
  KernelHandle create() const;

 private:
  void load(std::span<const std::byte> binary, const std::string& options);
  void compile(const std::string& options);
  cl_uint count_arguments(cl_kernel kernel) const;
  void check_group(cl_kernel kernel) const;

  std::shared_ptr<Context> context_;
  std::string name_;
  std::array<size_t, 3> group_size_;
  ProgramHandle program_;
  cl_uint arguments_ = 0;
  bool was_compiled_ = false;
};

}  // namespace ortolan::gpu::opencl
