// Gemm for every type of the specification; 16-bit floats compute in float.
#include "cpu/products/gemm.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr TypeSet kTypes =
    kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;

constexpr KernelRow kRows[] = {
    {"", "Gemm", 1, kLatest, make_kernel<Gemm>, {{0, kTypes}}},
};

}  // namespace

extern const KernelTable gemm_rows;
const KernelTable gemm_rows(kRows);
}  // namespace ortolan::cpu::onnx
