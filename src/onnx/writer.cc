// Model files: written beside their final place, then moved there.
#include "onnx/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "onnx/message_writer.h"

namespace ortolan::onnx {
namespace {

/** A file that takes its name only by commit(); otherwise it vanishes. */
class NewFile {
 public:
  explicit NewFile(std::string path) : path_(std::move(path)), draft_(join(path_, ".", getpid(), ".part")) {
    fd_ = ::open(draft_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    require(fd_ >= 0, ErrorCode::kFail, "cannot create '", draft_, "': ", std::strerror(errno));
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(draft_.c_str());
  }
  void write(Bytes bytes, uint64_t offset) {
    while (!bytes.empty()) {
      ssize_t put = pwrite(fd_, bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (put < 0 && errno == EINTR) continue;
      require(put > 0, ErrorCode::kFail, "cannot write '", draft_, "': ", std::strerror(errno));
      bytes = bytes.subspan(static_cast<size_t>(put));
      offset += static_cast<uint64_t>(put);
    }
  }
  void commit() {
    int closed = ::close(fd_);
    fd_ = -1;
    if (closed == 0 && std::rename(draft_.c_str(), path_.c_str()) == 0) return;
    std::string reason = std::strerror(errno);
    ::unlink(draft_.c_str());
    fail(ErrorCode::kFail, "cannot write '", path_, "': ", reason);
  }

 private:
  std::string path_;
  std::string draft_;
  int fd_;
};

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
