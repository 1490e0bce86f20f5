// The instruction sets of the kernels in use, by name, for what reports on them.
#pragma once

namespace ortolan::cpu::kernels {

/** As base::isa_name gives it: of fp32 loops and fp64 products, of fp32 products, and of products of bytes. */
const char* float_isa() noexcept;
const char* product_isa() noexcept;
const char* byte_isa() noexcept;
/** The highest level that kernels may use. */
const char* highest_isa() noexcept;
/** Of what is plain C++ for every processor. */
const char* plain_isa() noexcept;

}  // namespace ortolan::cpu::kernels
