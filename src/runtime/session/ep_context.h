// Compiled models: models in which EPContext nodes stand for what execution providers compiled. Writing them, and what
// must hold of those that are read.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/providers/provider_factory.h"
#include "runtime/session/session_options.h"
#include "tensor/external_place.h"

namespace ortolan::runtime {
using namespace graph;

/** What happens when the providers compiled nothing that an EPContext node could hold. */
enum class NothingCompiled { kWriteAnyway, kSkip, kFail };

/** Where a compiled model goes, and how. */
struct CompiledOutput {
  std::string path;  // of the file; empty: that of the source with _ctx before its ending
  std::function<void(std::span<const std::byte> piece, uint64_t total)> write;  // gets the model in place of a file
  bool overwrite = true;
  NothingCompiled nothing_compiled = NothingCompiled::kWriteAnyway;
  std::string external_file;  // beside the model, for initializers of at least so many bytes; empty: all in the model
  size_t external_threshold = 0;
  /** Asked for each initializer instead, where it is set: its place outside the model, whose bytes are not written. */
  std::function<std::optional<tensor::ExternalPlace>(const std::string& name, const tensor::Tensor& value)> place;
};

/** What the session entries ep.context_* ask for; nothing unless ep.context_enable is 1. */
std::optional<CompiledOutput> compiled_output_of(const SessionOptions& options);
/** The file that a compiled model goes to. Throws when neither the output nor the source tells, when it is a folder,
   and when it is there already but must not be replaced. */
std::string compiled_path(const CompiledOutput& output, const std::string& source_path);

/** Writes a model whose fused nodes have an EPContext node each. `metadata` is added to the model's. Throws kEpFail
   when a provider fused nodes without giving such a node. */
void write_compiled_model(const Model& model, std::span<const std::unique_ptr<CustomOperator>> operators,
                          const CompiledOutput& output, std::vector<std::pair<std::string, std::string>> metadata,
                          const Logger& logger);

/** The key of the metadata that a provider's compatibility info has in a compiled model. */
std::string compatibility_key(std::string_view provider);
/** What a model's metadata has for the provider; NULL for none. */
const std::string* find_compatibility_info(std::span<const std::pair<std::string, std::string>> metadata,
                                           std::string_view provider);
/** Throws kFail when the provider cannot run what it once compiled for the model, or, where the
    session entry session.fail_on_suboptimal_compiled_model says so, when it had better compile it anew. */
void check_compatibility(const Model& model, const ProviderFactory& factory, const SessionOptions& options,
                         const Logger& logger);

bool is_ep_context(const Node& node);
/** Checks the files that EPContext nodes name: within the model's folder, or for a model from bytes that of the session
    entry ep.context_file_path, and without following links. */
void check_context_files(const Model& model, const SessionOptions& options);
/** Puts what the options' function gives into the EPContext nodes that name their data, as if it had always been there:
    providers then need no file. Nothing where the options have no function. */
void read_context_data(Model& model, const SessionOptions& options);
/** What to do about an EPContext node that no provider takes. */
std::string advice_for_unclaimed(const Node& ep_context);

}  // namespace ortolan::runtime
