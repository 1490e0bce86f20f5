// From a model that a caller has drafted to a core model.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "api/graph/model_drafts.h"

namespace ortolan::runtime {
struct SessionOptions;
}

namespace ortolan::api {

/** The version of the model format that built models have. */
inline constexpr int64_t kBuiltIrVersion = 13;

/** A core model of the draft, which stays as it is; the elements of its initializers are shared where they have an
    owner or are external. Throws with the reason when the draft is not a model. */
std::unique_ptr<graph::Model> build_model(const ModelDraft& draft, const runtime::SessionOptions& options);

/** Throws when the draft cannot be added to any model, or needs other versions of operator sets than this one. */
void check_draft(const graph::Model& model, const ModelDraft& draft);

/** Adds the draft's nodes and initializers to a model, and replaces inputs and outputs by those that it has. The model
    is spoilt when this throws. */
void apply_draft(graph::Model& model, const ModelDraft& draft, const runtime::SessionOptions& options);

}  // namespace ortolan::api
