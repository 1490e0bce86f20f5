// Reads ONNX model files into graphs.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>

#include "graph/graph.h"

namespace ortolan::onnx {
using namespace graph;

/** Bytes that the caller holds for as long as `owner` lives; without an owner, for as long as the model lives. */
struct OwnedBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<void> owner;
};

struct ReadOptions {
  /** The folder of external data; empty: that of the model file. A model from bytes has none of its own. */
  std::string external_folder;
  /** Files of external data in memory, by the location that the model gives. They come before files on disk. */
  std::unordered_map<std::string, OwnedBytes> external_files;
  /** Values for initializers of the main graph, by name; they replace the model's, whose data is then not opened. */
  std::unordered_map<std::string, Tensor> initializers;
  /** The same, but each must be there, with that type and shape. */
  std::unordered_map<std::string, Tensor> external_initializers;
  /** Versions of domains that the model uses but does not import; a model must import one domain at least. */
  std::map<std::string, int> default_opsets{
      {"", 26}, {"ai.onnx.ml", 5}, {"ai.onnx.preview.training", 1}, {"com.microsoft", 1}, {"com.microsoft.nchwc", 1}};
  /** Numbers for dimensions that the model only names, by name (N) and by denotation (DATA_BATCH). */
  std::map<std::string, int64_t> dimensions_by_name;
  std::map<std::string, int64_t> dimensions_by_denotation;
  /** Copy every tensor, so that nothing refers to the bytes or the file afterwards. */
  bool copy_bytes = false;

  int max_subgraph_depth = 32;
  int max_function_depth = 256;
  int64_t max_nodes = 1'000'000;                   // after inlining, subgraphs included
  int64_t max_inlined_bytes = int64_t{256} << 20;  // of the file's functions, each call counted
  int64_t max_tensor_bytes = int64_t{1} << 40;
  int64_t max_expanded_bytes = 1 << 30;  // what sparse initializers may take when made dense, together
};

/** The model_version of a model that states none. */
inline constexpr int64_t kNoModelVersion = INT64_MAX;

/** Reads a model. Initializers are views into the mapped file where it is aligned for them and they are large; the
    mapping lives as long as they do. Functions are inlined, Constant nodes made initializers, graphs sorted; types are
    those that the file states. Throws kNoSuchFile, kInvalidProtobuf for bytes that are no model, kInvalidArgument for
    an empty one, kInvalidGraph for what the format forbids; the text names the file and the node. */
std::unique_ptr<Model> read_model_file(const std::string& path, const ReadOptions& options = {});
/** The same from bytes, to which initializers may refer; see OwnedBytes and copy_bytes. */
std::unique_ptr<Model> read_model_bytes(OwnedBytes bytes, const ReadOptions& options = {});

/** The entries that describe a model, without reading its graph. Errors are those of reading the model. */
using Metadata = std::vector<std::pair<std::string, std::string>>;
Metadata read_metadata_file(const std::string& path);
Metadata read_metadata_bytes(std::span<const std::byte> bytes);

}  // namespace ortolan::onnx
