// Kernels compiled from their texts, or loaded from what was compiled before.
#pragma once

#include <array>

#include "cuda/context.h"
#include "gpu/kernels/kernel_constants.h"

namespace ortolan::gpu::cuda {

class Compiler;

class CudaKernel : public Kernel {
 public:
  /** Throws kCompile with the compiler's words or where the device has no such large groups, kInternal where there is
   * no such kernel or constant. */
  CudaKernel(std::shared_ptr<Context> context, const KernelSpec& spec, std::span<const std::byte> binary);

  std::vector<std::byte> binary() const override;
  bool was_compiled() const override { return was_compiled_; }

  const std::string& name() const { return name_; }
  /** Of a group, by axis. */
  const std::array<unsigned, 2>& group_size() const { return group_size_; }
  size_t buffers() const { return buffers_; }
  CUfunction get() const { return function_; }

 private:
  void load(std::span<const std::byte> image);
  void make(const std::vector<DeclaredConstant>& constants);
  void compile(const Compiler& compiler, const std::vector<std::string>& options);
  /** Gives the driver's code. */
  CUresult take(std::vector<std::byte> image);
  /** Also of what is not loaded yet: what the device alone says. */
  void check_group() const;

  std::shared_ptr<Context> context_;
  std::string name_;
  size_t buffers_ = 0;
  std::array<unsigned, 2> group_size_;
  std::vector<std::byte> image_;  // machine code or PTX
  ModuleHandle module_;
  CUfunction function_ = nullptr;
  bool was_compiled_ = false;
};

}  // namespace ortolan::gpu::cuda
