// Opens the files that hold tensors outside the model file, and only files beneath the model's folder.
#pragma once

#include <map>
#include <string>

#include "onnx/blob.h"
#include "onnx/reader.h"

namespace ortolan::onnx {

/** Where a tensor's data lies, as its external_data entries say. */
struct ExternalLocation {
  std::string file;
  uint64_t offset = 0;
  int64_t length = -1;  // -1: not said
};

/** Throws kInvalidGraph unless `name` is a way within `folder` that follows no symbolic link; a file need not be there.
    With an empty folder only the text is looked at. `what` begins the error's text. */
void check_beneath(const std::string& folder, const std::string& name, std::string_view what);

class ExternalFiles {
 public:
  /** `folder` may be empty: then only the options' files in memory exist. */
  ExternalFiles(const ReadOptions& options, std::string folder) : options_(options), folder_(std::move(folder)) {}

  /** Reads one StringStringEntryProto into `location`. Keys that are not known mean nothing here. */
  static void read_entry(Bytes entry, ExternalLocation& location);
  /** The file and the tensor's `size` bytes in it; throws when the location is not allowed or has other bytes. */
  std::pair<const Blob*, Bytes> find(const ExternalLocation& location, size_t size);

  /** The files opened so far, by location. */
  const std::map<std::string, Blob>& opened() const { return open_; }

 private:
  const Blob& open(const std::string& name);

  const ReadOptions& options_;
  std::string folder_;
  std::map<std::string, Blob> open_;
};

}  // namespace ortolan::onnx
