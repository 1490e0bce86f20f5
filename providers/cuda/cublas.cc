// Opens cuBLASLt, and describes products to it.
#include "cuda/cublas.h"

#include <algorithm>

#include "cuda/library.h"

namespace ortolan::gpu::cuda {
namespace {

constexpr const char* kFiles[] = {"libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so.11"};

// Values of cuBLASLt's and CUDA's enumerations.
constexpr int kFloat32 = 0, kFloat16 = 2;
constexpr int kCompute32 = 68, kComputeTf32 = 77;
constexpr int kTransA = 3, kTransB = 4, kTurned = 1;
constexpr int kBatchCount = 5, kBatchOffset = 6;
constexpr int kMostWorkspaceBytes = 1, kAlignmentA = 5, kAlignmentB = 6, kAlignmentC = 7, kAlignmentD = 8;

constexpr int64_t kLeastSide = 16;        // of m, n and k
constexpr double kLeastWork = 1 << 21;    // multiplications of the stack
constexpr uint32_t kMostAlignment = 256;  // that buffers have

size_t bytes_of(const LibraryProduct& product) { return product.is_half ? 2 : 4; }

const char* find_functions(void* library, CublasFunctions& f) {
  const Symbol symbols[] = {
      symbol("cublasLtCreate", f.cublasLtCreate),
      symbol("cublasLtDestroy", f.cublasLtDestroy),
      symbol("cublasLtGetVersion", f.cublasLtGetVersion),
      symbol("cublasLtMatmulDescCreate", f.cublasLtMatmulDescCreate),
      symbol("cublasLtMatmulDescSetAttribute", f.cublasLtMatmulDescSetAttribute),
      symbol("cublasLtMatmulDescDestroy", f.cublasLtMatmulDescDestroy),
      symbol("cublasLtMatrixLayoutCreate", f.cublasLtMatrixLayoutCreate),
      symbol("cublasLtMatrixLayoutSetAttribute", f.cublasLtMatrixLayoutSetAttribute),
      symbol("cublasLtMatrixLayoutDestroy", f.cublasLtMatrixLayoutDestroy),
      symbol("cublasLtMatmulPreferenceCreate", f.cublasLtMatmulPreferenceCreate),
      symbol("cublasLtMatmulPreferenceSetAttribute", f.cublasLtMatmulPreferenceSetAttribute),
      symbol("cublasLtMatmulPreferenceDestroy", f.cublasLtMatmulPreferenceDestroy),
      symbol("cublasLtMatmulAlgoGetHeuristic", f.cublasLtMatmulAlgoGetHeuristic),
      symbol("cublasLtMatmul", f.cublasLtMatmul),
  };
  return find_symbols(library, symbols);
}

/** What divides the address of a matrix's first element, whose buffer lies at a multiple of the most. */
uint32_t alignment_of(const LibraryProduct::Matrix& matrix, size_t element_bytes) {
  uint64_t first = static_cast<uint64_t>(matrix.first) * element_bytes;
  return static_cast<uint32_t>(first == 0 ? kMostAlignment : std::min<uint64_t>(first & (~first + 1), kMostAlignment));
}

}  // namespace

std::unique_ptr<Cublas> Cublas::open(std::shared_ptr<Context> context) {
  void* library = nullptr;
  std::unique_ptr<Cublas> made(new Cublas(std::move(context)));
  if (open_library(library, "ORTOLAN_LIBCUBLASLT", kFiles).empty()) return nullptr;
  if (find_functions(library, made->functions_) != nullptr) return nullptr;
  auto entered = made->context_->enter();
  if (made->functions_.cublasLtCreate(&made->handle_) != 0) return nullptr;
  const size_t version = made->functions_.cublasLtGetVersion();
  const size_t thousand = version >= 100000 ? 10000 : 1000;  // of the first number, from 11.10 on
  made->name_ = "cuBLASLt " + std::to_string(version / thousand) + "." + std::to_string(version % thousand / 100);
  return made;
}

Cublas::~Cublas() {
  if (handle_ == nullptr) return;
  Context::Entered entered(*context_);
  functions_.cublasLtDestroy(handle_);
}

bool Cublas::suits(const LibraryProduct& p) const {
  double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
  return std::min({p.m, p.n, p.k}) >= kLeastSide && work * static_cast<double>(p.count) >= kLeastWork;
}

std::shared_ptr<const Kernel> Cublas::load(const LibraryProduct& product) {
  auto entered = context_->enter();
  auto made = std::make_shared<CublasProduct>(*this, product);
  return made->is_known() ? made : nullptr;
}

// The library knows columns: our matrices in rows are theirs turned, so that it makes C' = B' A'.
CublasProduct::CublasProduct(const Cublas& library, const LibraryProduct& product)
    : library_(library), functions_(library.functions()), product_(product) {
  const LibraryProduct& p = product_;
  const int compute_type = p.is_rounded && !p.is_half ? kComputeTf32 : kCompute32;
  if (functions_.cublasLtMatmulDescCreate(&desc_, compute_type, kFloat32) != 0) return;
  if (p.b.turned) functions_.cublasLtMatmulDescSetAttribute(desc_, kTransA, &kTurned, sizeof kTurned);
  if (p.a.turned) functions_.cublasLtMatmulDescSetAttribute(desc_, kTransB, &kTurned, sizeof kTurned);
  a_ = layout_of(p.a, p.m, p.k);
  b_ = layout_of(p.b, p.k, p.n);
  c_ = layout_of(p.c, p.m, p.n);
  if (a_ != nullptr && b_ != nullptr && c_ != nullptr) choose_way();
}

CublasProduct::~CublasProduct() {
  for (cublasLtMatrixLayout_t layout : {a_, b_, c_}) {
    if (layout != nullptr) functions_.cublasLtMatrixLayoutDestroy(layout);
  }
  if (desc_ != nullptr) functions_.cublasLtMatmulDescDestroy(desc_);
}

/** NULL where the library does not take it. */
cublasLtMatrixLayout_t CublasProduct::layout_of(const LibraryProduct::Matrix& matrix, int64_t rows, int64_t columns) {
  if (matrix.turned) std::swap(rows, columns);
  cublasLtMatrixLayout_t layout = nullptr;
  if (functions_.cublasLtMatrixLayoutCreate(&layout, product_.is_half ? kFloat16 : kFloat32,
                                            static_cast<uint64_t>(columns), static_cast<uint64_t>(rows),
                                            matrix.row) != 0) {
    return nullptr;
  }
  const auto count = static_cast<int32_t>(product_.count);
  functions_.cublasLtMatrixLayoutSetAttribute(layout, kBatchCount, &count, sizeof count);
  functions_.cublasLtMatrixLayoutSetAttribute(layout, kBatchOffset, &matrix.stack, sizeof matrix.stack);
  return layout;
}

void CublasProduct::choose_way() {
  cublasLtMatmulPreference_t preference = nullptr;
  if (functions_.cublasLtMatmulPreferenceCreate(&preference) != 0) return;
  auto prefer = [&](int what, auto value) {
    functions_.cublasLtMatmulPreferenceSetAttribute(preference, what, &value, sizeof value);
  };
  const size_t bytes = bytes_of(product_);
  prefer(kMostWorkspaceBytes, uint64_t{kMostWorkspace});
  prefer(kAlignmentA, alignment_of(product_.b, bytes));
  prefer(kAlignmentB, alignment_of(product_.a, bytes));
  prefer(kAlignmentC, alignment_of(product_.c, bytes));
  prefer(kAlignmentD, alignment_of(product_.c, bytes));
  int count = 0;
  cublasStatus_t code =
      functions_.cublasLtMatmulAlgoGetHeuristic(library_.handle(), desc_, b_, a_, c_, c_, preference, 1, &way_, &count);
  functions_.cublasLtMatmulPreferenceDestroy(preference);
  is_known_ = code == 0 && count > 0 && way_.state == 0;
}

cublasStatus_t CublasProduct::enqueue(CUstream stream, const std::vector<CUdeviceptr>& matrices,
                                      CUdeviceptr workspace) const {
  auto at = [&](size_t i, const LibraryProduct::Matrix& matrix) {
    return reinterpret_cast<void*>(matrices[i] + static_cast<CUdeviceptr>(matrix.first) * bytes_of(product_));
  };
  void* c = at(2, product_.c);
  return functions_.cublasLtMatmul(library_.handle(), desc_, &product_.alpha, at(1, product_.b), b_, at(0, product_.a),
                                   a_, &product_.beta, c, c_, c, c_, way_.algorithm, reinterpret_cast<void*>(workspace),
                                   way_.workspace_bytes, stream);
}

}  // namespace ortolan::gpu::cuda
