// The activation that a pass, or a fused operator's attribute, attached to a product or convolution.
#pragma once

#include "cpu/kernels/elementwise/activation.h"
#include "runtime/kernels/kernel.h"

namespace ortolan::cpu {
using namespace runtime;

/** The activation of an ONNX operator's name ("Relu", "Clip", "Sigmoid", "HardSigmoid", …) with parameters in the order
    of that operator's attributes; missing ones take its defaults. Throws kNotImplemented for a name that has none. */
kernels::Activation activation_called(std::string_view name, std::span<const float> parameters);
/** Reads the string attribute `ortolan.activation` (or `activation`, of com.microsoft's fused operators) and the floats
    `ortolan.activation_params` (`activation_params`); identity where there is none. */
kernels::Activation fused_activation(const Node& node);
/** For a report on the node's kernel: " + Relu", or nothing where it has none. */
std::string activation_text(const Node& node);

}  // namespace ortolan::cpu
