// Conv for all floating-point types.
#include "cpu/convolution/conv.h"

#include "runtime/kernels/kernel_registry.h"

namespace ortolan::cpu::onnx {
namespace {

constexpr KernelRow kRows[] = {
    {"", "Conv", 1, kLatest, make_kernel<Conv>, {{0, kFloatTypes}}},
};

}  // namespace

extern const KernelTable conv_rows;
const KernelTable conv_rows(kRows);
}  // namespace ortolan::cpu::onnx
