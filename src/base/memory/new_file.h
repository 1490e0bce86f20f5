// A file that is there whole or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ortolan::base {

/** Is written under another name beside its place, and takes its name only by commit(); otherwise it vanishes. Errors
    are kFail and name the file. */
class NewFile {
 public:
  explicit NewFile(std::string path);
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile();
  /** What is never written between written bytes is 0. */
  void write(std::span<const std::byte> bytes, uint64_t offset);
  /** Replaces a file of that name. */
  void commit();

 private:
  std::string path_;
  std::string draft_;
  int fd_;
};

}  // namespace ortolan::base
