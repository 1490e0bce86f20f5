// Opens the files that hold tensors outside the model file, and only files beneath the model's folder: of its path, or
// of the file that its path leads to. A link is followed at the end of a location where its target lies beneath one of
// the two, as in the caches of model hubs.
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

/** Throws kInvalidGraph unless `name` may be opened in `folder` for the model at `model_path` (may be empty) by the
   rule above; a file need not be there. With an empty folder only the text is looked at. `what` begins the error's
   text. */
void check_beneath(const std::string& folder, const std::string& model_path, const std::string& name,
                   std::string_view what);

class ExternalFiles {
 public:
  /** `folder` may be empty: then only the options' files in memory exist. `model_path` is empty for bytes. */
  ExternalFiles(const ReadOptions& options, std::string folder, const std::string& model_path);

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
  std::string model_folder_;  // of the model file itself, without links; empty where there is none
  std::map<std::string, Blob> open_;
};

}  // namespace ortolan::onnx
