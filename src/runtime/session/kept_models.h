// Compiled models that sessions keep for later ones, in the folder of the session entry ortolan.compiled_model_folder.
#pragma once

#include <string>

#include "runtime/session/session_options.h"

namespace ortolan::graph {
struct Model;
}

namespace ortolan::runtime {

/** Whether the options ask for it. */
bool keeps_compiled_models(const SessionOptions& options);

/** The file for the source: another content, or other options of providers, have another. */
std::string kept_model_path(const graph::Model& source, const SessionOptions& options);

/** The options with which a session writes that file, in place of one that is there. */
SessionOptions keeping_options(const SessionOptions& options, const std::string& path);

}  // namespace ortolan::runtime
