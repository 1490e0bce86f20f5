// Writes graphs as ONNX models.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/function_ref.h"
#include "graph/graph.h"
#include "tensor/external_place.h"

namespace ortolan::onnx {
using namespace graph;

/** Where the elements of an initializer lie outside the model; nothing: they stand in it. */
using PlaceInitializer = base::FunctionRef<std::optional<ExternalPlace>(std::string_view name, const Tensor& value)>;

struct WriteOptions {
  /** The name of a file beside the model for the data of large initializers; empty: all are in the model. */
  std::string external_file;
  /** Initializers of at least so many bytes go there. */
  size_t external_threshold = 1024;
  /** Asked for every initializer instead; the bytes are then its to write. May be NULL. */
  const PlaceInitializer* place = nullptr;
  /** Nodes that stand in the place of a node; their values are those of the same names around it. Initializers that
      only the node itself uses are left out. May be NULL. */
  const std::unordered_map<const Node*, const Graph*>* replacements = nullptr;
  /** Metadata beside the model's own; entries of the same key come in its place. */
  std::vector<std::pair<std::string, std::string>> metadata;
};

/** The model as the bytes of a ModelProto, whose initializers are in it. Throws kNotImplemented for what the format
    cannot say: a node of another operator set version than its domain's import (from a function). */
std::string write_model_bytes(const Model& model);
/** The same in pieces, each with the size of the whole. The external file, if any, goes to `folder`. */
using WritePiece = base::FunctionRef<void(std::span<const std::byte> piece, uint64_t total)>;
void write_model(const Model& model, const WriteOptions& options, const std::string& folder, WritePiece write);
/** The same to a file, which is replaced only once all is written: it may be the one the model was read from. */
void write_model_file(const Model& model, const std::string& path, const WriteOptions& options = {});

}  // namespace ortolan::onnx
