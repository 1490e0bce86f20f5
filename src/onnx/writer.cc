// Model files: written beside their final place, then moved there.
#include "onnx/writer.h"

#include "base/memory/new_file.h"
#include "onnx/message_writer.h"

namespace ortolan::onnx {
namespace {

void check_external_name(const std::string& name) {
  require(name.find('/') == std::string::npos && name != "." && name != "..", ErrorCode::kInvalidArgument,
          "external data file '", name, "' must be a plain name, not a path; it lies beside the model");
}

/** `folder` ends with a slash, or is empty for the present one. */
void write_external(const MessageWriter& writer, const std::string& folder, const std::string& name) {
  if (writer.external_parts().empty()) return;
  NewFile data(folder + name);
  for (const ExternalPart& part : writer.external_parts()) data.write(part.bytes, part.offset);
  data.commit();
}

}  // namespace

std::string write_model_bytes(const Model& model) {
  std::string bytes;
  write_model(model, {}, "", [&](Bytes piece, uint64_t total) {
    bytes.reserve(total);
    bytes.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  });
  return bytes;
}

void write_model(const Model& model, const WriteOptions& options, const std::string& folder, WritePiece write) {
  check_external_name(options.external_file);
  MessageWriter writer(model, options);
  WireWriter message = writer.model();
  write_external(writer, folder, options.external_file);
  for (Bytes piece : message.pieces()) write(piece, message.size());
}

void write_model_file(const Model& model, const std::string& path, const WriteOptions& options) {
  try {
    NewFile file(path);
    uint64_t offset = 0;
    write_model(model, options, path.substr(0, path.rfind('/') + 1), [&](Bytes piece, uint64_t) {
      file.write(piece, offset);
      offset += piece.size();
    });
    file.commit();
  } catch (const Error& error) {
    throw error.within(join("cannot save model '", path, "'"));
  }
}

}  // namespace ortolan::onnx
