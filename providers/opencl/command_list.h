// Recorded launches: an instance of a kernel for each, with its arguments set, or a library's product.
#pragma once

#include "opencl/clblast.h"
#include "opencl/kernel.h"
#include "opencl/memory.h"

namespace ortolan::gpu::opencl {

/** A launch as it is queued. */
struct RecordedLaunch {
  std::shared_ptr<const Kernel> program;
  KernelHandle kernel;
  std::array<size_t, 3> items;  // of all groups
  std::array<size_t, 3> group_size;
  const std::string* name;
  const ClblastProduct* product = nullptr;  // instead of a kernel
  std::array<cl_mem, 3> matrices = {};      // of the product
};

class OpenClCommandList : public CommandList {
 public:
  /** Throws kInternal where a launch does not fit its kernel: number of buffers, their offsets, the parameters, groups.
   */
  OpenClCommandList(std::shared_ptr<Context> context, const std::vector<Launch>& launches);

  /** Sets the arguments of external buffers that differ from those of the last call; makes and sets nothing for others.
   */
  void bind(std::span<const BufferRange> externals);
  const std::vector<RecordedLaunch>& launches() const { return launches_; }

 private:
  /** Where an external buffer is an argument. */
  struct ExternalUse {
    size_t launch;
    cl_uint argument;
    BufferRange part;  // of the external buffer
    BoundRange bound;
  };
  struct External {
    uint64_t block = 0;  // the number of what is bound; 0: nothing
    size_t offset = 0, bytes = 0;
    std::vector<ExternalUse> uses;
  };

  void record(const Launch& launch);
  void record_binding(const Binding& binding, cl_uint argument);
  void set_argument(size_t launch, cl_uint argument, size_t bytes, const void* value);
  void set_buffer(size_t launch, cl_uint argument, const BoundRange& bound);
  void rebind(ExternalUse& use, const BufferRange& range);

  std::shared_ptr<Context> context_;
  std::vector<RecordedLaunch> launches_;
  std::vector<BoundRange> fixed_;
  std::vector<External> externals_;
};

}  // namespace ortolan::gpu::opencl
