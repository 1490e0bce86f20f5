// The rewrites of the extended level; each is described in the file of the same name.
#pragma once

#include "passes/pass.h"

namespace ortolan::passes {

bool widen_halves(Graph& graph, const PassContext& context);              // widen_halves.cc
bool fuse_quantized(Graph& graph, const PassContext& context);            // quantized.cc
bool fold_dequantized(Graph& graph, const PassContext& context);          // constant_folding.cc
bool fuse_integer_products(Graph& graph, const PassContext& context);     // integer_product.cc
bool fuse_attention(Graph& graph, const PassContext& context);            // attention.cc
bool fuse_gelu(Graph& graph, const PassContext& context);                 // gelu.cc
bool fuse_gated_activations(Graph& graph, const PassContext& context);    // gated_activation.cc
bool fuse_layer_normalization(Graph& graph, const PassContext& context);  // layer_normalization.cc
bool fuse_bias(Graph& graph, const PassContext& context);                 // fused_sum.cc
bool fuse_residual(Graph& graph, const PassContext& context);             // fused_sum.cc
bool fuse_activations(Graph& graph, const PassContext& context);          // fused_activation.cc
bool fuse_conv_pairs(Graph& graph, const PassContext& context);           // conv_pair.cc
bool fuse_transposes(Graph& graph, const PassContext& context);           // transposed_operand.cc
bool fuse_ranges(Graph& graph, const PassContext& context);               // value_range.cc
bool fuse_elementwise_chains(Graph& graph, const PassContext& context);   // elementwise_chain.cc

}  // namespace ortolan::passes
