// The rewrites of the basic level; each is described in the file of the same name.
#pragma once

#include "passes/pass.h"

namespace ortolan::passes {

bool take_constant_branches(Graph& graph, const PassContext& context);       // if_branch.cc
bool fold_constants(Graph& graph, const PassContext& context);               // constant_folding.cc
bool remove_no_ops(Graph& graph, const PassContext& context);                // no_ops.cc
bool move_transposes(Graph& graph, const PassContext& context);              // move_transposes.cc
bool join_pairs(Graph& graph, const PassContext& context);                   // pairs.cc
bool merge_common_subexpressions(Graph& graph, const PassContext& context);  // common_subexpressions.cc
bool fold_into_weights(Graph& graph, const PassContext& context);            // weight_scale.cc
bool join_matmul_add(Graph& graph, const PassContext& context);              // matmul_add.cc
bool remove_unused(Graph& graph, const PassContext& context);                // unused.cc

}  // namespace ortolan::passes
