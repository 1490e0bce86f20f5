// The instruction sets of the kernels in use, from their tables.
#include "cpu/kernels/instruction_sets.h"

#include "cpu/kernels/kernel_table.h"
#include "cpu/kernels/products/gemm_f32_kernels.h"
#include "cpu/kernels/quantised/gemm_int8_kernels.h"

namespace ortolan::cpu::kernels {

const char* float_isa() noexcept { return base::isa_name(of_plain_vectors(*kernels().gemm_f32).isa); }
const char* product_isa() noexcept { return base::isa_name(kernels().gemm_f32->isa); }
const char* byte_isa() noexcept { return base::isa_name(kernels().gemm_int8->isa); }
const char* highest_isa() noexcept { return base::isa_name(kernels().isa); }
const char* plain_isa() noexcept { return base::isa_name(base::IsaLevel::kGeneric); }

}  // namespace ortolan::cpu::kernels
