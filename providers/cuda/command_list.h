// Recorded launches, and the graph of them that replays start at once.
#pragma once

#include "cuda/cublas.h"
#include "cuda/kernel.h"
#include "cuda/memory.h"

namespace ortolan::gpu::cuda {

constexpr size_t kMostParamBytes = 128;

/** A launch as the driver takes it. */
struct RecordedLaunch {
  std::shared_ptr<const Kernel> kernel;
  CUfunction function;
  std::array<unsigned, 3> groups;
  std::array<unsigned, 2> group_size;
  bool after_barrier;
  std::vector<CUdeviceptr> buffers;
  std::array<std::byte, kMostParamBytes> params;
  const CublasProduct* product = nullptr;  // instead of a kernel
  std::vector<void*> arguments;            // the addresses of buffers and params

  const std::string& name() const { return product ? product->name() : static_cast<const CudaKernel&>(*kernel).name(); }
  KernelNodeParams node();
};

class CudaCommandList : public CommandList {
 public:
  /** Throws kInternal where a launch does not fit its kernel: number of buffers, their offsets, the parameters, groups.
   */
  CudaCommandList(std::shared_ptr<Context> context, const std::vector<Launch>& launches);

  /** Sets the addresses of external buffers that differ from those of the last call. */
  void bind(std::span<const BufferRange> externals);
  /** Queues all launches; from the second time on, as one graph. */
  void run(CUstream stream);
  /** Queues launch i. */
  void launch(size_t i, CUstream stream);
  size_t launches() const { return launches_.size(); }

 private:
  /** Where an external buffer is an argument. */
  struct ExternalUse {
    size_t launch, argument;
    BufferRange part;  // of the external buffer
  };
  struct External {
    CUdeviceptr address = 0;
    size_t bytes = 0;
    bool is_bound = false;
    std::vector<ExternalUse> uses;
  };

  void record(const Launch& launch);
  RecordedLaunch recorded(const Launch& launch) const;
  cublasStatus_t start(const RecordedLaunch& product, CUstream stream) const;
  /** Throws what the library says. */
  void check_product(const RecordedLaunch& product, cublasStatus_t code) const;
  /** What the library starts for a product, as a graph. */
  GraphHandle captured(const RecordedLaunch& launch);
  void reserve_workspace(const CublasProduct& product);
  void rebind(size_t i, std::span<const BufferRange> externals);
  /** Makes the graph, or brings the one there is to the present addresses. */
  void prepare_graph();
  void make_graph();
  CUgraphNode add_node(RecordedLaunch& launch, const std::vector<CUgraphNode>& before);
  bool update_graph();
  bool update_node(size_t i);

  std::shared_ptr<Context> context_;
  std::vector<RecordedLaunch> launches_;
  std::vector<External> externals_;
  std::unique_ptr<CudaBuffer> workspace_;  // of products, which run one after another, also in the graph
  GraphHandle graph_;
  GraphExecHandle exec_;
  std::vector<CUgraphNode> nodes_;  // by launch
  std::vector<size_t> changed_;     // launches that are not as in the graph; may name one twice
  bool has_run_ = false;
};

}  // namespace ortolan::gpu::cuda
