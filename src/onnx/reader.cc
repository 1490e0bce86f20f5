// ModelProto, from a file or from bytes.
#include "onnx/reader.h"

#include <algorithm>

#include "onnx/graph_reader.h"
#include "onnx/ort_format.h"

namespace ortolan::onnx {
namespace {

constexpr int64_t kNewestIr = 13;
constexpr int64_t kFirstIrWithOpsets = 3;

/** A ModelProto, its large parts still encoded. */
struct ModelParts {
  Bytes graph;
  bool has_graph = false;
  bool has_ir_version = false;
  std::vector<Bytes> opsets;
  std::vector<Bytes> functions;
};

std::pair<std::string, std::string> read_entry(Bytes message) {
  std::pair<std::string, std::string> entry;
  WireReader reader(message, "StringStringEntryProto");
  while (reader.next()) {
    if (reader.number() == 1) entry.first = reader.field().text();
    if (reader.number() == 2) entry.second = reader.field().text();
  }
  return entry;
}

ModelParts split(Bytes bytes, Model& model) {
  ModelParts parts;
  WireReader reader(bytes, "ModelProto");
  while (reader.next()) {
    const Field& field = reader.field();
    switch (field.number()) {
      case 1:
        model.ir_version = field.integer();
        parts.has_ir_version = true;
        break;
      case 2:
        model.producer_name = field.text();
        break;
      case 3:
        model.producer_version = field.text();
        break;
      case 4:
        model.domain = field.text();
        break;
      case 5:
        model.model_version = field.integer();
        break;
      case 6:
        model.doc = field.text();
        break;
      case 7:
        require(!parts.has_graph, ErrorCode::kInvalidProtobuf, "ModelProto: it has two graphs; the file is damaged");
        parts.graph = field.bytes();
        parts.has_graph = true;
        break;
      case 8:
        parts.opsets.push_back(field.bytes());
        break;
      case 14:
        model.metadata.push_back(read_entry(field.bytes()));
        break;
      case 25:
        parts.functions.push_back(field.bytes());
        break;
      default:
        break;
    }
  }
  return parts;
}

bool begins_with(Bytes bytes, std::string_view text) {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

/** Throws for contents that are known to be something else than a model. */
void check_kind(Bytes bytes) {
  require(!bytes.empty(), ErrorCode::kInvalidArgument, "the model is empty: it has no bytes");
  require(!begins_with(bytes, "version https://git-lfs"), ErrorCode::kInvalidProtobuf,
          "this is a Git LFS pointer, not the model; fetch it with 'git lfs pull'");
  require(!begins_with(bytes, "ortolan prepared"), ErrorCode::kInvalidArgument,
          "this is a prepared model, of which only a session can be made, and only from its file");
}

/** Models of every version up to the newest are read, also of 0 and less, which some writers leave. */
void read_versions(const ModelParts& parts, const ReadOptions& options, Model& model) {
  require(parts.has_ir_version, ErrorCode::kInvalidProtobuf,
          "ModelProto: it has no ir_version; the file is damaged or no ONNX model");
  require(model.ir_version <= kNewestIr, ErrorCode::kInvalidGraph, "its ir_version ", model.ir_version,
          " is newer than ", kNewestIr, ", the newest known here; export the model with an older version of ONNX");
  Opsets& opsets = model.context->opsets;
  for (Bytes import : parts.opsets) read_opset_import(import, opsets);
  if (opsets.empty() && model.ir_version < kFirstIrWithOpsets) opsets[""] = 1;
  require(!opsets.empty(), ErrorCode::kInvalidGraph,
          "it imports no operator set; add an opset_import, such as {domain: \"\", version: 17}");
  auto default_domain = options.default_opsets.find("");
  if (default_domain != options.default_opsets.end()) opsets.insert(*default_domain);
}

/** Empty for a model from bytes, whose path is. */
std::string folder_of(const std::string& path) {
  if (path.empty()) return "";
  size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

std::unique_ptr<Model> read_message(const Blob& blob, const std::string& path, const ReadOptions& options) {
  auto model = std::make_unique<Model>();
  model->model_version = kNoModelVersion;
  ModelParts parts = split(blob.bytes, *model);
  require(parts.has_graph, ErrorCode::kInvalidArgument, "the model is empty: it has no graph");
  read_versions(parts, options, *model);
  ExternalFiles files(options, options.external_folder.empty() ? folder_of(path) : options.external_folder, path);
  TensorReader tensors(options, blob, files);
  GraphReader graphs(options, tensors, *model);
  for (Bytes function : parts.functions) graphs.add_function(function);
  graphs.read_main(parts.graph);
  for (const auto& [name, external] : files.opened()) {
    if (external.file) model->files.push_back(external.file);
  }
  return model;
}

std::unique_ptr<Model> read_blob(const Blob& blob, const std::string& path, const ReadOptions& options) {
  check_kind(blob.bytes);
  if (!is_ort_format(blob.bytes)) return read_message(blob, path, options);
  auto message = std::make_shared<std::string>(model_of_ort_format(blob.bytes));
  return read_message({std::as_bytes(std::span(*message)), message, nullptr, options.copy_bytes}, path, options);
}

}  // namespace

std::unique_ptr<Model> read_model_file(const std::string& path, const ReadOptions& options) {
  try {
    require(!path.empty(), ErrorCode::kInvalidArgument, "the path is empty");
    auto file = MappedFile::open(path);
    auto model = read_blob(blob_of(file, options.copy_bytes), path, options);
    model->files.push_back(std::move(file));
    model->path = path;
    return model;
  } catch (const Error& error) {
    throw error.within(join("cannot load model '", path, "'"));
  }
}

std::unique_ptr<Model> read_model_bytes(OwnedBytes bytes, const ReadOptions& options) {
  try {
    return read_blob({bytes.bytes, bytes.owner, nullptr, options.copy_bytes}, "", options);
  } catch (const Error& error) {
    throw error.within("cannot load model from bytes");
  }
}

Metadata read_metadata_bytes(Bytes bytes) {
  try {
    check_kind(bytes);
    Model model;
    std::string message = is_ort_format(bytes) ? model_of_ort_format(bytes) : std::string{};
    split(message.empty() ? bytes : std::as_bytes(std::span(message)), model);
    return std::move(model.metadata);
  } catch (const Error& error) {
    throw error.within("cannot read the model's metadata");
  }
}

Metadata read_metadata_file(const std::string& path) {
  try {
    return read_metadata_bytes(MappedFile::open(path)->bytes());
  } catch (const Error& error) {
    throw error.within(join("model '", path, "'"));
  }
}

}  // namespace ortolan::onnx
