// MatMul for every type of the specification; 16-bit floats compute in float.
#include "cpu/products/matmul.h"
#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr TypeSet kTypes =
    kFloatTypes | ElementType::kInt32 | ElementType::kInt64 | ElementType::kUInt32 | ElementType::kUInt64;

constexpr KernelRow kRows[] = {
    {"", "MatMul", 1, kLatest, make_kernel<MatMul>, {{0, kTypes}}},
};

}  // namespace

extern const KernelTable matmul_rows;
const KernelTable matmul_rows(kRows);
}  // namespace ortolan::cpu::onnx
