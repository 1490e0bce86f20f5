// Forms that constant weights are packed into, found again by a name that states all that decides their bytes.
#pragma once

#include <string>
#include <type_traits>

#include "base/memory/packed_parts.h"
#include "base/threads/run_scope.h"
#include "cpu/elements/float_tensors.h"
#include "cpu/kernels/instruction_sets.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** The name of a form: the packer, what holds for the calling thread of instruction sets, precision and denormals, and
    each parameter. */
template <class... Parameters>
std::string form_name(std::string_view packer, const Parameters&... parameters) {
  std::string name = join(packer, " on ", kernels::highest_isa(), " ", base::name_of(base::fp32_precision()),
                          base::denormals_are_zero() ? " without denormals" : "");
  (base::append(name, join(" ", parameters)), ...);
  return name;
}

/** Constant weights as floats for a packer, which may be unaligned; where base::parts_are_kept(), a tensor that nobody
 * may read. */
Tensor floats_to_pack(const Tensor& weights);

/**
 * What pack(threads, weights, parameters...) makes of constant weights, made once for all nodes that ask for it in the
 * cache of `info`. `pack` captures nothing, so what it makes depends on the weights, their type and shape and the
 * parameters, which are its name in the cache beside `packer`. A parameter is anything that join() takes; what its text
 * leaves out must not change the result. Weights may be unaligned. A prepared model keeps what is made: see
 * base/memory/packed_parts.h for what `pack` has to heed.
 */
template <class Pack, class... Parameters>
auto pack_once(const KernelInfo& info, const Tensor& weights, std::string_view packer, Pack pack,
               const Parameters&... parameters) {
  static_assert(std::is_empty_v<Pack>, "all that decides the packed bytes must be a parameter");
  using Packed = decltype(pack(info.threads(), weights, parameters...));
  auto made = info.packed_weights().get(weights, form_name(packer, parameters...), [&]() -> std::shared_ptr<void> {
    return std::make_shared<Packed>(pack(info.threads(), weights, parameters...));
  });
  return std::static_pointer_cast<const Packed>(made);
}

}  // namespace ortolan::cpu
