// Products by cuBLASLt, NVIDIA's library of products, where it is installed: it is opened at run time.
#pragma once

#include "cuda/memory.h"

namespace ortolan::gpu::cuda {

using cublasStatus_t = int;
using cublasLtHandle_t = struct cublasLtContext*;
using cublasLtMatmulDesc_t = struct cublasLtMatmulDescStruct*;
using cublasLtMatrixLayout_t = struct cublasLtMatrixLayoutStruct*;
using cublasLtMatmulPreference_t = struct cublasLtMatmulPreferenceStruct*;

/** cublasLtMatmulHeuristicResult_t: a way to do a product. */
struct CublasWay {
  uint64_t algorithm[8];
  size_t workspace_bytes;
  cublasStatus_t state;
  float waves;
  int reserved[4];
};

struct CublasFunctions {
  cublasStatus_t (*cublasLtCreate)(cublasLtHandle_t* handle);
  cublasStatus_t (*cublasLtDestroy)(cublasLtHandle_t handle);
  size_t (*cublasLtGetVersion)();
  cublasStatus_t (*cublasLtMatmulDescCreate)(cublasLtMatmulDesc_t* desc, int compute_type, int scale_type);
  cublasStatus_t (*cublasLtMatmulDescSetAttribute)(cublasLtMatmulDesc_t desc, int attribute, const void* value,
                                                   size_t bytes);
  cublasStatus_t (*cublasLtMatmulDescDestroy)(cublasLtMatmulDesc_t desc);
  cublasStatus_t (*cublasLtMatrixLayoutCreate)(cublasLtMatrixLayout_t* layout, int type, uint64_t rows,
                                               uint64_t columns, int64_t step);
  cublasStatus_t (*cublasLtMatrixLayoutSetAttribute)(cublasLtMatrixLayout_t layout, int attribute, const void* value,
                                                     size_t bytes);
  cublasStatus_t (*cublasLtMatrixLayoutDestroy)(cublasLtMatrixLayout_t layout);
  cublasStatus_t (*cublasLtMatmulPreferenceCreate)(cublasLtMatmulPreference_t* preference);
  cublasStatus_t (*cublasLtMatmulPreferenceSetAttribute)(cublasLtMatmulPreference_t preference, int attribute,
                                                         const void* value, size_t bytes);
  cublasStatus_t (*cublasLtMatmulPreferenceDestroy)(cublasLtMatmulPreference_t preference);
  cublasStatus_t (*cublasLtMatmulAlgoGetHeuristic)(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc,
                                                   cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                                   cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                                   cublasLtMatmulPreference_t preference, int most, CublasWay* ways,
                                                   int* count);
  cublasStatus_t (*cublasLtMatmul)(cublasLtHandle_t handle, cublasLtMatmulDesc_t desc, const void* alpha, const void* a,
                                   cublasLtMatrixLayout_t a_layout, const void* b, cublasLtMatrixLayout_t b_layout,
                                   const void* beta, const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                                   cublasLtMatrixLayout_t d_layout, const uint64_t* algorithm, void* workspace,
                                   size_t workspace_bytes, CUstream stream);
};

/** The library, and its handle on a device. */
class Cublas : public ProductLibrary {
 public:
  /** NULL where there is no such library, or it does not work on the device. ORTOLAN_LIBCUBLASLT names another file. */
  static std::unique_ptr<Cublas> open(std::shared_ptr<Context> context);
  ~Cublas() override;

  const std::string& name() const override { return name_; }
  bool suits(const LibraryProduct& product) const override;
  std::shared_ptr<const Kernel> load(const LibraryProduct& product) override;

  const CublasFunctions& functions() const { return functions_; }
  cublasLtHandle_t handle() const { return handle_; }

 private:
  explicit Cublas(std::shared_ptr<Context> context) : context_(std::move(context)) {}

  std::shared_ptr<Context> context_;
  CublasFunctions functions_ = {};
  cublasLtHandle_t handle_ = nullptr;
  std::string name_;
};

/** A product with the way that the library chose for it. */
class CublasProduct : public Kernel {
 public:
  static constexpr size_t kMostWorkspace = size_t{32} << 20;
  CublasProduct(const Cublas& library, const LibraryProduct& product);
  ~CublasProduct() override;
  CublasProduct(const CublasProduct&) = delete;
  CublasProduct& operator=(const CublasProduct&) = delete;
  bool was_compiled() const override { return false; }

  /** Whether the library knows a way. */
  bool is_known() const { return is_known_; }
  const std::string& name() const { return library_.name(); }
  size_t workspace_bytes() const { return way_.workspace_bytes; }
  /** Gives the library's code. */
  cublasStatus_t enqueue(CUstream stream, const std::vector<CUdeviceptr>& matrices, CUdeviceptr workspace) const;

 private:
  cublasLtMatrixLayout_t layout_of(const LibraryProduct::Matrix& matrix, int64_t rows, int64_t columns);
  void choose_way();

  const Cublas& library_;
  const CublasFunctions& functions_;
  const LibraryProduct product_;
  cublasLtMatmulDesc_t desc_ = nullptr;
  cublasLtMatrixLayout_t a_ = nullptr, b_ = nullptr, c_ = nullptr;
  CublasWay way_ = {};
  bool is_known_ = false;
};

}  // namespace ortolan::gpu::cuda
